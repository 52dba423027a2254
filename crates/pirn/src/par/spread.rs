//! How a run of items is cut, and who works through what.
//!
//! Owns: the tree of [`halved`], the pieces of a [`Cuts`], and [`spread`], work whose
//! results may be put together along any cuts. Does not own: what is done with items, or
//! jobs (`Scope`).
//!
//! ```text
//!             items             halves by `join`, at places that depend on the number of
//!           ┌───┴───┐           items alone: what is folded along this tree is folded
//!         ┌─┴─┐   ┌─┴─┐         alike on any number of workers
//!       block … … … block       at most BLOCK items, a 32nd of all, at least `least`
//!       ├┼─┼───┤                a block goes in pieces that double, with a look between
//!              └┬┘              them at whether a beat is due; then what is left of it
//!             joined            is cut too, which the next `join` tells others of
//! ```
//!
//! Pieces double as long as no beat comes in between, and shrink when one has come; a
//! block begins with an eighth of what was right elsewhere. So there is a look at the
//! beat as often as it can matter: after each of a hundred items of 10 ms, and once in
//! 2,048 of a nanosecond, whose loop the compiler makes vectors of. No clock is read: a
//! moment costs as much as a hundred such items.
//!
//! A run of fewer than twice [`FEWEST_BLOCKS`] items is cut into single ones, so each of
//! them is a job that a parked one leaves to others. Within a larger block, one item
//! follows another.

use std::panic::Location;

use super::{Scope, Split};
use crate::fiber::current;
use crate::sched::beat::{Place, place};
use crate::shim::atomic::{AtomicBool, AtomicUsize, Ordering};

/// How one run is cut.
pub(super) struct Cuts {
    /// The most items of a block.
    block: usize,
    /// The fewest items of a block, where there are as many.
    least: usize,
    /// How many items of a piece last stayed within a beat. Written and read by all who
    /// work on the run; any value is right.
    pace: AtomicUsize,
    /// Whether the rest can be left out: nobody cuts any further. Set by who finds that,
    /// read by all.
    over: AtomicBool,
    /// Where the caller asked for the work: what its joins and fibers are named by.
    pub(super) location: &'static Location<'static>,
}

impl Cuts {
    #[track_caller]
    pub(super) fn of(items: &impl Split) -> Cuts {
        let least = items.least().max(1);
        let pace = match place(current::local()) {
            // Who works alone need not look up, which it would always find due.
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

    /// True once [`end`](Self::end) has been called.
    pub(super) fn is_over(&self) -> bool {
        // ORDERING: Relaxed: results go by the joins; this only saves work.
        self.over.load(Ordering::Relaxed)
    }

    /// From now on nothing need be done.
    pub(super) fn end(&self) {
        // ORDERING: as in `is_over`.
        self.over.store(true, Ordering::Relaxed);
    }

    /// How many items of a block to begin with.
    pub(super) fn begin(&self) -> usize {
        // ORDERING: Relaxed: a guess.
        (self.pace.load(Ordering::Relaxed) / 8).max(self.least)
    }

    /// How many items to take next, after `pace` items.
    fn after(&self, pace: usize, due: bool) -> usize {
        let next = if due { pace / 2 } else { pace * 2 };
        let next = next.clamp(self.least, self.block.max(BLOCK));
        // ORDERING: Relaxed: as above.
        self.pace.store(next, Ordering::Relaxed);
        next
    }

    /// Where `len` items, more than a block, are cut. Long runs are cut so that vectors
    /// of items come out even, which spares each block a loop for what is left and a
    /// branch foretold wrong.
    fn middle(&self, len: usize) -> usize {
        match len / 2 {
            half if half < LONG || half - EVEN < self.least => half,
            half => half - half % EVEN,
        }
    }

    /// True if both halves of `len` items are worth work of their own.
    fn may_cut(&self, len: usize) -> bool {
        len / 2 >= self.least
    }
}

/// What `leaf` makes of the blocks of `items`, put together by `both` along a tree that
/// depends on the number of items alone.
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

/// Goes through a block, piece by piece, by `step`, beginning with `pace` items. When a
/// beat is due, what is left then is `rest`'s, if it can be cut, to be gone on with at
/// the pace that it is told.
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

/// What `work` makes of pieces of `items`, put together by `both`, of neighbors in their
/// order. Where the pieces end is as it happens.
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

/// Like [`spread`] for what is left of a block when a beat is due.
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

/// The most items of a block. Of `u64`s whose sum is taken, this many take half a
/// microsecond, a hundred times what a join costs.
pub(super) const BLOCK: usize = 4096;

/// So many items, of any size, fill whole cache lines and vectors.
const EVEN: usize = 64;

/// Halves from here on are cut evenly, which moves the cut by a sixteenth at most.
/// Arbitrary.
const LONG: usize = 16 * EVEN;

/// Into how many blocks a run is cut at least, if it has the items. Arbitrary: a few for
/// each of the cores that machines have.
pub(super) const FEWEST_BLOCKS: usize = 32;

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;

    fn cuts(len: usize, least: usize) -> Cuts {
        Cuts::of(&(0..len).grain(least))
    }

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
