//! Results that each worker writes directly to their final places, in order.
//!
//! Owns: [`filled`], the slots that are cut along with the items, and the record of which
//! are full. Does not own: the code that fills them (`map`, `reduce`).
//!
//! # Invariants
//! * PF1: a [`Slots`] is `len` places for an `R` from `start` on, in one allocation that
//!   outlives `'buffer`; they are uninitialized and belong to this value alone.
//! * PF2: a [`Filled`] is the first `made` places from `start` on of what one or several
//!   neighboring [`Slots`] were; they are initialized, and the results are its own.
//! * PF3: the lifetime `'buffer` belongs to one call of [`filled`] only, and is
//!   invariant. So every value with it belongs to that call's buffer.

use std::any::type_name;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr;

use super::Split;

/// Uninitialized places for results.
pub(super) struct Slots<'buffer, R> {
    start: *mut R,
    len: usize,
    /// Type name of the `Split`, for the panic message when `len` is wrong.
    run: &'static str,
    buffer: Buffer<'buffer>,
}

/// Results in their places. Drops them, unless they have become part of others or of the
/// vector.
pub(super) struct Filled<'buffer, R> {
    start: *mut R,
    made: usize,
    buffer: Buffer<'buffer>,
}

/// Names the buffer that a value belongs to (PF3).
type Buffer<'buffer> = PhantomData<fn(&'buffer ()) -> &'buffer ()>;

// SAFETY: PF1: the places are its own, and sending it sends the results.
unsafe impl<R: Send> Send for Slots<'_, R> {}
// SAFETY: PF2: as above.
unsafe impl<R: Send> Send for Filled<'_, R> {}

/// Returns a vector with one result for each of `items`. `fill` writes them to the slots
/// that it receives along with the items.
///
/// # Panics
/// If `fill` does, or leaves slots empty. Results made so far are dropped.
pub(super) fn filled<S: Split, R, E>(
    items: S,
    fill: impl for<'buffer> FnOnce(S, Slots<'buffer, R>) -> Result<Filled<'buffer, R>, E>,
) -> Result<Vec<R>, E> {
    let (len, run) = (items.len(), type_name::<S>());
    let mut results = Vec::with_capacity(len);
    let start = results.as_mut_ptr();
    let slots = Slots {
        start,
        len,
        run,
        buffer: PhantomData,
    };
    let full = fill(items, slots)?;
    assert!(full.start == start && full.made == len, "{run}{FEWER}");
    let _ = ManuallyDrop::new(full);
    // SAFETY: PF2, PF3: they are the first `len` of this buffer, and their owner is gone.
    unsafe { results.set_len(len) };
    Ok(results)
}

impl<'buffer, R> Slots<'buffer, R> {
    /// Writes the results of `make` to the slots, one for each.
    ///
    /// # Panics
    /// If there are fewer results.
    pub(super) fn fill(self, make: impl Iterator<Item = R>) -> Filled<'buffer, R> {
        let filled = self.try_fill(make.map(Ok::<R, std::convert::Infallible>));
        let Ok(filled) = filled;
        filled
    }

    /// Writes the results of `make` to the slots, one for each, up to the first error.
    ///
    /// # Panics
    /// If there are fewer results.
    pub(super) fn try_fill<E>(
        self,
        make: impl Iterator<Item = Result<R, E>>,
    ) -> Result<Filled<'buffer, R>, E> {
        let mut filled = Filled {
            start: self.start,
            made: 0,
            buffer: self.buffer,
        };
        // UNWIND: `filled` drops the results made so far.
        for (at, result) in (0..self.len).zip(make) {
            // SAFETY: PF1: `at` is less than `len`.
            let slot = unsafe { self.start.add(at) };
            // SAFETY: PF1: the place is ours.
            unsafe { slot.write(result?) };
            filled.made = at + 1;
        }
        assert!(filled.made == self.len, "{}{FEWER}", self.run);
        Ok(filled)
    }
}

impl<'buffer, R> Filled<'buffer, R> {
    /// Combines these results with those in the next places.
    ///
    /// # Panics
    /// If `next` is not directly behind these.
    pub(super) fn followed_by(mut self, next: Filled<'buffer, R>) -> Filled<'buffer, R> {
        let follows = self.start.wrapping_add(self.made) == next.start;
        assert!(
            follows,
            "results of a run that are put together out of order"
        );
        // PF2: they are adjacent, in one allocation by PF3; `next` no longer exists.
        self.made += ManuallyDrop::new(next).made;
        self
    }
}

impl<R> Drop for Filled<'_, R> {
    fn drop(&mut self) {
        let results = ptr::slice_from_raw_parts_mut(self.start, self.made);
        // SAFETY: PF2: they are this value's, which ends here.
        unsafe { results.drop_in_place() };
    }
}

/// Slots are cut like the items of their results.
impl<R: Send> Split for Slots<'_, R> {
    type Item = Self;

    fn len(&self) -> usize {
        self.len
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        assert!(index <= self.len, "{index} is outside of the slots");
        let right = Slots {
            // SAFETY: PF1: not beyond the end of the slots.
            start: unsafe { self.start.add(index) },
            len: self.len - index,
            ..self
        };
        let left = Slots { len: index, ..self };
        (left, right)
    }

    fn each(self, mut f: impl FnMut(Self)) {
        let mut rest = self;
        while rest.len > 0 {
            let (first, others) = rest.split_at(1);
            f(first);
            rest = others;
        }
    }
}

const FEWER: &str = " has fewer items than its `len` says";
