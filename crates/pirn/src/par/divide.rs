//! How a run of items is cut, and which worker processes which part.
//!
//! Owns: the tree of [`halved`], the pieces of a [`Cuts`], and [`spread`], for work with
//! results that may be combined along any cuts. Does not own: the work on items, or jobs
//! (`Scope`).
//!
//! ```text
//!             items             halves by `join`, at places that depend on the number of
//!           ┌───┴───┐           items alone, so a fold along this tree has the same
//!         ┌─┴─┐   ┌─┴─┐         order on any number of workers
//!       block … … … block       at most BLOCK items, a 32nd of all, at least `least`
//!       ├┼─┼───┤                a block is done in pieces that double; between pieces
//!              └┬┘              the heartbeat is checked. If it is due, the rest is
//!             joined            cut too, and the next `join` offers it to others
//! ```
//!
//! Pieces double while no heartbeat intervenes, and shrink after one. A block begins with
//! an eighth of the last good piece of another block. So the heartbeat is checked as
//! often as it matters. That is after each of a hundred items of 10 ms, and once in 2,048
//! items of a nanosecond, in a loop that the compiler vectorizes. The clock is not read:
//! that costs as much as a hundred such items.
//!
//! A run of fewer than twice [`FEWEST_BLOCKS`] items is cut into single ones, so each is
//! a job that other workers may take while one is parked. In a larger block, the items
//! run one after another.

use std::panic::Location;

use super::{Scope, Split};
use crate::fiber::current;
use crate::sched::worker::heartbeat::{Place, place};
use crate::shim::atomic::{AtomicBool, AtomicUsize, Ordering};

/// How one run is cut.
pub(super) struct Cuts {
    /// The most items of a block.
    block: usize,
    /// The fewest items of a block, where there are as many.
    least: usize,
    /// The number of items in the last piece that stayed within a heartbeat. Written and
    /// read by all workers of the run; any value is right.
    pace: AtomicUsize,
    /// Whether the rest can be left out: no worker cuts any further. Set by the worker
    /// that finds that, read by all.
    over: AtomicBool,
    /// The caller's location, which names its joins and fibers.
    pub(super) location: &'static Location<'static>,
}

impl Cuts {
    #[track_caller]
    pub(super) fn of(items: &impl Split) -> Cuts {
        let least = items.least().max(1);
        let pace = match place(current::local()) {
            // A lone worker need not look up its list, which would always be due.
            Place::Alone => usize::MAX,
            Place::Fiber(_) | Place::Outside => least,
        };
        Cuts {
            block: (items.len() / FEWEST_BLOCKS).clamp(1, BLOCK).max(least),
            least,
            pace: AtomicUsize::new(pace),
            over: AtomicBool::new(false),
            location: Location::caller(),
        }
    }

    /// Returns true once [`end`](Self::end) has been called.
    pub(super) fn is_over(&self) -> bool {
        // ORDERING: Relaxed: the joins pass on results; this only saves work.
        self.over.load(Ordering::Relaxed)
    }

    /// Marks the rest of the work as unneeded.
    pub(super) fn end(&self) {
        // ORDERING: as in `is_over`.
        self.over.store(true, Ordering::Relaxed);
    }

    /// Returns the number of items in the first piece of a block.
    pub(super) fn begin(&self) -> usize {
        // ORDERING: Relaxed: an estimate.
        (self.pace.load(Ordering::Relaxed) / 8).max(self.least)
    }

    /// Returns the number of items in the piece after one of `pace` items.
    fn after(&self, pace: usize, due: bool) -> usize {
        let next = if due { pace / 2 } else { pace * 2 };
        let next = next.clamp(self.least, self.block.max(BLOCK));
        // ORDERING: Relaxed: as above.
        self.pace.store(next, Ordering::Relaxed);
        next
    }

    /// Returns the place to cut `len` items, more than a block. Long runs are cut at
    /// multiples of the vector size, which spares each block a loop for the remainder and
    /// a mispredicted branch.
    fn middle(&self, len: usize) -> usize {
        match len / 2 {
            half if half < LONG || half - EVEN < self.least => half,
            half => half - half % EVEN,
        }
    }

    /// Returns true if both halves of `len` items are worth separate work.
    fn may_cut(&self, len: usize) -> bool {
        len / 2 >= self.least
    }
}

