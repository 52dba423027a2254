//! The floors: the present cost of unavoidable steps on this machine.
//!
//! Hosts differ twofold and drift by the hour, so every run of `compare` measures them
//! again, once in each repetition, in a child process like any peer's case.

mod compute;
mod run;
mod wakes;

pub use run::{FLOORS, Floor, run};
