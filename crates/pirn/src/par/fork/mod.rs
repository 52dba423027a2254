//! Joins: the list that a join pushes to, its halves, and the job that is its second half.

mod halves;
mod task;

pub(super) use halves::{List, join_here};
