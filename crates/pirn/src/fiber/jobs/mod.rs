//! Pending jobs: second halves of `par::join` that are not fibers yet.

mod beat_word;
#[expect(unsafe_code, reason = "jobs lie in the frames of their joins")]
mod list;
#[expect(unsafe_code, reason = "brings jobs back to the list that they were in")]
mod promote_all;

pub(crate) use beat_word::Beat;
pub(crate) use list::{Job, Jobs};
pub(crate) use promote_all::{promote_all, with_jobs_along};
