//! The view of the workers without asking them.
//!
//! Owns: one reading of the atomics that each worker keeps for others. Does not own: the answers of
//! workers (`report::snapshot`), which wake them: so a glance comes first, and shows which workers
//! slept.

use std::sync::Arc;

use crate::report::fiber_info::FiberInfo;
use crate::sched::pool::remote::{ASLEEP, Remote, TIMED};
use crate::sched::pool::shared::Pool;
use crate::shim::atomic::Ordering;

/// The state of one worker.
#[derive(Debug)]
pub(crate) struct WorkerGlance {
    pub(crate) worker: usize,
    pub(crate) thread: ThreadState,
    /// It counts towards the size that the pool is meant to have.
    pub(crate) member: bool,
    /// The fiber that it runs.
    pub(crate) running: Option<FiberInfo>,
    /// Started fibers that have not ended.
    pub(crate) started: usize,
    /// Fibers in its ring, which have not started.
    pub(crate) fresh: usize,
}

/// Whether a worker is awake.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum ThreadState {
    /// It has no thread.
    Gone,
    /// It runs a fiber, or looks for one.
    Awake,
    /// It sleeps until it is woken.
    Asleep,
    /// It sleeps until some deadline.
    Timed,
}

impl Pool {
    /// Returns a glance at each worker, in the order of their numbers.
    pub(crate) fn glance(self: &Arc<Self>) -> Vec<WorkerGlance> {
        let look = |(worker, remote)| look(worker, remote);
        self.remotes.iter().enumerate().map(look).collect()
    }
}

fn look(worker: usize, remote: &Remote) -> WorkerGlance {
    let there = remote.thread.is_there();
    let thread = match remote.sleep.load(Ordering::Acquire) {
        _ if !there => ThreadState::Gone,
        ASLEEP => ThreadState::Asleep,
        TIMED => ThreadState::Timed,
        _ => ThreadState::Awake,
    };
    let started = remote.settled.get();
    // Where fibers may migrate, it may be one that has started elsewhere.
    let has_some = started > 0 || remote.shared_queues.is_some();
    let running = thread == ThreadState::Awake && has_some;
    WorkerGlance {
        worker,
        thread,
        member: remote.thread.is_member(),
        running: running.then(|| remote.describe_running(worker)).flatten(),
        started,
        fresh: remote.ring.len() as usize + usize::from(!remote.next.is_empty()),
    }
}
