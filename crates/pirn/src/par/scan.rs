//! Prefix sums.
//!
//! Owns: [`scan`]: two passes over fixed blocks. One combines each block, and one
//! continues from the total before each (Blelloch, "Prefix sums and their applications",
//! 1990).

use super::divide::{BLOCK, Cuts, FEWEST_BLOCKS};
use super::each::each_of;
use super::map::mapped;
use super::{Split, chunks, chunks_mut, scope};

/// Replaces each item by the combination by `op` of all items up to and including it: the
/// running sum, if `op` adds.
///
/// `op` must be associative. For floats, which nearly satisfy that, the result is the
/// same each time, on any number of workers.
///
/// # Complexity
/// Two calls of `op` for each item, if there are more than a block of 4,096 (or a 32nd
/// part of fewer); a loop by hand needs one.
///
/// # Panics
/// With the panic of an `op`, when all other work has ended. The items are then a mixture
/// of old and new ones.
///
/// # Cancellation
/// Not an interruption point, but `op` may contain some.
///
/// # Blocking
/// Like [`for_each`](super::for_each).
///
/// # Examples
/// ```
/// use pirn::par;
///
/// let mut balance = [5, -2, 4, -1];
/// par::scan(&mut balance, |sum, change| sum + change);
/// assert_eq!(balance, [5, 3, 7, 6]);
/// ```
#[track_caller]
pub fn scan<T: Send + Sync>(items: &mut [T], op: impl Fn(&T, &T) -> T + Sync) {
    // At least two: the total of one item would be a copy of it, and items need not be
    // `Clone`.
    let block = (items.len() / FEWEST_BLOCKS).clamp(2, BLOCK);
    let blocks_but_last = items.len().saturating_sub(1) / block;
    // The same number, or one more.
    let cuts = Cuts::of(&chunks(items, block));
    // So that a plain thread switches to a fiber once, not for each pass.
    scope(|scope| {
        let begun = chunks(&items[..blocks_but_last * block], block);
        let mut totals = mapped(scope, begun, &cuts, &|block: &[T]| total(block, &op));
        run_up(&mut totals, None, &op);
        let before: Vec<_> = [None].into_iter().chain(totals.iter().map(Some)).collect();
        let blocks = (chunks_mut(items, block), before.parts());
        each_of(scope, blocks, &cuts, &|(block, before): (&mut [T], _)| {
            run_up(block, before, &op);
        });
    });
}

/// Combines a block of two items or more by `op`.
fn total<T>(block: &[T], op: impl Fn(&T, &T) -> T) -> T {
    let first = op(&block[0], &block[1]);
    block[2..].iter().fold(first, |sum, item| op(&sum, item))
}

/// [`scan`] of one block, after `before`.
fn run_up<T>(block: &mut [T], before: Option<&T>, op: impl Fn(&T, &T) -> T) {
    let Some((first, others)) = block.split_first_mut() else {
        return;
    };
    if let Some(before) = before {
        *first = op(before, first);
    }
    let mut last = &*first;
    for item in others {
        *item = op(last, item);
        last = item;
    }
}
