//! Atomics with operations that are choices of a simulated run.
//!
//! The types have the names and methods of those in `std::sync::atomic`. With the feature
//! `sim` off, this module is `std::sync::atomic` itself. With it on, the types here are others than
//! those of `std`, so pass them on by this module's names.
//!
//! Simulated runs are sequentially consistent: they show no effect of weak memory orders.
//!
//! # Examples
//! ```
//! use pirn::sim::atomic::{AtomicBool, Ordering};
//!
//! let ready = AtomicBool::new(false);
//! ready.store(true, Ordering::Release);
//! assert!(ready.load(Ordering::Acquire));
//! ```

use std::fmt;
use std::sync::atomic as plain;

pub use std::sync::atomic::{Ordering, compiler_fence, fence};

use super::before;
use crate::base::choice::Operation;

/// Defines an atomic with the operations that all of them have.
macro_rules! atomic {
    ($name:ident $(<$t:ident>)?, $value:ty, $example:literal) => {
        #[doc = concat!("[`std::sync::atomic::", stringify!($name), "`], with a choice before each operation.")]
        ///
        /// # Examples
        /// ```
        #[doc = concat!("use pirn::sim::atomic::{", stringify!($name), ", Ordering};")]
        ///
        #[doc = concat!("let atomic = ", stringify!($name), "::new(", $example, ");")]
        /// let before = atomic.swap(atomic.load(Ordering::Relaxed), Ordering::Relaxed);
        /// assert_eq!(atomic.into_inner(), before);
        /// ```
        #[derive(Default)]
        #[repr(transparent)]
        pub struct $name $(<$t>)? (plain::$name $(<$t>)?);

        impl $(<$t>)? $name $(<$t>)? {
            /// Creates an atomic with this value.
            #[inline]
            pub const fn new(value: $value) -> Self {
                Self(plain::$name::new(value))
            }

            fn address(&self) -> usize {
                (&raw const self.0).addr()
            }

            #[inline]
            fn reads(&self) -> &plain::$name $(<$t>)? {
                before(Operation::Load, self.address());
                &self.0
            }

            #[inline]
            fn changes(&self) -> &plain::$name $(<$t>)? {
                before(Operation::Store, self.address());
                &self.0
            }

            /// Loads the value and returns it.
            ///
            /// # Panics
            /// As in `std`: if `order` is [`Release`](Ordering::Release) or
            /// [`AcqRel`](Ordering::AcqRel).
            #[inline]
            pub fn load(&self, order: Ordering) -> $value {
                self.reads().load(order)
            }

            /// Stores `value`.
            ///
            /// # Panics
            /// As in `std`: if `order` is [`Acquire`](Ordering::Acquire) or
            /// [`AcqRel`](Ordering::AcqRel).
            #[inline]
            pub fn store(&self, value: $value, order: Ordering) {
                self.changes().store(value, order);
            }

            /// Stores `value` and returns the value before.
            #[inline]
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                self.changes().swap(value, order)
            }

            /// Compares the value with `current` and, if they are equal, stores `new`. Returns the
            /// value before.
            ///
            /// # Errors
            /// The value, if it is not `current`.
            ///
            /// # Panics
            /// As in `std`: if `failure` is [`Release`](Ordering::Release) or
            /// [`AcqRel`](Ordering::AcqRel).
            #[inline]
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.changes().compare_exchange(current, new, success, failure)
            }

            /// Compares the value with `current` and, if they are equal, stores `new`. Returns the
            /// value before. May fail although they are equal, in a simulated run no more often
            /// than elsewhere.
            ///
            /// # Errors
            /// The value, if it is not `current`, or spuriously.
            ///
            /// # Panics
            /// As [`compare_exchange`](Self::compare_exchange).
            #[inline]
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.changes().compare_exchange_weak(current, new, success, failure)
            }

            /// Updates the value to the result of `f`, and returns the value before. A load, and a
            /// compare and exchange in a loop, each with a choice.
            ///
            /// # Errors
            /// The value, if `f` returns `None` for it.
            ///
            /// # Panics
            /// As in `std`: if `fetch_order` is [`Release`](Ordering::Release) or
            /// [`AcqRel`](Ordering::AcqRel).
            #[inline]
            pub fn fetch_update(
                &self,
                set_order: Ordering,
                fetch_order: Ordering,
                mut f: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                let mut current = self.load(fetch_order);
                while let Some(new) = f(current) {
                    match self.compare_exchange_weak(current, new, set_order, fetch_order) {
                        Ok(current) => return Ok(current),
                        Err(now) => current = now,
                    }
                }
                Err(current)
            }

            /// Returns a mutable reference to the value.
            #[inline]
            pub fn get_mut(&mut self) -> &mut $value {
                self.0.get_mut()
            }

            /// Consumes the atomic and returns its value.
            #[inline]
            pub fn into_inner(self) -> $value {
                self.0.into_inner()
            }

            /// Returns a pointer to the value. An access through it is no choice of a run.
            #[inline]
            pub const fn as_ptr(&self) -> *mut $value {
                self.0.as_ptr()
            }
        }

        impl $(<$t>)? From<$value> for $name $(<$t>)? {
            fn from(value: $value) -> Self {
                Self::new(value)
            }
        }

        impl $(<$t>)? fmt::Debug for $name $(<$t>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

/// Defines operations that change the value and return the one before.
macro_rules! operations {
    ($name:ident, $value:ty: $($operation:ident: $does:literal),+ $(,)?) => {
        impl $name {
            $(
                #[doc = $does]
                /// Returns the value before.
                #[inline]
                pub fn $operation(&self, value: $value, order: Ordering) -> $value {
                    self.changes().$operation(value, order)
                }
            )+
        }
    };
}

/// Defines the atomic of an integer.
macro_rules! integers {
    ($($name:ident: $value:ty),+ $(,)?) => {
        $(
            atomic!($name, $value, "7");
            operations!(
                $name, $value:
                fetch_add: "Adds `value`, and wraps around on overflow.",
                fetch_sub: "Subtracts `value`, and wraps around on overflow.",
                fetch_and: "Stores the bitwise \"and\" of the value and `value`.",
                fetch_nand: "Stores the bitwise \"nand\" of the value and `value`.",
                fetch_or: "Stores the bitwise \"or\" of the value and `value`.",
                fetch_xor: "Stores the bitwise \"xor\" of the value and `value`.",
                fetch_max: "Stores the larger one of the value and `value`.",
                fetch_min: "Stores the smaller one of the value and `value`.",
            );
        )+
    };
}

integers! {
    AtomicU8: u8,
    AtomicU16: u16,
    AtomicU32: u32,
    AtomicU64: u64,
    AtomicUsize: usize,
    AtomicI8: i8,
    AtomicI16: i16,
    AtomicI32: i32,
    AtomicI64: i64,
    AtomicIsize: isize,
}
atomic!(AtomicBool, bool, "true");
operations!(
    AtomicBool, bool:
    fetch_and: "Stores the logical \"and\" of the value and `value`.",
    fetch_nand: "Stores the logical \"nand\" of the value and `value`.",
    fetch_or: "Stores the logical \"or\" of the value and `value`.",
    fetch_xor: "Stores the logical \"xor\" of the value and `value`.",
);
atomic!(AtomicPtr<T>, *mut T, "std::ptr::null_mut::<u8>()");

impl AtomicBool {
    /// Inverts the value. Returns the value before.
    #[inline]
    pub fn fetch_not(&self, order: Ordering) -> bool {
        self.changes().fetch_not(order)
    }
}
