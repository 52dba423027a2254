//! A merge sort with runs and merges as jobs.
//!
//! Owns: which part is sorted in which memory. Does not own: the memories, which
//! guarantee that no item is lost or duplicated when a comparison panics, and the merge
//! of two runs (`merge`); the sort of one (`std`).
//!
//! ```text
//!   items    [ run ][ run ][ run ][ run ]      each sorted in its place
//!                ╲  ╱          ╲  ╱            merged into the other memory
//!   scratch  [    half     ][    half     ]
//!                     ╲     ╱                  merged back
//!   items    [           sorted           ]
//! ```

use std::cmp::Ordering;
use std::panic::Location;

use super::merge::{Moved, Part, merge_aside, merge_back, with_scratch};
use crate::par::{Scope, scope};
use crate::runtime::Handle;

/// Sorts `items`, with `sort` for runs, which must sort by `compare`.
#[track_caller]
pub(super) fn merge_sort<T: Send>(
    items: &mut [T],
    sort: &(impl Fn(&mut [T]) + Sync),
    compare: &(impl Fn(&T, &T) -> Ordering + Sync),
) {
    if size_of::<T>() == 0 {
        // Items of size zero look the same in any order, and `merge` needs a size.
        return;
    }
    let run = run_length(items.len());
    let at = Location::caller();
    let less = |a: &T, b: &T| compare(a, b) == Ordering::Less;
    scope(|scope| {
        if items.len() <= run {
            return sort(items);
        }
        if items.is_sorted_by(|a, b| !less(b, a)) {
            return;
        }
        if items.is_sorted_by(|a, b| less(b, a)) {
            return items.reverse();
        }
        let sorting = Sorting {
            at,
            run,
            sort,
            less: &less,
        };
        with_scratch(items, |all| {
            in_place(scope, all, &sorting);
        });
    });
}

/// The parameters of a sort.
struct Sorting<'a, F, L> {
    /// The caller's location.
    at: &'static Location<'static>,
    /// The longest run that is not cut.
    run: usize,
    sort: &'a F,
    less: &'a L,
}

/// Sorts a part; the result is in the items' memory.
fn in_place<'memory, T: Send>(
    scope: &mut Scope<'_>,
    mut part: Part<'memory, T>,
    sorting: &Sorting<'_, impl Fn(&mut [T]) + Sync, impl Fn(&T, &T) -> bool + Sync>,
) -> Part<'memory, T> {
    if part.len() <= sorting.run {
        (sorting.sort)(part.items());
        return part;
    }
    let (left, right) = part.halves();
    let (left, right) = scope.join_at(
        sorting.at,
        |scope| aside(scope, left, sorting),
        |scope| aside(scope, right, sorting),
    );
    merge_back(scope, sorting.at, [left, right], sorting.less)
}

/// Sorts a part; the result is in the scratch memory.
fn aside<'memory, T: Send>(
    scope: &mut Scope<'_>,
    mut part: Part<'memory, T>,
    sorting: &Sorting<'_, impl Fn(&mut [T]) + Sync, impl Fn(&T, &T) -> bool + Sync>,
) -> Moved<'memory, T> {
    if part.len() <= sorting.run {
        (sorting.sort)(part.items());
        return part.moved();
    }
    let (left, right) = part.halves();
    let (left, right) = scope.join_at(
        sorting.at,
        |scope| in_place(scope, left, sorting),
        |scope| in_place(scope, right, sorting),
    );
    merge_aside(scope, sorting.at, [left, right], sorting.less)
}

/// Returns the longest run that one worker sorts by itself: a quarter of a worker's
/// share, so that workers that end early find more work. With one worker, `len`.
fn run_length(len: usize) -> usize {
    match Handle::current().pool().workers() {
        0 | 1 => len,
        workers => (len / (RUNS * workers)).max(SHORTEST_RUN),
    }
}

/// Runs for each worker; each doubling adds a round of merges.
const RUNS: usize = 4;

/// Arbitrary: some tens of microseconds of work for numbers.
const SHORTEST_RUN: usize = 2048;
