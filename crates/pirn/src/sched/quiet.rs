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
use crate::fiber::waiter::WaitQueue;
use crate::shim::Lock;
use crate::shim::atomic::{AtomicUsize, Ordering};
use crate::wait::{Attempt, How, Spec, Waited, wait_in};

/// Those who wait until a pool has no fibers.
pub(super) struct Quiet {
    watching: AtomicUsize,
    /// Fibers of the pool that wait here themselves, and so do not count as alive.
    waiters: Lock<Waiters>,
}

struct Waiters {
    own: u64,
    queue: WaitQueue<()>,
}

impl Quiet {
    pub(super) fn new() -> Quiet {
        Quiet {
            watching: AtomicUsize::new(0),
            waiters: Lock::new(Waiters { own: 0, queue: WaitQueue::new() }),
        }
    }

    #[inline(always)]
    pub(super) fn is_watched(&self) -> bool {
        self.watching.load(Ordering::Relaxed) != 0
    }

    /// Wakes the waiters if nothing but they are left.
    #[cold]
    pub(super) fn check(&self, pool: &Pool) {
        loop {
            let mut waiters = self.waiters.lock();
            if live(pool) > waiters.own {
                return;
            }
            let wake = waiters.queue.claim_first(|()| {});
            drop(waiters);
            match wake {
                Some(wake) => wake.enqueue(),
                None => return,
            }
        }
    }

    /// Waits until no fiber of `pool` is alive but those that wait here.
    pub(super) fn wait(&self, pool: &Pool, own: bool, deadline: Option<Instant>, spec: Spec) -> How {
        self.watching.fetch_add(1, Ordering::SeqCst);
        let own = u64::from(own);
        let waited = wait_in(
            &self.waiters,
            |waiters| &mut waiters.queue,
            &spec.until(deadline),
            |waiters| {
                waiters.own += own;
                if live(pool) <= waiters.own { Attempt::Done(()) } else { Attempt::Wait(()) }
            },
        );
        self.waiters.lock().own -= own;
        self.watching.fetch_sub(1, Ordering::SeqCst);
        match waited {
            Waited::Done(()) => How::Woken(crate::fiber::state::Code::case(0)),
            Waited::Ended(how, ()) => how,
        }
    }
}

/// How many fibers of `pool` are alive; never too few, and exact when nothing happens.
pub(super) fn live(pool: &Pool) -> u64 {
    let ended = pool.remotes.iter().map(|remote| remote.counters.completed.get()).sum::<u64>()
        + pool.refused.get();
    let spawned = pool.remotes.iter().map(|remote| remote.counters.spawned.get()).sum::<u64>()
        + pool.outside.get();
    spawned - ended
}
