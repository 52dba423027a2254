//! The measurements: the cases, their rows, and the bounds.
//!
//! This module runs nothing. `cases.txt` is the one list that the harness, the report and the
//! command line read; a new case starts there. `rows.txt` has the rows of the report. `kind`
//! explains the kinds of work.

mod job;
mod kind;
mod row;
mod table;

pub use job::Job;
pub use kind::{Fork, Hog, Kind, Net, Order, Place, Shape, Tail, Talk};
pub use row::{Bound, Of, Row};
pub use table::{Case, find, table};
