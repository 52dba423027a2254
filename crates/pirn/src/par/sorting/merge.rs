//! Merging two sorted runs.
//!
//! Owns: the two memories that a merge sort moves items between, how a merge is cut into
//! jobs, and the loop of one job. Does not own: which part is sorted in which memory
//! (`merge_sort`). A merge copies, and does not change its source.
//!
//! # Invariants
//! * PG1: a [`Stretch`] is `len` places in one allocation. Items have a nonzero size.
//! * MS1: a [`Part`] is the same part of the items' memory and of the scratch memory.
//!   Both are borrowed for the call of [`with_scratch`], and are this value's alone.
//! * MS2: when a function that takes parts begins, and when it ends by a panic, each item
//!   is once in the items' memory. A merge only reads its source, so the items are there
//!   until it has ended.
//! * MS3: the items of a [`Moved`] are in the scratch memory too, sorted by the caller or
//!   by a merge; its drop copies them back.
//! * MS4: the lifetime `'memory` belongs to one call of [`with_scratch`] only, and is
//!   invariant. So parts with it belong to the same two memories.

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::panic::Location;
use std::ptr;

use crate::par::Scope;

/// A part of the memory for items (PG1). Its user knows which places are initialized, and
/// which code may access them.
struct Stretch<T> {
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
    /// Returns `len` places from `start` on, in one allocation.
    fn at(start: *mut T, len: usize) -> Stretch<T> {
        Stretch { start, len }
    }

    /// Returns the first `index` places, and the others.
    fn split_at(self, index: usize) -> (Stretch<T>, Stretch<T>) {
        assert!(index <= self.len, "{index} is outside of the stretch");
        // PG1: so it stays in the allocation.
        let right = Stretch::at(self.start.wrapping_add(index), self.len - index);
        (Stretch::at(self.start, index), right)
    }

    /// Undoes [`split_at`](Self::split_at).
    ///
    /// # Panics
    /// If `next` is not directly behind this stretch.
    fn followed_by(self, next: Stretch<T>) -> Stretch<T> {
        let follows = self.start.wrapping_add(self.len) == next.start;
        assert!(follows, "halves that are put together out of order");
        Stretch::at(self.start, self.len + next.len)
    }

    /// Copies the items of this stretch to `to`.
    ///
    /// # Safety
    /// The two stretches are disjoint and of equal length, and no other code accesses
    /// them meanwhile.
    unsafe fn copy_to(self, to: Stretch<T>) {
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
    unsafe fn as_mut<'a>(self) -> &'a mut [T] {
        // SAFETY: by contract; PG1.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.len) }
    }
}

/// Some of the items, in their own memory, with as much of the scratch memory (MS1).
pub(super) struct Part<'memory, T> {
    items: Stretch<T>,
    scratch: Stretch<T>,
    memory: Memory<'memory>,
}

/// A part with its items in the scratch memory (MS3).
pub(super) struct Moved<'memory, T>(Part<'memory, T>);

/// Names the two memories (MS4).
type Memory<'memory> = PhantomData<fn(&'memory ()) -> &'memory ()>;

/// Calls `f` with all of `items`, and scratch memory for them.
///
/// # Panics
/// If items have no size.
pub(super) fn with_scratch<T, R>(
    items: &mut [T],
    f: impl for<'memory> FnOnce(Part<'memory, T>) -> R,
) -> R {
    assert!(size_of::<T>() > 0, "PG1: items have a size");
    let mut scratch = Vec::<T>::with_capacity(items.len());
    f(Part {
        items: Stretch::at(items.as_mut_ptr(), items.len()),
        scratch: Stretch::at(scratch.as_mut_ptr(), items.len()),
        memory: PhantomData,
    })
}

impl<'memory, T> Part<'memory, T> {
    pub(super) fn len(&self) -> usize {
        self.items.len
    }

    pub(super) fn items(&mut self) -> &mut [T] {
        // SAFETY: MS1, MS2.
        unsafe { self.items.as_mut() }
    }

    pub(super) fn halves(self) -> (Part<'memory, T>, Part<'memory, T>) {
        let middle = self.items.len / 2;
        let (items, items_right) = self.items.split_at(middle);
        let (scratch, scratch_right) = self.scratch.split_at(middle);
        let right = Part {
            items: items_right,
            scratch: scratch_right,
            ..self
        };
        let left = Part {
            items,
            scratch,
            ..self
        };
        (left, right)
    }

    /// Undoes [`halves`](Self::halves).
    ///
    /// # Panics
    /// If `next` is not directly behind this part.
    fn followed_by(self, next: Part<'memory, T>) -> Part<'memory, T> {
        // MS4: in the same two memories.
        Part {
            items: self.items.followed_by(next.items),
            scratch: self.scratch.followed_by(next.scratch),
            ..self
        }
    }

    /// Copies the items to the scratch memory.
    pub(super) fn moved(self) -> Moved<'memory, T> {
        // SAFETY: MS1: the same length, in two memories.
        unsafe { self.items.copy_to(self.scratch) };
        Moved(self)
    }
}

impl<'memory, T> Moved<'memory, T> {
    /// Returns the part without copying its items back. They are in no memory that counts
    /// until the caller has put them into one.
    fn into_part(self) -> Part<'memory, T> {
        let Part {
            items,
            scratch,
            memory,
        } = ManuallyDrop::new(self).0;
        Part {
            items,
            scratch,
            memory,
        }
    }
}

impl<T> Drop for Moved<'_, T> {
    fn drop(&mut self) {
        // SAFETY: MS1: the same length, in two memories. MS3: the items are initialized.
        unsafe { self.0.scratch.copy_to(self.0.items) };
    }
}

/// Merges two sorted neighbors into the scratch memory; of equal items those of `left`
/// come first. Joins are attributed to `at`.
pub(super) fn merge_aside<'memory, T: Send>(
    scope: &mut Scope<'_>,
    at: &'static Location<'static>,
    [left, right]: [Part<'memory, T>; 2],
    less: &(impl Fn(&T, &T) -> bool + Sync),
) -> Moved<'memory, T> {
    let sorted = [left.items, right.items];
    let whole = left.followed_by(right);
    // SAFETY: MS2: both are initialized. MS1: the destination is the other memory.
    unsafe { merge(scope, at, sorted, whole.scratch, less) };
    Moved(whole)
}

/// Merges two sorted neighbors back into the items' memory; as [`merge_aside`].
pub(super) fn merge_back<'memory, T: Send>(
    scope: &mut Scope<'_>,
    at: &'static Location<'static>,
    [left, right]: [Moved<'memory, T>; 2],
    less: &(impl Fn(&T, &T) -> bool + Sync),
) -> Part<'memory, T> {
    let sorted = [left.0.scratch, right.0.scratch];
    let items = left.0.items.followed_by(right.0.items);
    // UNWIND: `left` and `right` copy the items back (MS2).
    // SAFETY: MS3: both are initialized. MS1: the destination is the other memory.
    unsafe { merge(scope, at, sorted, items, less) };
    left.into_part().followed_by(right.into_part())
}

/// Merges the sorted `left` and `right` into `to`; of equal items those of `left` come
/// first. Joins are attributed to `at`. If `less` panics, it is unknown which items have
/// been copied.
///
/// # Safety
/// `left` and `right` are initialized, and no code changes them meanwhile. `to` has as
/// many places, apart from them, which no other code accesses meanwhile.
unsafe fn merge<T: Send>(
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
