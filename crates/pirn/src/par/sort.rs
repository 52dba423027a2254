//! Sorting.
//!
//! Owns: the functions for all ways to say an order. The work is `merge_sort`'s.

use std::cmp::Ordering;

use super::merge_sort::merge_sort;

/// Sorts `items`; equal ones stay in their order.
///
/// ```
/// use pirn::par;
///
/// let mut words = ["pear", "apple", "fig"];
/// par::sort(&mut words);
/// assert_eq!(words, ["apple", "fig", "pear"]);
/// ```
///
/// # Complexity
/// O(n log n) comparisons, O(n) if the items are sorted already, in either direction; and
/// memory for as many items again. A merge sort: `std`'s sort for a few runs for each
/// worker, which are merged in pairs by all, each merge cut where the halves of one side
/// would stand in the other (Cormen et al., "Introduction to Algorithms", 27.3). With one
/// worker it is `std`'s sort.
///
/// # Panics
/// With the panic of a comparison, when all other work has ended; or if the order is
/// found to be none. The items are the same as before then, in any order.
///
/// # Cancellation
/// Not an interruption point, but comparisons may have some.
///
/// # Blocking
/// Like [`for_each`](super::for_each). A run is sorted in one go: its worker does nothing
/// else meanwhile.
#[track_caller]
pub fn sort<T: Ord + Send>(items: &mut [T]) {
    sort_by(items, T::cmp);
}

/// Sorts `items` by the order that `compare` says; equal ones stay in their order.
///
/// ```
/// use pirn::par;
///
/// let mut weights = [2.5, -1.0, 7.25];
/// par::sort_by(&mut weights, |a: &f64, b| b.total_cmp(a));
/// assert_eq!(weights, [7.25, 2.5, -1.0]);
/// ```
///
/// # Panics
/// Like [`sort`]; so are complexity, cancellation and blocking.
#[track_caller]
pub fn sort_by<T: Send>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering + Sync) {
    merge_sort(items, &|run: &mut [T]| run.sort_by(&compare), &compare);
}

/// Sorts `items` by what `key` says of them; equal ones stay in their order. `key` is
/// called for each comparison.
///
/// ```
/// use pirn::par;
///
/// let mut words = ["three", "of", "four", "as"];
/// par::sort_by_key(&mut words, |word| word.len());
/// assert_eq!(words, ["of", "as", "four", "three"]);
/// ```
///
/// # Panics
/// Like [`sort`]; so are complexity, cancellation and blocking.
#[track_caller]
pub fn sort_by_key<T: Send, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K + Sync) {
    sort_by(items, |a, b| key(a).cmp(&key(b)));
}

/// Sorts `items`; equal ones may change places. Often faster than [`sort`], but not where
/// there is order already, and, unlike `std`'s, with memory for as many items again.
///
/// ```
/// use pirn::par;
///
/// let mut numbers = [5, -3, 8, 0];
/// par::sort_unstable(&mut numbers);
/// assert_eq!(numbers, [-3, 0, 5, 8]);
/// ```
///
/// # Panics
/// Like [`sort`]; so are complexity, cancellation and blocking.
#[track_caller]
pub fn sort_unstable<T: Ord + Send>(items: &mut [T]) {
    sort_unstable_by(items, T::cmp);
}

/// Sorts `items` by the order that `compare` says; equal ones may change places.
///
/// ```
/// use pirn::par;
///
/// let mut numbers = [5, -3, 8, 0];
/// par::sort_unstable_by(&mut numbers, |a, b| b.cmp(a));
/// assert_eq!(numbers, [8, 5, 0, -3]);
/// ```
///
/// # Panics
/// Like [`sort`]; so are complexity, cancellation and blocking.
#[track_caller]
pub fn sort_unstable_by<T: Send>(
    items: &mut [T],
    compare: impl Fn(&T, &T) -> Ordering + Sync,
) {
    merge_sort(
        items,
        &|run: &mut [T]| run.sort_unstable_by(&compare),
        &compare,
    );
}

/// Sorts `items` by what `key` says of them; equal ones may change places. `key` is
/// called for each comparison.
///
/// ```
/// use pirn::par;
///
/// let mut numbers = [5, -3, 8, 0_i32];
/// par::sort_unstable_by_key(&mut numbers, |n| n.abs());
/// assert_eq!(numbers, [0, -3, 5, 8]);
/// ```
///
/// # Panics
/// Like [`sort`]; so are complexity, cancellation and blocking.
#[track_caller]
pub fn sort_unstable_by_key<T: Send, K: Ord>(
    items: &mut [T],
    key: impl Fn(&T) -> K + Sync,
) {
    sort_unstable_by(items, |a, b| key(a).cmp(&key(b)));
}
