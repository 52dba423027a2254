//! [`Split`] for ranges of integers.
//!
//! Owns: the implementations for `Range` and `RangeInclusive` of every integer type.

use std::ops::{Range, RangeInclusive};

use crate::par::Split;

macro_rules! integers {
    ($($integer:ty)*) => {$(
        impl Split for Range<$integer> {
            type Item = $integer;

            #[track_caller]
            fn len(&self) -> usize {
                if self.start < self.end { between(self.end.abs_diff(self.start)) } else { 0 }
            }

            fn split_at(self, index: usize) -> (Self, Self) {
                assert!(index <= Split::len(&self), "{index} is outside of the range");
                // The distance of two numbers may exceed their own type. Modulo its size,
                // the sum is still right.
                let middle = self.start.wrapping_add(index as $integer);
                (self.start..middle, middle..self.end.max(middle))
            }

            fn each(self, f: impl FnMut($integer)) {
                self.for_each(f);
            }

            fn items(self) -> impl Iterator<Item = $integer> {
                self
            }
        }

        impl Split for RangeInclusive<$integer> {
            type Item = $integer;

            #[track_caller]
            fn len(&self) -> usize {
                if RangeInclusive::is_empty(self) {
                    return 0;
                }
                let steps = between(self.end().abs_diff(*self.start()));
                steps.checked_add(1).expect(MORE)
            }

            fn split_at(self, index: usize) -> (Self, Self) {
                let len = Split::len(&self);
                assert!(index <= len, "{index} is outside of the range");
                let nothing = RangeInclusive::new(1, 0);
                if index == 0 {
                    return (nothing, self);
                }
                if index == len {
                    return (self, nothing);
                }
                let (start, end) = self.into_inner();
                let middle = start.wrapping_add(index as $integer);
                (start..=middle - 1, middle..=end)
            }

            fn each(self, f: impl FnMut($integer)) {
                self.for_each(f);
            }

            fn items(self) -> impl Iterator<Item = $integer> {
                self
            }
        }
    )*};
}

integers! { u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize }

/// Returns the distance of two numbers as a number of items.
///
/// # Panics
/// If it is more than a `usize` counts.
#[inline]
#[track_caller]
fn between(distance: impl TryInto<usize>) -> usize {
    distance.try_into().ok().expect(MORE)
}

const MORE: &str = "the range has more than `usize::MAX` items";
