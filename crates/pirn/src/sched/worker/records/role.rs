//! A worker's own copy of the pool's orders to it: its duty, the phase, the requests.
//!
//! Does not own: the changes of a duty (`sched::policy::standby`).

use std::cell::Cell;

use crate::sched::pool::phase::Phase;

/// A worker's own view of its duty.
pub(in crate::sched) struct Role {
    /// True if this worker was `Draining` when it last read its duty.
    draining: Cell<bool>,
    /// True if fibers spawned here go to the injector.
    forwards_fresh: Cell<bool>,
    /// The thread has been idle for so long that it ends.
    leaving: Cell<bool>,
    /// The phase that this worker has acted on.
    seen: Cell<Phase>,
    /// The number of the last request that this worker has answered.
    answered: Cell<u64>,
}

impl Role {
    pub(in crate::sched) fn new() -> Role {
        Role {
            draining: Cell::new(false),
            forwards_fresh: Cell::new(false),
            leaving: Cell::new(false),
            seen: Cell::new(Phase::Open),
            answered: Cell::new(0),
        }
    }

    #[inline(always)]
    pub(in crate::sched) fn is_draining(&self) -> bool {
        self.draining.get()
    }

    /// Sets whether the worker takes nothing new; returns what it was.
    pub(in crate::sched) fn set_draining(&self, draining: bool) -> bool {
        self.draining.replace(draining)
    }

    /// Returns true if fibers spawned here go to the injector.
    #[inline(always)]
    pub(in crate::sched) fn forwards_fresh(&self) -> bool {
        self.forwards_fresh.get()
    }

    pub(in crate::sched) fn set_forwards_fresh(&self, forwards: bool) {
        self.forwards_fresh.set(forwards);
    }

    /// Returns true if the thread has been idle for so long that it ends.
    #[inline(always)]
    pub(in crate::sched) fn is_leaving(&self) -> bool {
        self.leaving.get()
    }

    #[inline(always)]
    pub(in crate::sched) fn set_leaving(&self, leaving: bool) {
        self.leaving.set(leaving);
    }

    /// Returns the phase that the worker has acted on.
    #[inline(always)]
    pub(in crate::sched) fn seen(&self) -> Phase {
        self.seen.get()
    }

    /// Returns the number of the last request that the worker has answered.
    #[inline(always)]
    pub(in crate::sched) fn answered(&self) -> u64 {
        self.answered.get()
    }

    pub(in crate::sched) fn set_answered(&self, number: u64) {
        self.answered.set(number);
    }

    /// Sets the phase that the worker acts on now; returns the one before.
    #[inline(always)]
    pub(in crate::sched) fn see(&self, phase: Phase) -> Phase {
        self.seen.replace(phase)
    }
}
