//! A vector as a run of its items, by value.
//!
//! Owns: [`Split`] for `Vec`, and [`Owned`], the type that is actually cut: a share of
//! the vector's buffer. Cutting a `Vec` itself would move half of it to new memory.
//!
//! # Invariants
//! * PO1: the `len` items from `start` on are initialized, in the buffer of `buffer`, and
//!   this value's alone; the others in that buffer belong to other values or to none.
//! * PO2: the vector in `buffer` has length 0, so it only frees its memory, and does so
//!   after the last share is gone.

use std::mem;
use std::ptr;
use std::sync::Arc;

use crate::par::Split;

impl<T: Send> Split for Vec<T> {
    type Item = T;

    fn len(&self) -> usize {
        <[T]>::len(self)
    }

    fn split_at(mut self, index: usize) -> (Self, Self) {
        let right = self.split_off(index);
        (self, right)
    }

    fn each(self, f: impl FnMut(T)) {
        self.into_iter().for_each(f);
    }

    fn items(self) -> impl Iterator<Item = T> {
        self.into_iter()
    }

    fn parts(self) -> impl Split<Item = T> {
        Owned::from(self)
    }
}

/// Some of the items of a vector, by value. Items that are not taken are dropped.
struct Owned<T> {
    start: *mut T,
    len: usize,
    buffer: Arc<Buffer<T>>,
}

/// The memory of a vector with items that belong to others.
struct Buffer<T>(#[expect(dead_code, reason = "its drop gives the memory back")] Vec<T>);

// SAFETY: PO1: the items are this value's alone, so to send it is to send them.
unsafe impl<T: Send> Send for Owned<T> {}
// SAFETY: PO2: nothing is reached through it except memory to be freed.
unsafe impl<T: Send> Send for Buffer<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Buffer<T> {}

impl<T> From<Vec<T>> for Owned<T> {
    fn from(mut vec: Vec<T>) -> Self {
        let (start, len) = (vec.as_mut_ptr(), vec.len());
        // SAFETY: 0 is no more than any capacity. PO1: its items are the new value's.
        unsafe { vec.set_len(0) };
        Owned {
            start,
            len,
            buffer: Arc::new(Buffer(vec)),
        }
    }
}

impl<T: Send> Split for Owned<T> {
    type Item = T;

    fn len(&self) -> usize {
        self.len
    }

    fn split_at(mut self, index: usize) -> (Self, Self) {
        assert!(index <= self.len, "{index} is outside of the vector");
        let right = Owned {
            // SAFETY: PO1: not beyond the end of the items.
            start: unsafe { self.start.add(index) },
            len: self.len - index,
            buffer: Arc::clone(&self.buffer),
        };
        self.len = index;
        (self, right)
    }

    fn each(self, f: impl FnMut(T)) {
        self.for_each(f);
    }

    fn items(self) -> impl Iterator<Item = T> {
        self
    }
}

impl<T> Iterator for Owned<T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.len = self.len.checked_sub(1)?;
        let first = self.start;
        // SAFETY: PO1: there was one item more than there are now.
        self.start = unsafe { first.add(1) };
        // SAFETY: PO1: it was this value's, which has just given it up.
        Some(unsafe { first.read() })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.len, Some(self.len))
    }
}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        let items = ptr::slice_from_raw_parts_mut(self.start, mem::take(&mut self.len));
        // SAFETY: PO1: they are this value's, which ends here.
        // UNWIND: the others are still dropped, and the memory after them.
        unsafe { items.drop_in_place() };
    }
}
