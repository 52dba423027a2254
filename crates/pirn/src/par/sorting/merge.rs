//! Merging two sorted runs.
//!
//! Owns: how a merge is cut into jobs, and the loop of one job. Does not own: the
//! ownership of the items (`merge_sort`). A merge copies, and does not change its source.
//!
//! # Invariants
//! * PG1: a [`Stretch`] is `len` places in one allocation. Items have a nonzero size:
//!   `merge_sort` merges no others.

use std::panic::Location;
use std::ptr;

use crate::par::Scope;

/// A part of the memory for items (PG1). Its user knows which places are initialized, and
/// which code may access them.
pub(super) struct Stretch<T> {
    start: *mut T,
    len: usize,
}

// SAFETY: a pointer and a number; the code that accesses memory through it argues for
// itself.
unsafe impl<T: Send> Send for Stretch<T> {}
// SAFETY: as above: it is read by value only.
unsafe impl<T: Send> Sync for Stretch<T> {}

impl<T> Clone for Stretch<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Stretch<T> {}

impl<T> Stretch<T> {
    pub(super) fn of(items: &mut [T]) -> Stretch<T> {
        Stretch::at(items.as_mut_ptr(), items.len())
    }

    /// Returns `len` places from `start` on, in one allocation.
    pub(super) fn at(start: *mut T, len: usize) -> Stretch<T> {
        Stretch { start, len }
    }

    pub(super) fn len(self) -> usize {
        self.len
    }

    /// Returns the first `index` places, and the others.
    pub(super) fn split_at(self, index: usize) -> (Stretch<T>, Stretch<T>) {
        assert!(index <= self.len, "{index} is outside of the stretch");
        // PG1: so it stays in the allocation.
        let right = Stretch::at(self.start.wrapping_add(index), self.len - index);
        (Stretch::at(self.start, index), right)
    }

    /// Copies the items of this stretch to `to`.
    ///
    /// # Safety
    /// The two stretches are disjoint and of equal length, and no other code accesses
    /// them meanwhile.
    pub(super) unsafe fn copy_to(self, to: Stretch<T>) {
        // SAFETY: by contract.
        unsafe { ptr::copy_nonoverlapping(self.start, to.start, self.len) };
    }

    /// # Safety
    /// The places are initialized, and no code changes them during `'a`.
    unsafe fn as_ref<'a>(self) -> &'a [T] {
        // SAFETY: by contract; PG1.
        unsafe { std::slice::from_raw_parts(self.start, self.len) }
    }

    /// # Safety
    /// The places are initialized, and no other code accesses them during `'a`.
    pub(super) unsafe fn as_mut<'a>(self) -> &'a mut [T] {
        // SAFETY: by contract; PG1.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.len) }
    }
}

/// Merges the sorted `left` and `right` into `to`; of equal items those of `left` come
/// first. Joins are attributed to `at`. If `less` panics, it is unknown which items have
/// been copied.
///
/// # Safety
/// `left` and `right` are initialized, and no code changes them meanwhile. `to` has as
/// many places, apart from them, which no other code accesses meanwhile.
pub(super) unsafe fn merge<T: Send>(
    scope: &mut Scope<'_>,
    at: &'static Location<'static>,
    [left, right]: [Stretch<T>; 2],
    to: Stretch<T>,
    less: &(impl Fn(&T, &T) -> bool + Sync),
) {
    if left.len + right.len <= BLOCK {
        // SAFETY: by contract.
        return unsafe { merge_block(left, right, to.start, less) };
    }
    // SAFETY: by contract.
    let left_items = unsafe { left.as_ref() };
    // SAFETY: by contract.
    let right_items = unsafe { right.as_ref() };
    let (left_cut, right_cut) = if left.len >= right.len {
        let cut = left.len / 2;
        let pivot = &left_items[cut];
        (cut, right_items.partition_point(|item| less(item, pivot)))
    } else {
        let cut = right.len / 2;
        let pivot = &right_items[cut];
        (left_items.partition_point(|item| !less(pivot, item)), cut)
    };
    let (left, left_after) = left.split_at(left_cut);
    let (right, right_after) = right.split_at(right_cut);
    let (to, to_after) = to.split_at(left_cut + right_cut);
    scope.join_at(
        at,
        // SAFETY: by contract; the stretches are disjoint, and so are their destinations.
        |scope| unsafe { merge(scope, at, [left, right], to, less) },
        // SAFETY: as above.
        |scope| unsafe { merge(scope, at, [left_after, right_after], to_after, less) },
    );
}

