//! The floors: what this machine charges today for the steps that nothing can avoid.
//!
//! Hosts differ twofold and drift by the hour, so every run of `compare` measures them
//! again, once in each repetition, in a child process as any peer's case.

mod compute;
mod run;
mod wakes;

pub use run::{FLOORS, Floor, run};
