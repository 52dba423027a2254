//! The guard against regressions: instructions for one operation, and wall time.
//!
//! `instructions` counts with callgrind and compares with `bench/baseline.json`, which is
//! part of the repository: it may fail a build. `wall` times the same operations and
//! compares with earlier results of this machine. It only reports, because two shared processors
//! are too noisy for verdicts.

mod callgrind;
mod client;
mod cost;
mod instructions;
mod operation;
mod pirn;
mod wall;

pub use cost::{Cost, costs};
pub use instructions::{Verdict, bless, check};
pub use operation::{Operation, find, operations};
pub use wall::{WallLine, inject, wall};
