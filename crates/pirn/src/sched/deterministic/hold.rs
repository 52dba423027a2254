//! How long a deterministic runtime holds its virtual time while fibers wait for events of real
//! time.
//!
//! Owns: for how long time is held. Does not own: the look for a reason (`draw`), the jumps
//! (`seeded`), nor which fiber waits for which descriptor (`readiness`).
//!
//! | a fiber waits for | time is held |
//! |---|---|
//! | a call of `blocking`, of a file, a lookup; a closure on another runtime ([`outside`](crate::sched::deterministic::draw::outside)) | until that ends |
//! | a descriptor: a socket, a pipe, the end of a child | until an event comes, for `limit` of real time at most |
//! | the end of another runtime's fibers, which may wait for this one's ([`elsewhere`](crate::sched::deterministic::draw::elsewhere)) | likewise |
//! | another fiber, or a plain thread | not at all |
//!
//! A hold that ends without an event was in vain: for instance, with a server that waits for
//! connections of fibers only. Each such hold halves the next one, down to [`SHARE`] of the limit.
//! Any event while the worker rests restores the next one to the whole limit. Without that a test
//! with an idle server would pay the limit for each jump.
//!
//! The worker looks for a reason to hold time only when time is about to jump, and looks at sources
//! only if there are any. So a fiber that waits for a descriptor does no work for this.

use std::cell::Cell;
use std::time::Duration;

use crate::base::clock;

/// The shortest hold, as a part of the limit: with the default limit a millisecond.
const SHARE: u64 = 1_000;

/// The holds of one runtime. Times are in nanoseconds of the real clock.
pub(in crate::sched) struct Hold {
    /// Fibers that wait for something that certainly ends, however long it takes.
    outside: Cell<usize>,
    /// Fibers that wait until another runtime has none.
    elsewhere: Cell<usize>,
    limit: u64,
    /// How long the next hold that has a limit may last.
    patience: Cell<u64>,
    /// Until when time is held for a descriptor; 0 if it is not.
    until: Cell<u64>,
    /// The worker has found nothing ready and rests: anything that arrives now comes from outside.
    rests: Cell<bool>,
}

impl Hold {
    pub(in crate::sched) fn new(limit: Duration) -> Hold {
        let limit = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        Hold {
            outside: Cell::new(0),
            elsewhere: Cell::new(0),
            limit,
            patience: Cell::new(limit),
            until: Cell::new(0),
            rests: Cell::new(false),
        }
    }

    /// Records that the worker rests: no fiber is ready, and time does not jump.
    pub(in crate::sched) fn rest(&self) {
        self.rests.set(true);
    }

    /// Counts a fiber that begins, or ends, to wait for something that certainly ends.
    pub(in crate::sched) fn count(&self, change: isize) {
        add(&self.outside, change);
    }

    /// Counts a fiber that begins, or ends, to wait until another runtime has no fibers.
    pub(in crate::sched) fn count_elsewhere(&self, change: isize) {
        add(&self.elsewhere, change);
    }

    /// Returns the end of the current hold for a descriptor, if there is one.
    pub(in crate::sched) fn until(&self) -> Option<u64> {
        Some(self.until.get()).filter(|until| *until != 0)
    }

    /// A fiber is ready: if the worker rested, that was not in vain.
    pub(in crate::sched) fn release(&self) {
        if self.rests.replace(false) {
            self.until.set(0);
            self.patience.set(self.limit);
        }
    }

    /// Returns true if a fiber waits for something that certainly ends.
    pub(super) fn is_outside(&self) -> bool {
        self.outside.get() > 0
    }

    /// Returns true if a fiber waits until another runtime has no fibers.
    pub(super) fn is_elsewhere(&self) -> bool {
        self.elsewhere.get() > 0
    }

    /// Returns true if time may be held for a descriptor.
    pub(super) fn has_limit(&self) -> bool {
        self.limit > 0
    }

    /// Returns how long the present hold lasts, or the next one, in nanoseconds.
    pub(super) fn patience(&self) -> u64 {
        self.patience.get()
    }

    /// Ends the hold for a descriptor: no fiber waits for one.
    pub(super) fn end(&self) {
        self.until.set(0);
    }

    /// True if a hold for a descriptor continues, or begins.
    pub(super) fn lasts(&self) -> bool {
        let now = clock::now();
        match self.until.get() {
            0 if self.limit == 0 => false,
            0 => {
                self.until.set(now.saturating_add(self.patience.get()));
                true
            }
            until => now < until,
        }
    }

    /// Shortens the next hold: the hold for a descriptor was in vain.
    pub(super) fn give_up(&self) {
        self.until.set(0);
        self.rests.set(false);
        let least = (self.limit / SHARE).max(1);
        self.patience.set((self.patience.get() / 2).max(least));
    }
}

fn add(counter: &Cell<usize>, change: isize) {
    counter.set(counter.get().wrapping_add_signed(change));
}
