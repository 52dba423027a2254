//! The guard against regressions: instructions for one operation, and wall time.
//!
//! `instructions` counts with callgrind and compares with `bench/baseline.json`, which is
//! part of the repository: it may fail a build. `wall` times the same operations and
//! compares with earlier results of this machine. It only reports, because two shared processors
//! are too noisy for verdicts.

mod baseline;
mod callgrind;
mod client;
mod control;
mod cost;
mod instructions;
mod operation;
mod pirn;
mod side_by_side;
mod wall;

pub use callgrind::instructions_of;
pub use cost::{Cost, costs};
pub use instructions::{Verdict, bless, check};
pub use operation::{Operation, find, operations};
use side_by_side::side_by_side;
pub use wall::{WallLine, inject, wall};