/// Runs `leaf` on the blocks of `items`, and combines the results by `both` along a tree
/// that depends only on the number of items and their grain.
pub(super) fn halved<S: Split, R: Send>(
    scope: &mut Scope<'_>,
    items: S,
    cuts: &Cuts,
    leaf: &(impl Fn(&mut Scope<'_>, S) -> R + Sync),
    both: &(impl Fn(R, R) -> R + Sync),
) -> R {
    let len = items.len();
    if len <= cuts.block || !cuts.may_cut(len) || cuts.is_over() {
        return leaf(scope, items);
    }
    let (left, right) = items.split_at(cuts.middle(len));
    let (left, right) = scope.join_at(
        cuts.location,
        |scope| halved(scope, left, cuts, leaf, both),
        |scope| halved(scope, right, cuts, leaf, both),
    );
    both(left, right)
}

/// Processes a block piece by piece by `step`, beginning with `pace` items. When a
/// heartbeat is due and the rest can be cut, `rest` receives it, with the pace to
/// continue at.
pub(super) fn in_pieces<S: Split, R>(
    scope: &mut Scope<'_>,
    mut items: S,
    cuts: &Cuts,
    mut pace: usize,
    mut done: R,
    step: impl Fn(R, S) -> R,
    rest: impl FnOnce(&mut Scope<'_>, R, S, usize) -> R,
) -> R {
    while items.len() >= cuts.least.saturating_add(pace) && !cuts.is_over() {
        let (piece, left) = items.split_at(pace);
        done = step(done, piece);
        items = left;
        let due = scope.is_due();
        pace = cuts.after(pace, due);
        if due && cuts.may_cut(items.len()) {
            return rest(scope, done, items, pace);
        }
    }
    step(done, items)
}

/// Runs `work` on pieces of `items`, and combines the results by `both`, neighbors in
/// their order. The ends of the pieces depend on timing.
pub(super) fn spread<S: Split, R: Send>(
    scope: &mut Scope<'_>,
    items: S,
    cuts: &Cuts,
    work: &(impl Fn(S) -> R + Sync),
    both: &(impl Fn(R, R) -> R + Sync),
) -> R {
    let leaf = |scope: &mut Scope<'_>, block| {
        let pace = cuts.begin();
        spread_block(scope, block, cuts, pace, work, both)
    };
    halved(scope, items, cuts, &leaf, both)
}

/// Like [`spread`], for the rest of a block when a heartbeat is due.
pub(super) fn spread_rest<S: Split, R: Send>(
    scope: &mut Scope<'_>,
    rest: S,
    cuts: &Cuts,
    pace: usize,
    work: &(impl Fn(S) -> R + Sync),
    both: &(impl Fn(R, R) -> R + Sync),
) -> R {
    let middle = rest.len() / 2;
    let (left, right) = rest.split_at(middle);
    let (left, right) = scope.join_at(
        cuts.location,
        |scope| spread_block(scope, left, cuts, pace, work, both),
        |scope| spread_block(scope, right, cuts, pace, work, both),
    );
    both(left, right)
}

fn spread_block<S: Split, R: Send>(
    scope: &mut Scope<'_>,
    block: S,
    cuts: &Cuts,
    pace: usize,
    work: &(impl Fn(S) -> R + Sync),
    both: &(impl Fn(R, R) -> R + Sync),
) -> R {
    let add = |done: Option<R>, more: R| match done {
        None => Some(more),
        Some(done) => Some(both(done, more)),
    };
    let all = in_pieces(
        scope,
        block,
        cuts,
        pace,
        None,
        |done, piece| add(done, work(piece)),
        |scope, done, rest, pace| {
            add(done, spread_rest(scope, rest, cuts, pace, work, both))
        },
    );
    all.expect("a block is at least one piece")
}

/// The most items of a block. The sum of this many `u64`s takes half a microsecond, a
/// hundred times as long as a join.
pub(super) const BLOCK: usize = 4096;

/// This many items, of any size, fill whole cache lines and vectors.
const EVEN: usize = 64;

/// Runs from this length on are cut at even places, which moves the cut by a sixteenth at
/// most. Arbitrary.
const LONG: usize = 16 * EVEN;

/// The fewest blocks of a run, if it has the items. Arbitrary: a few for each core of
/// common machines.
pub(super) const FEWEST_BLOCKS: usize = 32;

#[cfg(all(test, not(pirn_modelled)))]
mod tests {
    use super::*;

    fn cuts(len: usize, least: usize) -> Cuts {
        Cuts::of(&(0..len).grain(least))
    }

    // Proves: O9-cuts.
    #[test]
    fn halves_are_worth_their_work_and_come_out_even() {
        for least in [0, 1, 2, 1_000, 5_000, 1 << 40, usize::MAX] {
            let cuts = cuts(1 << 50, least);
            let twice = least.max(1).saturating_mul(2);
            assert!(!cuts.may_cut(0) && !cuts.may_cut(1) && !cuts.may_cut(twice - 1));
            assert_eq!(cuts.may_cut(twice), least != usize::MAX);
            let lens = [twice, 2 * LONG - 1, 2 * LONG, 10_001, (1 << 45) + 77];
            for len in lens.into_iter().filter(|len| cuts.may_cut(*len)) {
                let middle = cuts.middle(len);
                assert!(middle >= least && middle <= len / 2, "{middle} of {len}");
                let to_be_even = len / 2 >= LONG && len / 2 - EVEN >= least;
                assert!(
                    !to_be_even || middle.is_multiple_of(EVEN),
                    "{middle} of {len}"
                );
            }
        }
    }

    // Proves: O9-cuts.
    #[test]
    fn the_pace_stays_in_its_bounds() {
        for least in [1, 100, 3 * BLOCK] {
            let cuts = cuts(1_000_000, least);
            let (mut pace, most) = (cuts.begin(), BLOCK.max(least));
            for _ in 0..20 {
                let next = cuts.after(pace, false);
                assert_eq!(next, (2 * pace).min(most));
                pace = next;
            }
            assert_eq!(cuts.begin(), (most / 8).max(least));
            assert_eq!(cuts.after(pace, true), (most / 2).max(least));
            assert_eq!(cuts.after(least, true), least);
        }
    }
}