/// [`merge`], by one worker: from both ends at a time, which keeps two independent chains
/// of comparisons in flight.
///
/// # Safety
/// Like [`merge`].
unsafe fn merge_block<T>(
    left: Stretch<T>,
    right: Stretch<T>,
    to: *mut T,
    less: &impl Fn(&T, &T) -> bool,
) {
    let mut end = to.wrapping_add(left.len + right.len);
    let (mut left, mut right, mut to) = (Rest::of(left), Rest::of(right), to);
    loop {
        // This many from either end: neither run is exhausted, whatever `less` returns.
        let rounds = left.len().min(right.len()) / 2;
        if rounds == 0 {
            break;
        }
        for _ in 0..rounds {
            // SAFETY: both have items; there is a place for each that is left.
            unsafe { take_first(&mut left, &mut right, to, less) };
            to = to.wrapping_add(1);
            end = end.wrapping_sub(1);
            // SAFETY: as above.
            unsafe { take_last(&mut left, &mut right, end, less) };
        }
    }
    while left.len() > 0 && right.len() > 0 {
        // SAFETY: as above.
        unsafe { take_first(&mut left, &mut right, to, less) };
        to = to.wrapping_add(1);
    }
    // SAFETY: there are places for the rest, and one of the runs is empty.
    unsafe { ptr::copy_nonoverlapping(left.first, to, left.len()) };
    to = to.wrapping_add(left.len());
    // SAFETY: as above.
    unsafe { ptr::copy_nonoverlapping(right.first, to, right.len()) };
}

/// The unmerged rest of a run: the items from `first` to before `end`.
struct Rest<T> {
    first: *const T,
    end: *const T,
}

impl<T> Rest<T> {
    fn of(run: Stretch<T>) -> Rest<T> {
        Rest {
            first: run.start,
            end: run.start.wrapping_add(run.len),
        }
    }

    fn len(&self) -> usize {
        // PG1: not by 0.
        (self.end.addr() - self.first.addr()) / size_of::<T>()
    }
}

/// Copies the lesser of both first items to `to`; of equal ones, the left one. Without a
/// branch, which would be unpredictable.
///
/// # Safety
/// Both runs have items; `to` is a place apart from them.
#[inline(always)]
unsafe fn take_first<T>(
    left: &mut Rest<T>,
    right: &mut Rest<T>,
    to: *mut T,
    less: &impl Fn(&T, &T) -> bool,
) {
    // SAFETY: by contract.
    let l = unsafe { &*left.first };
    // SAFETY: by contract.
    let r = unsafe { &*right.first };
    let right_is_less = less(r, l);
    let from = if right_is_less {
        right.first
    } else {
        left.first
    };
    // SAFETY: by contract.
    unsafe { ptr::copy_nonoverlapping(from, to, 1) };
    right.first = right.first.wrapping_add(usize::from(right_is_less));
    left.first = left.first.wrapping_add(usize::from(!right_is_less));
}

/// Copies the greater of both last items to `to`; of equal ones, the right one.
///
/// # Safety
/// Like [`take_first`].
#[inline(always)]
unsafe fn take_last<T>(
    left: &mut Rest<T>,
    right: &mut Rest<T>,
    to: *mut T,
    less: &impl Fn(&T, &T) -> bool,
) {
    let (last_l, last_r) = (left.end.wrapping_sub(1), right.end.wrapping_sub(1));
    // SAFETY: by contract.
    let l = unsafe { &*last_l };
    // SAFETY: by contract.
    let r = unsafe { &*last_r };
    let right_is_less = less(r, l);
    let from = if right_is_less { last_l } else { last_r };
    // SAFETY: by contract.
    unsafe { ptr::copy_nonoverlapping(from, to, 1) };
    left.end = left.end.wrapping_sub(usize::from(right_is_less));
    right.end = right.end.wrapping_sub(usize::from(!right_is_less));
}

/// The most items that are merged between two checks of the heartbeat: 10 µs of work for
/// numbers.
const BLOCK: usize = 8192;
