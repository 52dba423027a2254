//! The view of the workers without asking them.
//!
//! Owns: one reading of the atomics that each worker keeps for others. Does not own: the answers of
//! workers (`snapshot`), which wake them: so a glance comes first, and shows which workers
//! slept.

use crate::report::fiber_info::FiberInfo;
use crate::sched::pool::remote::Remote;
use crate::sched::pool::shared::Pool;
use crate::sched::pool::view::Rest;

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

/// Returns a glance at each worker, in the order of their numbers.
pub(crate) fn glance(pool: &Pool) -> Vec<WorkerGlance> {
    let look = |(worker, remote)| look(worker, remote);
    pool.remotes().enumerate().map(look).collect()
}

fn look(worker: usize, remote: &Remote) -> WorkerGlance {
    let there = remote.has_thread();
    let thread = match remote.rest() {
        _ if !there => ThreadState::Gone,
        Rest::Asleep => ThreadState::Asleep,
        Rest::Timed => ThreadState::Timed,
        Rest::Awake => ThreadState::Awake,
    };
    let started = remote.settled();
    // Where fibers may migrate, it may be one that has started elsewhere.
    let has_some = started > 0 || remote.is_free();
    let running = thread == ThreadState::Awake && has_some;
    WorkerGlance {
        worker,
        thread,
        member: remote.is_member(),
        running: running.then(|| remote.describe_running(worker)).flatten(),
        started,
        fresh: remote.fresh(),
    }
}
