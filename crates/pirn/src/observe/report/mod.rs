//! Snapshots of fibers and workers.

mod answer;
#[expect(unsafe_code, reason = "describes the worker's own fibers")]
mod describe;
mod link_walk;
mod question;
mod snapshot;
#[expect(unsafe_code, reason = "reads the headers of fibers that it holds")]
mod survey;
mod walk;
mod worker_info;

pub(super) use link_walk::LinkWalk;
pub(crate) use question::{Question, WorkerInfo};
pub(super) use snapshot::Snapshots;
pub(crate) use snapshot::begin_walk;
pub(super) use walk::all_fibers;
pub(crate) use walk::{LeftOut, Walked, describe_all, walk};
pub(crate) use worker_info::{ThreadState, WorkerGlance, glance};

#[cfg(all(test, not(pirn_modelled)))]
mod tests;
