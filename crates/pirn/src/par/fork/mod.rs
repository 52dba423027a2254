//! Joins: the list that a join pushes to, its steps, and the job, its second half.

mod halves;
mod task;

pub(super) use halves::{List, join_here};
