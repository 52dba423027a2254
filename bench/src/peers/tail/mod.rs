//! The cases of `case::Tail`: tasks that settle before the work comes, and waits beside tasks
//! that hold a worker.
//!
//! Each program is written once over a `Library`, and again for Go in `bench/go/tail.go`.
//! `programs` has those that are measured by their whole time, `late` and `delays` those that are
//! measured by single delays. A missing or duplicated result ends the child with a panic.

mod delays;
mod late;
mod library;
mod programs;
mod run;

pub(super) use library::Library;
pub(super) use run::run;
