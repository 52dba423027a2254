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
//! So the next comparison looks whether there are more *guests* than before: fibers that
//! were handed over, have started (on whichever worker was the first to take them, even the
//! one that spawned them), and not ended. If fewer than half have stayed, or they have not
//! had their turn yet, periods without placement come between, twice as many each time.

use std::cell::Cell;

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
    tried: Cell<Option<Tried>>,
    /// Attempts in a row that came to nothing.
    futile: Cell<u32>,
}

/// An attempt to even out.
#[derive(Debug, Copy, Clone)]
struct Tried {
    placed: usize,
    /// The guests there were before.
    guests: usize,
}

impl Share {
    pub(super) fn new() -> Share {
        Share {
            left: Cell::new(0),
            elsewhere: Cell::new(None),
            tried: Cell::new(None),
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
    /// if there is another at all, as many as `least` says, and there are `guests` in all.
    pub(super) fn compare(
        &self,
        own: usize,
        least: Option<(usize, usize)>,
        guests: usize,
    ) {
        if let Some(tried) = self.tried.take() {
            let stayed = guests.saturating_sub(tried.guests);
            let futile = match 2 * stayed >= tried.placed {
                true => 0,
                false => (self.futile.get() + 1).min(PATIENCE),
            };
            self.futile.set(futile);
            if futile > 0 {
                self.elsewhere.set(None);
                self.left.set((PERIOD << futile) - 1);
                return;
            }
        }
        self.left.set(PERIOD - 1);
        let better = least.filter(|(_, settled)| own > 2 * settled + SLACK);
        let Some((worker, settled)) = better else {
            self.elsewhere.set(None);
            return;
        };
        let placed = ((own - settled) / 2).clamp(1, PERIOD as usize);
        self.elsewhere.set(Some((worker, placed)));
        self.tried.set(Some(Tried { placed, guests }));
    }
}
