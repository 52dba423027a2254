//! A merge sort with runs and merges as jobs.
//!
//! Owns: which part is sorted in which memory; the guarantee that no item is lost or
//! duplicated when a comparison panics. Does not own: the merge of two runs (`merge`),
//! the sort of one (`std`).
//!
//! ```text
//!   items    [ run ][ run ][ run ][ run ]      each sorted in its place
//!                ╲  ╱          ╲  ╱            merged into the other memory
//!   scratch  [    half     ][    half     ]
//!                     ╲     ╱                  merged back
//!   items    [           sorted           ]
//! ```
//!
//! # Invariants
//! * PM1: [`Parts`] are two [`Stretch`]es: the same part of the items' memory and of the
//!   scratch memory. No other code accesses either during the work on them, and both
//!   outlive it.
//! * PM2: when [`in_place`] and [`aside`] begin, and when they end by a panic, each item
//!   is once in the items' memory. A merge only reads its source, so the items are there
//!   until it has ended.
//! * PM3: while a [`Moved`] has not been released, the items of its part are in the
//!   scratch memory; its drop moves them back.

use std::cmp::Ordering;
use std::panic::Location;

use super::merge::{Stretch, merge};
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
        // Items of size zero look the same in any order, and `merge` needs a size (PG1).
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
        let mut scratch = Vec::with_capacity(items.len());
        let parts = Parts {
            items: Stretch::of(items),
            scratch: Stretch::at(scratch.as_mut_ptr(), items.len()),
        };
        let sorting = Sorting {
            at,
            run,
            sort,
            less: &less,
        };
        // SAFETY: PM1: both are borrowed or owned here. PM2: they are in `items`.
        unsafe { in_place(scope, parts, &sorting) };
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

/// The same part of both memories (PM1).
struct Parts<T> {
    items: Stretch<T>,
    scratch: Stretch<T>,
}

impl<T> Parts<T> {
    fn halves(self) -> (Parts<T>, Parts<T>) {
        let middle = self.items.len() / 2;
        let (items, items_right) = self.items.split_at(middle);
        let (scratch, scratch_right) = self.scratch.split_at(middle);
        let right = Parts {
            items: items_right,
            scratch: scratch_right,
        };
        (Parts { items, scratch }, right)
    }
}

impl<T> Clone for Parts<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Parts<T> {}

/// Items that are in the scratch memory (PM3).
struct Moved<T>(Option<Parts<T>>);

impl<T> Moved<T> {
    /// Marks the items as no longer in the scratch memory.
    fn let_go(mut self) {
        self.0 = None;
    }
}

impl<T> Drop for Moved<T> {
    fn drop(&mut self) {
        if let Some(Parts { items, scratch }) = self.0 {
            // SAFETY: PM1: the same length, in two memories. PM3: the items are
            // initialized.
            unsafe { scratch.copy_to(items) };
        }
    }
}

/// Sorts a part; the result is in the items' memory.
///
/// # Safety
/// PM1, and PM2: the items are there.
unsafe fn in_place<T: Send>(
    scope: &mut Scope<'_>,
    parts: Parts<T>,
    sorting: &Sorting<'_, impl Fn(&mut [T]) + Sync, impl Fn(&T, &T) -> bool + Sync>,
) {
    let Parts { items, .. } = parts;
    if items.len() <= sorting.run {
        // SAFETY: PM1, PM2. `std`'s sort keeps PM2 when it unwinds.
        return (sorting.sort)(unsafe { items.as_mut() });
    }
    let (left, right) = parts.halves();
    let (left_moved, right_moved) = scope.join_at(
        sorting.at,
        // SAFETY: PM1: halves are disjoint. PM2 holds for the whole, so for each half.
        |scope| unsafe { aside(scope, left, sorting) },
        // SAFETY: as above.
        |scope| unsafe { aside(scope, right, sorting) },
    );
    let sorted = [left.scratch, right.scratch];
    // SAFETY: PM3: both are initialized. PM1: the destination is the other memory.
    unsafe { merge(scope, sorting.at, sorted, items, sorting.less) };
    left_moved.let_go();
    right_moved.let_go();
}

/// Sorts a part; the result is in the scratch memory.
///
/// # Safety
/// PM1, and PM2: the items are in the items' memory.
unsafe fn aside<T: Send>(
    scope: &mut Scope<'_>,
    parts: Parts<T>,
    sorting: &Sorting<'_, impl Fn(&mut [T]) + Sync, impl Fn(&T, &T) -> bool + Sync>,
) -> Moved<T> {
    let Parts { items, scratch } = parts;
    if items.len() <= sorting.run {
        // SAFETY: PM1, PM2. `std`'s sort keeps PM2 when it unwinds.
        (sorting.sort)(unsafe { items.as_mut() });
        // SAFETY: PM1: the same length, in the other memory.
        unsafe { items.copy_to(scratch) };
        return Moved(Some(parts));
    }
    let (left, right) = parts.halves();
    scope.join_at(
        sorting.at,
        // SAFETY: PM1: halves are disjoint. PM2 holds for the whole, so for each half.
        |scope| unsafe { in_place(scope, left, sorting) },
        // SAFETY: as above.
        |scope| unsafe { in_place(scope, right, sorting) },
    );
    let sorted = [left.items, right.items];
    // SAFETY: PM2: both are initialized. PM1: the destination is the other memory.
    unsafe { merge(scope, sorting.at, sorted, scratch, sorting.less) };
    Moved(Some(parts))
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
