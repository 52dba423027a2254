//! A word that may be in a static, of `std`: under shuttle an access to it is not a scheduling
//! point.

use std::sync::atomic::{AtomicU32, Ordering};

/// A word that may be in a static.
#[derive(Debug)]
pub(crate) struct StaticU32(AtomicU32);

impl StaticU32 {
    /// The value of a static.
    pub(crate) const fn in_static(value: u32) -> Self {
        StaticU32(AtomicU32::new(value))
    }

    #[inline(always)]
    pub(crate) fn new(value: u32) -> Self {
        StaticU32(AtomicU32::new(value))
    }

    #[inline(always)]
    pub(crate) fn load(&self, order: Ordering) -> u32 {
        self.0.load(order)
    }

    #[inline(always)]
    pub(crate) fn fetch_or(&self, value: u32, order: Ordering) -> u32 {
        self.0.fetch_or(value, order)
    }

    #[inline(always)]
    pub(crate) fn fetch_and(&self, value: u32, order: Ordering) -> u32 {
        self.0.fetch_and(value, order)
    }
}
