//! The cases of `case::tail`: tasks that settle before the work comes, and waits beside tasks
//! that hold a worker.
//!
//! Each program is written once over a `Library`, and again for Go in `bench/go/tail.go`.
//! `programs` has those that are measured by their whole time, `late`, `fresh` and `message` those
//! that are measured by single delays. A missing or duplicated result ends the child with a panic.

mod fresh;
mod late;
mod library;
mod list;
mod may;
mod message;
mod pirn;
mod programs;
mod run;
mod threads;
mod tokio;

pub(super) use list::{ALONE, PEERS};
pub(crate) use list::{ASIDE, EIGHT, FREE};
pub(super) use may::May;
pub(super) use pirn::Pirn;
pub(super) use run::{only, run};
pub(super) use threads::Threads;
pub(super) use tokio::Tokio;
