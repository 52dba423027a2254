//! Share: whether fresh fibers are better off on another worker than on the one that spawns
//! them.
//!
//! A fiber stays where it has started, so one worker that accepts all connections would keep
//! them all. Every [`PERIOD`] spawns a worker compares how many started fibers it has with
//! the worker that has least; if it has clearly more, as many of the next period's fibers as
//! would even them out start over there.
//!
//! That helps if they stay. With fibers that end at once all that is gained is traffic
//! between two caches (a tree of a million joins took three times as long on two workers).
//! So the next comparison looks how many of those *guests* have started (on whichever worker
//! was the first to take them, even the one that spawned them) and not ended. If fewer than
//! half have stayed, or they have not had their turn yet, periods without placement come
//! between, twice as many each time. Each fiber that is handed over carries the number of
//! its attempt, so neither older guests that end nor those of other workers count.

use std::cell::Cell;

use crate::shim::atomic::{AtomicU32, Ordering};

/// Spawns between two comparisons: as few as keep the loads of all workers' counts out of
/// the cost of a spawn.
const PERIOD: u32 = 64;

/// A difference that is left alone. Arbitrary: a handful of stacks.
const SLACK: usize = 8;

/// The most periods between two attempts, as a power of two: one spawn in 65 crosses over
/// then. Arbitrary.
const PATIENCE: u32 = 6;

/// One worker's view of its share.
#[derive(Debug)]
pub(super) struct Share {
    /// Spawns until the next comparison.
    left: Cell<u32>,
    /// Where fresh fibers go instead, and how many.
    elsewhere: Cell<Option<(usize, usize)>>,
    /// Fibers handed over since the comparison before.
    placed: Cell<usize>,
    /// Attempts in a row that came to nothing.
    futile: Cell<u32>,
}

/// The guests of one worker's last attempt, as all workers tell it.
#[derive(Debug, Default)]
pub(super) struct Guests {
    attempt: AtomicU32,
    /// Those that have started, less those that have ended.
    staying: AtomicU32,
}

/// Names a worker and an attempt of its to place fibers elsewhere; 0 is none.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(super) struct Tag(pub(super) u32);

impl Tag {
    /// The worker that the fiber comes from; `None` if it was not handed over.
    #[inline(always)]
    pub(super) fn host(self) -> Option<usize> {
        ((self.0 >> ATTEMPT_BITS) as usize).checked_sub(1)
    }

    fn attempt(self) -> u32 {
        self.0 & ATTEMPT
    }
}

/// A worker's number takes the upper bits; there are at most 1024 workers.
const ATTEMPT_BITS: u32 = 16;
const ATTEMPT: u32 = (1 << ATTEMPT_BITS) - 1;

impl Guests {
    /// *Owner.* Begins an attempt. What an older one still counts meanwhile is an error of
    /// one in an estimate.
    fn begin(&self) {
        let attempt = self.attempt.load(Ordering::Relaxed).wrapping_add(1) & ATTEMPT;
        self.attempt.store(attempt, Ordering::Relaxed);
        self.staying.store(0, Ordering::Relaxed);
    }

    /// *Owner.* The mark of the present attempt of `worker`, which these guests belong to.
    pub(super) fn tag(&self, worker: usize) -> Tag {
        let number = worker as u32 + 1;
        Tag(number << ATTEMPT_BITS | self.attempt.load(Ordering::Relaxed))
    }

    /// A guest has started.
    pub(super) fn started(&self, tag: Tag) {
        if self.attempt.load(Ordering::Relaxed) == tag.attempt() {
            self.staying.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A guest has ended.
    pub(super) fn ended(&self, tag: Tag) {
        if self.attempt.load(Ordering::Relaxed) == tag.attempt() {
            self.staying.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn staying(&self) -> usize {
        // Below zero for a moment after `begin`, if an older guest ended just then.
        self.staying.load(Ordering::Relaxed).cast_signed().max(0) as usize
    }
}

impl Share {
    pub(super) fn new() -> Share {
        Share {
            left: Cell::new(0),
            elsewhere: Cell::new(None),
            placed: Cell::new(0),
            futile: Cell::new(0),
        }
    }

    /// Counts a spawn. True if a comparison is due.
    #[inline(always)]
    pub(super) fn is_due(&self) -> bool {
        let left = self.left.get();
        self.left.set(left.wrapping_sub(1));
        left == 0
    }

    /// The other worker where the fiber that is being spawned had better start.
    #[inline(always)]
    pub(super) fn elsewhere(&self) -> Option<usize> {
        let (worker, left) = self.elsewhere.get()?;
        self.elsewhere.set((left > 1).then(|| (worker, left - 1)));
        Some(worker)
    }

    /// Compares: `own` fibers have started here and not ended, on the worker with the fewest,
    /// if there is another at all, as many as `least` says.
    pub(super) fn compare(
        &self,
        own: usize,
        least: Option<(usize, usize)>,
        guests: &Guests,
    ) {
        let placed = self.placed.take();
        self.elsewhere.set(None);
        if placed > 0 {
            let futile = match 2 * guests.staying() >= placed {
                true => 0,
                false => (self.futile.get() + 1).min(PATIENCE),
            };
            self.futile.set(futile);
            if futile > 0 {
                self.left.set((PERIOD << futile) - 1);
                return;
            }
        }
        self.left.set(PERIOD - 1);
        let better = least.filter(|(_, settled)| own > 2 * settled + SLACK);
        if let Some((worker, settled)) = better {
            let placed = ((own - settled) / 2).clamp(1, PERIOD as usize);
            guests.begin();
            self.elsewhere.set(Some((worker, placed)));
            self.placed.set(placed);
        }
    }
}
