//! A worker's record of its search for work of others, and of the worth of spinning.
//!
//! Does not own: the search and the sleep (`park`).

use std::cell::{Cell, RefCell};
use std::time::Instant;

use crate::base::rng::Rng;
use crate::shim;

/// After a sleep shorter than this, spinning would have been better. Nanoseconds: ten times
/// `SPIN` in `park`, arbitrary.
const SHORT: u64 = 100_000;

/// A worker's search for work of others, and how long it spins before it sleeps.
pub(in crate::sched) struct Search {
    /// Counted by `Idle` as searching.
    active: Cell<bool>,
    /// The last spin has seen work, which has not been found yet.
    spun: Cell<bool>,
    /// This rest has had its short sleep because of young work.
    napped: Cell<bool>,
    /// How well spinning has paid lately; the worker does not spin at 0 or less.
    patience: Cell<i32>,
    /// How long this worker sleeps at most, if the thread that drives it has a time limit.
    drive_limit: Cell<Option<Instant>>,
    rng: RefCell<Rng>,
}

impl Search {
    pub(in crate::sched) fn new() -> Search {
        Search {
            active: Cell::new(false),
            spun: Cell::new(false),
            napped: Cell::new(false),
            patience: Cell::new(0),
            drive_limit: Cell::new(None),
            rng: RefCell::new(Rng::new(shim::seed())),
        }
    }

    /// Returns true if `Idle` counts the worker as searching.
    #[inline(always)]
    pub(in crate::sched) fn is_active(&self) -> bool {
        self.active.get()
    }

    /// Sets whether `Idle` counts the worker as searching.
    #[inline(always)]
    pub(in crate::sched) fn set_active(&self, active: bool) {
        self.active.set(active);
    }

    /// Ends the search here; returns whether `Idle` has counted it.
    #[inline(always)]
    pub(in crate::sched) fn end(&self) -> bool {
        self.active.replace(false)
    }

    /// Records that the worker has found a fiber.
    #[inline(always)]
    pub(in crate::sched) fn found(&self) {
        self.spun.set(false);
    }

    /// Records that the last spin has seen work, which has not been found yet.
    pub(in crate::sched) fn set_spun(&self) {
        self.spun.set(true);
    }

    /// Returns true once if the last spin has seen work.
    pub(in crate::sched) fn take_spun(&self) -> bool {
        self.spun.take()
    }

    /// Returns true if this rest has not had its short sleep because of young work; it has it now.
    pub(in crate::sched) fn nap(&self) -> bool {
        !self.napped.replace(true)
    }

    /// Allows the next rest a short sleep.
    pub(in crate::sched) fn end_nap(&self) {
        self.napped.set(false);
    }

    /// Sets how long this worker sleeps at most.
    pub(in crate::sched) fn set_drive_limit(&self, limit: Option<Instant>) {
        self.drive_limit.set(limit);
    }

    pub(in crate::sched) fn drive_limit(&self) -> Option<Instant> {
        self.drive_limit.get()
    }

    /// Returns a random number below `workers`.
    pub(in crate::sched) fn pick(&self, workers: usize) -> usize {
        self.rng.borrow_mut().below(workers)
    }

    /// Returns true if spinning has paid lately.
    pub(in crate::sched) fn may_spin(&self) -> bool {
        self.patience.get() > 0
    }

    /// Records that a spin has seen work, or not.
    pub(in crate::sched) fn has_spun(&self, seen: bool) {
        let patience = self.patience.get();
        self.patience.set(match seen {
            true => (patience + 1).min(8),
            false => patience - 2,
        });
    }

    /// Records a sleep of `slept` nanoseconds; a `nap` was short because of young work.
    pub(in crate::sched) fn has_slept(&self, slept: u64, nap: bool) {
        if slept < SHORT && !nap {
            self.patience.set((self.patience.get() + 1).min(8));
        } else if slept > 10 * SHORT {
            self.patience.set(0);
        }
    }

    /// Sets how well spinning has paid.
    #[cfg(test)]
    pub(in crate::sched) fn set_patience(&self, patience: i32) {
        self.patience.set(patience);
    }
}
