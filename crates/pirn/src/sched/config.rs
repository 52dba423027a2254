//! What a pool is made of: plain values, checked by whoever makes one (`runtime::builder`,
//! `dispatcher`).

use std::sync::Arc;
use std::time::Duration;

use super::events::Watch;
use super::pool::Pool;
use crate::context::StackConfig;

/// Which scheduler a runtime uses.
#[derive(Debug, Copy, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Scheduler {
    /// Per-worker queues and work stealing.
    #[default]
    WorkStealing,
    /// One locked queue for fibers that have not started: the baseline that work stealing
    /// has to beat, and an oracle for tests.
    SingleQueue,
}

/// A callback of the user's, run on worker threads.
pub(crate) type Hook = Arc<dyn Fn() + Send + Sync>;

/// What a pool is made of; all values are valid.
pub(crate) struct Config {
    pub(crate) name: String,
    pub(crate) workers: usize,
    pub(crate) scheduler: Scheduler,
    pub(crate) stacks: StackConfig,
    /// Makes the pool deterministic; it has one worker then.
    pub(crate) seed: Option<u64>,
    /// A worker starts no fiber while it has one that has started. With
    /// [`Scheduler::SingleQueue`] only.
    pub(crate) exclusive: bool,
    /// How long a worker's thread stays without fibers; for ever, if nothing is said.
    pub(crate) keep: Option<Duration>,
    pub(crate) on_thread_start: Option<Hook>,
    pub(crate) on_thread_stop: Option<Hook>,
    pub(crate) watch: Watch,
    /// Called when the pool has ended, or the process ends before it.
    pub(crate) at_end: Option<AtEnd>,
}

/// What is to be said of a pool at its end.
pub(crate) type AtEnd = Box<dyn Fn(&Pool) + Send + Sync>;
