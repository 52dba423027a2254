//! The cases of `case::fork`, in which work is divided by joins of two closures.
//!
//! Each workload is written once, in `work`, over a `Library` with its join: only the library
//! differs. If a library passes a value from join to join, that is its `Scope`; the others pass
//! nothing. Every answer is checked: a wrong one ends the child with a panic.

mod chili;
mod late;
mod library;
mod list;
mod pirn;
mod rayon;
mod run;
pub(super) mod serial;
mod timing;
mod work;

pub(super) use list::{LIBRARIES, SCOPE, SERIAL};
pub(super) use pirn::{Free, Scoped};
pub(super) use run::run;
