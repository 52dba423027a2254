//! Atomics with operations that are choices of a simulated run.
//!
//! The types have the names, methods and documentation of `std::sync::atomic`. With the feature
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
            /// As in `std`.
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

            /// As in `std`.
            #[inline]
            pub fn load(&self, order: Ordering) -> $value {
                self.reads().load(order)
            }

            /// As in `std`.
            #[inline]
            pub fn store(&self, value: $value, order: Ordering) {
                self.changes().store(value, order);
            }

            /// As in `std`.
            #[inline]
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                self.changes().swap(value, order)
            }

            /// As in `std`.
            ///
            /// # Errors
            /// The value, if it is not `current`.
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

            /// As in `std`. Does not fail spuriously more often in a simulated run.
            ///
            /// # Errors
            /// The value, if it is not `current`, or spuriously.
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

            /// As in `std`: a load, and a compare and exchange in a loop, each with a choice.
            ///
            /// # Errors
            /// The value, if `f` returns `None` for it.
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

            /// As in `std`.
            #[inline]
            pub fn get_mut(&mut self) -> &mut $value {
                self.0.get_mut()
            }

            /// As in `std`.
            #[inline]
            pub fn into_inner(self) -> $value {
                self.0.into_inner()
            }

            /// As in `std`.
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
    ($name:ident, $value:ty: $($operation:ident),+) => {
        impl $name {
            $(
                /// As in `std`.
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
                fetch_add, fetch_sub, fetch_and, fetch_nand, fetch_or, fetch_xor, fetch_max,
                fetch_min
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
operations!(AtomicBool, bool: fetch_and, fetch_nand, fetch_or, fetch_xor);
atomic!(AtomicPtr<T>, *mut T, "std::ptr::null_mut::<u8>()");

impl AtomicBool {
    /// As in `std`.
    #[inline]
    pub fn fetch_not(&self, order: Ordering) -> bool {
        self.changes().fetch_not(order)
    }
}
