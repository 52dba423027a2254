//! How a run of items is cut, and who works through what.
//!
//! Owns: the tree of [`halved`], the pieces of a [`Plan`], and [`spread`], work whose results may
//! be put together along any cuts. Does not own: what is done with items, or jobs (`Scope`).
//!
//! ```text
//!              items                 halves by `join`, at places that depend on the number of
//!            ┌───┴───┐               items alone: what is folded along this tree is folded
//!          ┌─┴─┐   ┌─┴─┐             alike on any number of workers
//!        block … … … block           at most BLOCK items, a PARTS-th of all, at least `least`
//!        1 2 4  8 …                  a block goes in pieces, with a look between them at whether
//!               └┬┘                  a beat is due; then what is left of it is cut in halves
//!              joined                too, which the next `join` tells others of
//! ```
//!
//! Pieces double as long as no beat comes in between, and shrink when one has come; a block
//! begins with an eighth of what was right elsewhere. So there is a look at the beat as
//! often as it can matter: after each of a hundred items of 10 ms, and once in 2,048 of a
//! nanosecond, whose loop the compiler makes vectors of. No clock is read: a moment costs as much as
//! a hundred such items.
//!
//! A run of fewer than twice PARTS items is cut into single ones, so each of them is a job that
//! a parked one leaves to others. Within a larger block, one item follows another.

use super::{Scope, Split};
use crate::fiber::current;
use crate::sched::beat::{Place, place};
use crate::shim::atomic::{AtomicBool, AtomicUsize, Ordering};

/// How one run is cut.
pub(super) struct Plan {
    /// The most items of a block.
    block: usize,
    /// The fewest items of a block, where there are as many.
    least: usize,
    /// How many items of a piece last stayed within a beat. Written and read by all who work
    /// on the run; any value is right.
    pace: AtomicUsize,
    /// Whether the rest can be left out: nobody cuts any further. Set by who finds that, read by all.
    over: AtomicBool,
}

impl Plan {
    pub(super) fn of(items: &impl Split) -> Plan {
        let least = items.least().max(1);
        let pace = match place(current::local()) {
            // Who works alone need not look up, which it would always find due.
            Place::Alone => usize::MAX,
            Place::Fiber(_) | Place::Outside => least,
        };
        Plan {
            block: (items.len() / PARTS).clamp(1, BLOCK).max(least),
            least,
            pace: AtomicUsize::new(pace),
            over: AtomicBool::new(false),
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

    /// Where `len` items, more than a block, are cut. Long runs are cut so that vectors of items
    /// come out even, which spares each block a loop for what is left and a branch foretold wrong.
    fn middle(&self, len: usize) -> usize {
        match len / 2 {
            half if half < 16 * EVEN || half - EVEN < self.least => half,
            half => half - half % EVEN,
        }
    }

    /// True if both halves of `len` items are worth work of their own.
    fn may_cut(&self, len: usize) -> bool {
        len >= 2 * self.least && len >= 2
    }
}

/// What `leaf` makes of the blocks of `items`, put together by `both` along a tree that
/// depends on the number of items alone.
pub(super) fn halved<S: Split, R: Send>(
    scope: &mut Scope<'_>,
    items: S,
    plan: &Plan,
    leaf: &(impl Fn(&mut Scope<'_>, S) -> R + Sync),
    both: &(impl Fn(R, R) -> R + Sync),
) -> R {
    let len = items.len();
    if len <= plan.block || !plan.may_cut(len) || plan.is_over() {
        return leaf(scope, items);
    }
    let (left, right) = items.split_at(plan.middle(len));
    let (left, right) = scope.join(
        |scope| halved(scope, left, plan, leaf, both),
        |scope| halved(scope, right, plan, leaf, both),
    );
    both(left, right)
}

/// Goes through a block, piece by piece, by `step`, beginning with `pace` items. When a beat is
/// due, what is left then is `rest`'s, if it can be cut, to be gone on with at the pace that it is
/// told.
pub(super) fn in_pieces<S: Split, R>(
    scope: &mut Scope<'_>,
    mut items: S,
    plan: &Plan,
    mut pace: usize,
    mut done: R,
    step: impl Fn(R, S) -> R,
    rest: impl FnOnce(&mut Scope<'_>, R, S, usize) -> R,
) -> R {
    while items.len() >= plan.least.saturating_add(pace) && !plan.is_over() {
        let (piece, left) = items.split_at(pace);
        done = step(done, piece);
        items = left;
        let due = scope.is_due();
        pace = plan.after(pace, due);
        if due && plan.may_cut(items.len()) {
            return rest(scope, done, items, pace);
        }
    }
    step(done, items)
}

/// What `run` makes of pieces of `items`, put together by `both`, of neighbors in their order.
/// Where the pieces end is as it happens.
pub(super) fn spread<S: Split, R: Send>(
    scope: &mut Scope<'_>,
    items: S,
    plan: &Plan,
    run: &(impl Fn(S) -> R + Sync),
    both: &(impl Fn(R, R) -> R + Sync),
) -> R {
    let leaf = |scope: &mut Scope<'_>, block| {
        let pace = plan.begin();
        spread_block(scope, block, plan, pace, run, both)
    };
    halved(scope, items, plan, &leaf, both)
}

/// As [`spread`] for what is left of a block when a beat is due.
pub(super) fn spread_rest<S: Split, R: Send>(
    scope: &mut Scope<'_>,
    rest: S,
    plan: &Plan,
    pace: usize,
    run: &(impl Fn(S) -> R + Sync),
    both: &(impl Fn(R, R) -> R + Sync),
) -> R {
    let middle = rest.len() / 2;
    let (left, right) = rest.split_at(middle);
    let (left, right) = scope.join(
        |scope| spread_block(scope, left, plan, pace, run, both),
        |scope| spread_block(scope, right, plan, pace, run, both),
    );
    both(left, right)
}

fn spread_block<S: Split, R: Send>(
    scope: &mut Scope<'_>,
    block: S,
    plan: &Plan,
    pace: usize,
    run: &(impl Fn(S) -> R + Sync),
    both: &(impl Fn(R, R) -> R + Sync),
) -> R {
    let add = |done: Option<R>, more: R| match done {
        None => Some(more),
        Some(done) => Some(both(done, more)),
    };
    let all = in_pieces(
        scope,
        block,
        plan,
        pace,
        None,
        |done, piece| add(done, run(piece)),
        |scope, done, rest, pace| {
            add(done, spread_rest(scope, rest, plan, pace, run, both))
        },
    );
    all.expect("a block is at least one piece")
}

/// The most items of a block. Of `u64`s whose sum is taken, this many take half a microsecond,
/// a hundred times what a join costs.
pub(super) const BLOCK: usize = 4096;

/// As many bytes come in lines of the cache and in vectors of any width.
const EVEN: usize = 64;

/// Into how many blocks a short run is cut. Arbitrary: a few for each of the cores that machines
/// have.
pub(super) const PARTS: usize = 32;
