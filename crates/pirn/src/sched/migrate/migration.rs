//! Whether the fibers of a worker may migrate, and the queues that it shares if so.
//!
//! Where fibers settle, a query finds nothing and a command does nothing. So a caller distinguishes
//! only if the worker has a queue of its own for that case.

use std::ptr;

use crate::base::clock;
use crate::fiber::FiberPtr;
use crate::sched::migrate::shared_queues::{SharedQueues, enqueue};

/// The queues that a worker shares; none where its fibers stay on it.
#[derive(Copy, Clone)]
pub(in crate::sched) struct Migration(Option<&'static SharedQueues>);

impl Migration {
    /// `free`: fibers may migrate.
    pub(in crate::sched) fn new(free: bool) -> Migration {
        Migration(free.then(|| SharedQueues::acquire(clock::now())))
    }

    /// Returns the queues to the unused ones. The worker has no fiber any more.
    pub(in crate::sched) fn release(self) {
        if let Some(queues) = self.0 {
            queues.release();
        }
    }

    /// True if fibers may migrate.
    #[inline(always)]
    pub(in crate::sched) fn is_on(self) -> bool {
        self.0.is_some()
    }

    #[inline(always)]
    pub(in crate::sched) fn queues(self) -> Option<&'static SharedQueues> {
        self.0
    }

    /// The number of started fibers that are ready here and that any worker may take.
    #[inline(always)]
    pub(in crate::sched) fn ready(self) -> usize {
        self.0.map_or(0, SharedQueues::len)
    }

    /// Returns how many ready fibers have been taken so far, and how many there are.
    pub(in crate::sched) fn look(self) -> (u32, usize) {
        self.0.map_or((0, 0), SharedQueues::look)
    }

    /// Pops the oldest ready fiber.
    #[inline(never)]
    pub(in crate::sched) fn pop(self) -> Option<FiberPtr> {
        self.0?.pop()
    }

    /// Returns when the next shared timer is due, as the wheel counts it.
    #[inline]
    pub(in crate::sched) fn next_timer(self) -> Option<u64> {
        self.0?.next_timer()
    }

    /// Wakes the fibers with shared timers due by `now`. Any thread.
    #[inline(never)]
    pub(in crate::sched) fn fire_timers(self, now: u64) {
        if let Some(queues) = self.0
            && queues.next_timer().is_some_and(|next| next <= now)
        {
            enqueue(queues.fire(now));
        }
    }

    /// True if a fiber that has started here lives, and may be elsewhere by now.
    pub(in crate::sched) fn has_started(self) -> bool {
        self.0.is_some_and(SharedQueues::has_started)
    }

    /// Cancels each fiber that has started here.
    pub(in crate::sched) fn cancel_started(self) {
        if let Some(queues) = self.0 {
            queues.cancel_started();
        }
    }

    /// Calls `f` for each fiber that has started here, under the lock (CM1 of `shared_queues`).
    pub(in crate::sched) fn each_started(self, f: impl FnMut(FiberPtr)) {
        if let Some(queues) = self.0 {
            queues.each_started(f);
        }
    }

    /// Calls `f` for the first `n` fibers that have started here, under the lock, and moves them to
    /// the end. Returns how many there were.
    pub(in crate::sched) fn rotate_started(
        self,
        n: usize,
        f: impl FnMut(FiberPtr),
    ) -> usize {
        self.0.map_or(0, |queues| queues.rotate_started(n, f))
    }

    /// True if the home of `fiber`, which has started here, is this worker: the fiber is not
    /// pinned.
    pub(in crate::sched) fn is_home_of(self, fiber: FiberPtr) -> bool {
        let home = fiber.header().home();
        self.0.is_some_and(|queues| ptr::addr_eq(home, queues))
    }
}
