//! Joins: the list that a join pushes to, its steps, and the job that is its second half.

mod steps;
mod task;

pub(super) use steps::{List, join_here};
