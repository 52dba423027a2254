//! Quiescence: telling that no fiber is left, without a counter that all workers write.
//!
//! Each worker counts what it spawned and what it ended; [`live`] adds up all that ended
//! *before* all that was spawned. Both only grow, and a fiber is counted as spawned before
//! it can end, so equal sums mean that at some moment between the two readings nothing was
//! alive (that was not about to be spawned from outside).
//!
//! LIVENESS: a waiter says that it watches (a `SeqCst` count) and then adds up. A worker that
//! ends a fiber looks at that count afterwards; the look may be too early to see it, but
//! before the worker sleeps it goes through the fence of its announcement and looks again.

use std::time::Instant;

use super::pool::Pool;
use crate::fiber::state::Code;
use crate::fiber::waiter::WaitQueue;
use crate::shim::Lock;
use crate::shim::atomic::{AtomicUsize, Ordering};
use crate::wait::{Attempt, How, Spec, Waited, wait_in};

/// Those who wait until a pool has no fibers.
pub(super) struct Quiet {
    watching: AtomicUsize,
    waiters: Lock<Waiters>,
}

struct Waiters {
    /// Waiting fibers of the pool itself: for one another they do not count as alive.
    inside: u64,
    inside_queue: WaitQueue<()>,
    /// Those who wait for the very last fiber.
    outside_queue: WaitQueue<()>,
}

impl Quiet {
    pub(super) fn new() -> Quiet {
        let waiters = Waiters {
            inside: 0,
            inside_queue: WaitQueue::new(),
            outside_queue: WaitQueue::new(),
        };
        Quiet {
            watching: AtomicUsize::new(0),
            waiters: Lock::new(waiters),
        }
    }

    #[inline(always)]
    pub(super) fn is_watched(&self) -> bool {
        self.watching.load(Ordering::Relaxed) != 0
    }

    /// Wakes those who wait for what has come true.
    #[cold]
    pub(super) fn check(&self, pool: &Pool) {
        loop {
            let mut waiters = self.waiters.lock();
            let live = live(pool);
            let mut wake = None;
            if live == 0 {
                wake = waiters.outside_queue.claim_first(|()| {});
            }
            if wake.is_none() && live <= waiters.inside {
                wake = waiters.inside_queue.claim_first(|()| {});
            }
            drop(waiters);
            match wake {
                Some(wake) => wake.enqueue(),
                None => return,
            }
        }
    }

    /// Waits until no fiber of `pool` is alive. A fiber of the pool (`inside`) does not wait
    /// for itself, nor for others that wait here.
    pub(super) fn wait(
        &self,
        pool: &Pool,
        inside: bool,
        deadline: Option<Instant>,
        spec: Spec,
    ) -> How {
        self.watching.fetch_add(1, Ordering::SeqCst);
        let spec = spec.until(deadline);
        let attempt = |waiters: &mut Waiters| {
            waiters.inside += u64::from(inside);
            let others = if inside { waiters.inside } else { 0 };
            if live(pool) <= others {
                Attempt::Done(())
            } else {
                Attempt::Wait(())
            }
        };
        let waited = if inside {
            wait_in(
                &self.waiters,
                |waiters| &mut waiters.inside_queue,
                &spec,
                attempt,
            )
        } else {
            wait_in(
                &self.waiters,
                |waiters| &mut waiters.outside_queue,
                &spec,
                attempt,
            )
        };
        self.waiters.lock().inside -= u64::from(inside);
        self.watching.fetch_sub(1, Ordering::SeqCst);
        match waited {
            Waited::Done(()) => How::Woken(Code::case(0)),
            Waited::Ended(how, ()) => how,
        }
    }
}

/// How many fibers of `pool` are alive; never too few, and exact when nothing happens.
pub(super) fn live(pool: &Pool) -> u64 {
    let ended = pool
        .remotes
        .iter()
        .map(|remote| remote.counters.completed.get())
        .sum::<u64>()
        + pool.refused.get();
    let spawned = pool
        .remotes
        .iter()
        .map(|remote| remote.counters.spawned.get())
        .sum::<u64>()
        + pool.outside.get();
    spawned - ended
}
