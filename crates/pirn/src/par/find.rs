//! Searching for an item.
//!
//! Owns: [`find_any`].

use super::divide::{Cuts, spread};
use super::{Split, scope};

/// Returns an item of `items` for which `wanted` is true, if there is one.
///
/// Of those found it is the first by position, which need not be the first of all. Once
/// one is found, no worker begins a further piece of items. A piece has at most 4,096
/// items, or fewer than two [grains](Split::grain) if that is more.
///
/// # Complexity
/// Like [`for_each`](super::for_each) if there is none; else the items that all workers
/// examined before the find.
///
/// # Panics
/// With the panic of a `wanted`, when all other work has ended. Or at once, if there are
/// more items than a `usize` counts: search `0..=u64::MAX` in two calls.
///
/// # Cancellation
/// Not an interruption point, but `wanted` may contain some.
///
/// # Blocking
/// Like [`for_each`](super::for_each).
///
/// # Examples
/// ```
/// use pirn::par;
///
/// let square = par::find_any(1..10_000u64, |n| n * n == 1_522_756);
/// assert_eq!(square, Some(1_234));
/// ```
#[must_use = "what was found is all that comes of it"]
#[track_caller]
pub fn find_any<S: Split>(
    items: S,
    wanted: impl Fn(&S::Item) -> bool + Sync,
) -> Option<S::Item> {
    let items = items.parts();
    let cuts = Cuts::of(&items);
    scope(|scope| {
        spread(
            scope,
            items,
            &cuts,
            &|piece| {
                if cuts.is_over() {
                    return None;
                }
                let found = piece.items().find(&wanted);
                found.inspect(|_| cuts.end())
            },
            &Option::or,
        )
    })
}
