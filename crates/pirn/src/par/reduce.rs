//! Combining all items into one value.
//!
//! Owns: [`map_reduce`], [`reduce`] and [`sum`]. The order of combination depends only on
//! the number of items and their grain. So results are the same on any number of
//! workers, to the last bit of a float: within a block from left to right, blocks along
//! the tree of `divide::halved`. When the rest of a block is cut at a heartbeat, any free
//! worker maps it, and it is still combined from left to right.

use std::iter::Sum;

use super::divide::{Cuts, halved, in_pieces};
use super::map::map_rest;
use super::{Scope, Split, scope};

/// Maps the items by `map` and combines the results by `op`, in order, beginning with
/// `id()`.
///
/// `op` must be associative, and `id()` its neutral element: `op(id(), x)` is `x`. Both
/// hold nearly for floats, which is enough. The result is the same each time, on any
/// number of workers, because the order of combination depends only on the number of
/// items and their [grain](Split::grain). `id` is called once for each block of items, so
/// it should be cheap.
///
/// # Complexity
/// Like [`for_each`](super::for_each). One worker applies `op` within a block: a 32nd of
/// the items, at most 4,096, but at least the grain.
///
/// # Panics
/// With the panic of a closure, when all other work has ended.
///
/// # Cancellation
/// Not an interruption point, but the closures may contain some.
///
/// # Blocking
/// Like [`for_each`](super::for_each).
///
/// # Examples
/// ```
/// use pirn::par;
///
/// let text = "the quick brown fox jumps over the lazy dog";
/// let words: Vec<&str> = text.split(' ').collect();
/// let longest = par::map_reduce(&words[..], || 0, |word| word.len(), usize::max);
/// assert_eq!(longest, 5);
/// ```
#[doc(alias = "fold")]
#[track_caller]
pub fn map_reduce<S: Split, R: Send>(
    items: S,
    id: impl Fn() -> R + Sync,
    map: impl Fn(S::Item) -> R + Sync,
    op: impl Fn(R, R) -> R + Sync,
) -> R {
    let items = items.parts();
    let cuts = Cuts::of(&items);
    scope(|scope| {
        halved(
            scope,
            items,
            &cuts,
            &|scope, block| folded(scope, block, &cuts, id(), &map, &op),
            &op,
        )
    })
}

/// Combines the items by `op`, in order, beginning with `id()`: [`map_reduce`] without a
/// map.
///
/// # Panics
/// Like [`map_reduce`]. Complexity and blocking are as well.
///
/// # Cancellation
/// Not an interruption point, but the closures may contain some.
///
/// # Examples
/// ```
/// use pirn::par;
///
/// let factorial = par::reduce(1..=20u64, || 1, |a, b| a * b);
/// assert_eq!(factorial, 2_432_902_008_176_640_000);
/// ```
#[track_caller]
pub fn reduce<S: Split>(
    items: S,
    id: impl Fn() -> S::Item + Sync,
    op: impl Fn(S::Item, S::Item) -> S::Item + Sync,
) -> S::Item {
    map_reduce(items, id, |item| item, op)
}

/// Returns the sum of the items, like `Iterator::sum`.
///
/// A sum of floats is the same each time, on any number of workers. It may differ from
/// the sum from left to right; its rounding errors are usually smaller.
///
/// # Panics
/// If addition does, like that of integers that overflow in a debug build.
///
/// # Complexity
/// Like [`map_reduce`]. Blocking is as well.
///
/// # Cancellation
/// Not an interruption point.
///
/// # Examples
/// ```
/// use pirn::par;
///
/// let total: u64 = par::sum(0..1_000_000u64);
/// assert_eq!(total, 499_999_500_000);
/// assert_eq!(par::sum::<_, f64>(&[0.5, 0.25][..]), 0.75);
/// ```
#[track_caller]
pub fn sum<S: Split, R: Send + Sum<S::Item> + Sum<R>>(items: S) -> R {
    let items = items.parts();
    let cuts = Cuts::of(&items);
    // A block is not cut at a heartbeat: at most 4,096 additions, unless a grain asks for
    // more, take a few microseconds.
    scope(|scope| {
        let both = |left, right| [left, right].into_iter().sum();
        halved(scope, items, &cuts, &|_, block| block.items().sum(), &both)
    })
}

/// Maps a block and combines the results by `op` from left to right, beginning with `id`.
fn folded<S: Split, R: Send>(
    scope: &mut Scope<'_>,
    block: S,
    cuts: &Cuts,
    id: R,
    map: &(impl Fn(S::Item) -> R + Sync),
    op: &(impl Fn(R, R) -> R + Sync),
) -> R {
    in_pieces(
        scope,
        block,
        cuts,
        cuts.begin(),
        id,
        |done, piece| piece.items().fold(done, |done, item| op(done, map(item))),
        |scope, done, rest, pace| {
            let made = map_rest(scope, rest, cuts, pace, map);
            made.into_iter().fold(done, op)
        },
    )
}
