//! The permits of a semaphore and the queue of waiters: the part that models check.
//!
//! Permits are granted strictly in order of arrival. The first waiter waits until there are enough
//! for it, and neither a later waiter nor a newcomer takes the permits that it accumulates. So many
//! small requests do not starve a large one.
//!
//! # Invariants
//! * PM1. `total` is the number of permits that exist, `free` the number of those that are not
//!   taken. `free <= total <= MOST`.
//! * PM2. A newcomer takes permits without waiting only if the queue is empty.
//! * PM3. Once `closed`, no waiter joins the queue, and no waiter in it is granted permits.
//!
//! LIVENESS: the first waiter is granted its permits if there are enough. Only three events can
//! make that possible: permits are released, the previous first waiter is served, or it gives up.
//! After each of them the party that caused it calls `next` until no waiter can be served.

use crate::base::mutant::mutant;
use crate::fiber::ticket::Wake;
use crate::fiber::waiter::WaitQueue;
use crate::shim::Lock;
use crate::wait::object::{Describe, ObjectKind};
use crate::wait::{Attempt, How, Spec, Waited, wait_in, wake_all};

/// Permits, and the waiters for them.
pub(super) struct Permits {
    free: usize,
    total: usize,
    closed: bool,
    queue: WaitQueue<Ask>,
}

/// The record that a waiter shares with the party that serves it.
struct Ask {
    /// Set by the waiter.
    want: usize,
    /// Set by the party that ends the wait: no more permits will be granted.
    refused: bool,
}

/// Why permits were not taken.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(super) enum Denied {
    /// The semaphore is closed.
    Closed,
    /// The wait ended in another way: `TimedOut` or `Interrupted`.
    Ended(How),
}

impl Permits {
    /// Returns `n` permits, which must be at most [`MOST`].
    pub(super) const fn new(n: usize) -> Self {
        Permits {
            free: n,
            total: n,
            closed: false,
            queue: WaitQueue::new(),
        }
    }

    pub(super) fn free(&self) -> usize {
        self.free
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Takes `want` permits if that is possible without waiting; returns true if so.
    #[inline]
    pub(super) fn try_take(&mut self, want: usize) -> bool {
        let there = !self.closed && self.queue.is_empty() && want <= self.free;
        self.free -= if there { want } else { 0 };
        there
    }

    /// Takes `want` permits, waiting as `spec` says.
    ///
    /// # Errors
    /// That the permits are closed, or how else the wait ended.
    #[inline]
    #[track_caller]
    pub(super) fn take(
        permits: &Lock<Self>,
        want: usize,
        spec: &Spec,
    ) -> Result<(), Denied> {
        let arrived = |permits: &mut Self| {
            if permits.try_take(want) {
                Attempt::Done(Ok(()))
            } else if permits.closed {
                Attempt::Done(Err(Denied::Closed))
            } else {
                let refused = false;
                Attempt::Wait(Ask { want, refused })
            }
        };
        match wait_in(permits, |permits| &mut permits.queue, spec, arrived) {
            Waited::Done(result) => result,
            Waited::Ended(How::Woken(_), ask) if ask.refused => Err(Denied::Closed),
            Waited::Ended(How::Woken(_), _) => Ok(()),
            Waited::Ended(how, _) => {
                // There may be enough permits for later waiters.
                if !mutant!("semaphore_leaver_wakes_none") {
                    wake_all(permits, Permits::next);
                }
                Err(Denied::Ended(how))
            }
        }
    }

    /// Returns `n` permits to the semaphore. Never suspends.
    #[inline]
    pub(super) fn give(permits: &Lock<Self>, n: usize) {
        let mut state = permits.lock();
        state.free += n;
        let wake = state.next();
        drop(state);
        if let Some(wake) = wake {
            wake.enqueue();
            wake_all(permits, Permits::next);
        }
    }

    /// Adds `n` permits. If there would be more than [`MOST`], returns false and changes nothing.
    pub(super) fn add(permits: &Lock<Self>, n: usize) -> bool {
        let mut state = permits.lock();
        let fits = n <= MOST - state.total;
        state.total += if fits { n } else { 0 };
        drop(state);
        if fits {
            Self::give(permits, n);
        }
        fits
    }

    /// Removes `n` permits, which the caller has taken.
    pub(super) fn forget(&mut self, n: usize) {
        self.total -= n;
    }

    /// Removes up to `n` permits that are not taken; returns how many.
    pub(super) fn reduce(&mut self, n: usize) -> usize {
        let n = n.min(self.free);
        self.free -= n;
        self.total -= n;
        n
    }

    /// Refuses all present and future waiters.
    pub(super) fn close(permits: &Lock<Self>) {
        permits.lock().closed = true;
        // PM3: no waiter joins any more, so the loop ends.
        wake_all(permits, |permits| {
            permits.queue.claim_first(|ask| ask.refused = true)
        });
    }

    /// Grants the first waiter its permits, if there are enough. The caller enqueues the wake and
    /// calls again, until there is none.
    fn next(&mut self) -> Option<Wake> {
        if self.closed {
            return None;
        }
        let there = self.free;
        let free = &mut self.free;
        self.queue
            .claim_first_if(|ask| ask.want <= there, |ask| *free -= ask.want)
    }
}

impl Describe for Permits {
    fn describe(&self) -> ObjectKind {
        ObjectKind::Semaphore {
            free: self.free,
            total: self.total,
            closed: self.closed,
            waiting: self.queue.count(),
        }
    }
}

/// The most permits that can exist: half of the range, as for wait groups.
pub(super) const MOST: usize = isize::MAX as usize;
