//! How many permits are left and who waits for some: the part of a semaphore that models
//! look at.
//!
//! Permits are given strictly in order of arrival: who stands first waits until there is
//! enough for it, and nobody behind it, nor a newcomer, takes what it is saving up. So many
//! small requests do not starve a large one.
//!
//! # Invariants
//! * PM1. `total` is the number of permits that exist, `free` those that nobody has.
//!   `free <= total <= MOST`.
//! * PM2. A newcomer takes permits without waiting only if the queue is empty.
//! * PM3. Once `closed`, nobody joins the queue and nobody in it is given permits.
//!
//! LIVENESS: who stands first, and for whom there is enough, is given its permits. That can
//! come about by three events only: permits become free, somebody takes its place in front
//! because the one before it was served, or because that one gave up. After each of them
//! whoever caused it calls `next` until that finds nobody.

use crate::base::mutant::mutant;
use crate::fiber::ticket::Wake;
use crate::fiber::waiter::WaitQueue;
use crate::shim::Lock;
use crate::wait::object::{Describe, ObjectKind};
use crate::wait::{Attempt, How, Spec, Waited, wait_in, wake_all};

/// Permits, and those who wait for them.
pub(super) struct Permits {
    free: usize,
    total: usize,
    closed: bool,
    queue: WaitQueue<Ask>,
}

/// What a waiter and whoever serves it tell each other.
struct Ask {
    /// Set by the waiter.
    want: usize,
    /// Set by whoever ends the wait: there are no permits to be had any more.
    refused: bool,
}

/// Why permits were not taken.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(super) enum Denied {
    /// The semaphore is closed.
    Closed,
    /// The wait ended otherwise: `TimedOut` or `Interrupted`.
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

    /// Takes `want` permits if that needs no waiting; true if so.
    #[inline]
    pub(super) fn try_take(&mut self, want: usize) -> bool {
        let there = !self.closed && self.queue.is_empty() && want <= self.free;
        self.free -= if there { want } else { 0 };
        there
    }

    /// Takes `want` permits, waiting as `spec` says.
    ///
    /// # Errors
    /// That the permits are closed, or how the wait ended otherwise.
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
                // There may be enough for those who stood behind.
                if !mutant!("semaphore_leaver_tells_nobody") {
                    wake_all(permits, Permits::next);
                }
                Err(Denied::Ended(how))
            }
        }
    }

    /// Gives `n` permits back. Never suspends.
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

    /// Makes `n` more permits; false, and nothing has changed, if there would be more than
    /// [`MOST`].
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

    /// Makes `n` permits, which the caller has, exist no more.
    pub(super) fn forget(&mut self, n: usize) {
        self.total -= n;
    }

    /// Refuses all that wait, and all that come.
    pub(super) fn close(permits: &Lock<Self>) {
        permits.lock().closed = true;
        // PM3: nobody joins any more, so this ends.
        wake_all(permits, |permits| {
            permits.queue.claim_first(|ask| ask.refused = true)
        });
    }

    /// Serves the first that waits, if there is enough; the caller enqueues the wake and
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

/// The most permits there can be: half of what fits, as for wait groups.
pub(super) const MOST: usize = isize::MAX as usize;
