//! Sorting.
//!
//! Owns: the functions for all forms of an order. `merge_sort` does the work.

use std::cmp::Ordering;

use super::merge_sort::merge_sort;

/// Sorts `items`; equal ones keep their order.
///
/// # Complexity
/// O(n log n) comparisons, O(n) if the items are already sorted, in either direction; and
/// memory for as many items again. A merge sort: `std`'s sort makes a few runs for each
/// worker, and all workers merge them in pairs. Each merge is cut at the place where the
/// middle of one side would be in the other (Cormen et al., "Introduction to Algorithms",
/// 27.3). With one worker it is `std`'s sort.
///
/// # Panics
/// With the panic of a comparison, when all other work has ended; or if the comparison is
/// found not to be a total order. `items` then has the same items in any order.
///
/// # Cancellation
/// Not an interruption point, but comparisons may contain some.
///
/// # Blocking
/// Like [`for_each`](crate::par::for_each). A run is sorted without a pause: its worker
/// does nothing else meanwhile.
///
/// # Examples
/// ```
/// use pirn::par;
///
/// let mut words = ["pear", "apple", "fig"];
/// par::sort(&mut words);
/// assert_eq!(words, ["apple", "fig", "pear"]);
/// ```
#[doc(alias = "par_sort")]
#[track_caller]
pub fn sort<T: Ord + Send>(items: &mut [T]) {
    sort_by(items, T::cmp);
}

/// Sorts `items` by `compare`; equal ones keep their order.
///
/// # Panics
/// Like [`sort`], as are complexity and blocking.
///
/// # Cancellation
/// Not an interruption point, but `compare` may contain some.
///
/// # Examples
/// ```
/// use pirn::par;
///
/// let mut weights = [2.5, -1.0, 7.25];
/// par::sort_by(&mut weights, |a: &f64, b| b.total_cmp(a));
/// assert_eq!(weights, [7.25, 2.5, -1.0]);
/// ```
#[doc(alias = "par_sort_by")]
#[track_caller]
pub fn sort_by<T: Send>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering + Sync) {
    merge_sort(items, &|run: &mut [T]| run.sort_by(&compare), &compare);
}

/// Sorts `items` by `key`; equal ones keep their order. `key` is called for each
/// comparison.
///
/// # Panics
/// Like [`sort`], as are complexity and blocking.
///
/// # Cancellation
/// Not an interruption point, but `key` may contain some.
///
/// # Examples
/// ```
/// use pirn::par;
///
/// let mut words = ["three", "of", "four", "as"];
/// par::sort_by_key(&mut words, |word| word.len());
/// assert_eq!(words, ["of", "as", "four", "three"]);
/// ```
#[doc(alias = "par_sort_by_key")]
#[track_caller]
pub fn sort_by_key<T: Send, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K + Sync) {
    sort_by(items, |a, b| key(a).cmp(&key(b)));
}

/// Sorts `items`; equal ones may change places. Often faster than [`sort`], but not if
/// the items are partly sorted. Unlike `std`'s, it needs memory for as many items again.
///
/// # Panics
/// Like [`sort`], as are complexity and blocking.
///
/// # Cancellation
/// Not an interruption point, but comparisons may contain some.
///
/// # Examples
/// ```
/// use pirn::par;
///
/// let mut numbers = [5, -3, 8, 0];
/// par::sort_unstable(&mut numbers);
/// assert_eq!(numbers, [-3, 0, 5, 8]);
/// ```
#[doc(alias = "par_sort_unstable")]
#[track_caller]
pub fn sort_unstable<T: Ord + Send>(items: &mut [T]) {
    sort_unstable_by(items, T::cmp);
}

/// Sorts `items` by `compare`; equal ones may change places.
///
/// # Panics
/// Like [`sort`], as are complexity and blocking.
///
/// # Cancellation
/// Not an interruption point, but `compare` may contain some.
///
/// # Examples
/// ```
/// use pirn::par;
///
/// let mut numbers = [5, -3, 8, 0];
/// par::sort_unstable_by(&mut numbers, |a, b| b.cmp(a));
/// assert_eq!(numbers, [8, 5, 0, -3]);
/// ```
#[doc(alias = "par_sort_unstable_by")]
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

/// Sorts `items` by `key`; equal ones may change places. `key` is called for each
/// comparison.
///
/// # Panics
/// Like [`sort`], as are complexity and blocking.
///
/// # Cancellation
/// Not an interruption point, but `key` may contain some.
///
/// # Examples
/// ```
/// use pirn::par;
///
/// let mut numbers = [5, -3, 8, 0_i32];
/// par::sort_unstable_by_key(&mut numbers, |n| n.abs());
/// assert_eq!(numbers, [0, -3, 5, 8]);
/// ```
#[doc(alias = "par_sort_unstable_by_key")]
#[track_caller]
pub fn sort_unstable_by_key<T: Send, K: Ord>(
    items: &mut [T],
    key: impl Fn(&T) -> K + Sync,
) {
    sort_unstable_by(items, |a, b| key(a).cmp(&key(b)));
}
