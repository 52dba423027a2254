//! The cases of `case::Fork`, in which work is divided by joins of two closures.
//!
//! Each workload is written once, in `work`, over a `Library` with its join: only the library
//! differs. If a library passes a value from join to join, that is its `Scope`; the others pass
//! nothing. Every answer is checked: a wrong one ends the child with a panic.

mod libraries;
mod library;
mod run;
mod timing;
mod work;

pub(super) use libraries::{Free, Scoped};
pub(super) use run::{run, run_serial};
