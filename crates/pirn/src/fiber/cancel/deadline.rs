//! Limits: deadlines that hold for a part of a fiber's code.
//!
//! Owns: the record of one deadline. Does not own: the region that it belongs to (`scope`),
//! or when it has passed (`wait::deadline`).

use std::time::Instant;

use crate::shim::atomic::{AtomicBool, Ordering};

/// A deadline, and whether a call has reported it.
pub(crate) struct Limit {
    at: Instant,
    /// It was the reason for an interrupt. Written by the fibers that it holds for, read by them
    /// and by the code that made it.
    reported: AtomicBool,
}

impl Limit {
    pub(crate) fn new(at: Instant) -> Limit {
        Limit {
            at,
            reported: AtomicBool::new(false),
        }
    }

    pub(crate) fn at(&self) -> Instant {
        self.at
    }

    /// Records that a call was interrupted because of it.
    pub(crate) fn report(&self) {
        // ORDERING: Relaxed: any other fiber that reports ends before the code that made the limit
        // reads this (RG1), and that end is a synchronization of its own.
        self.reported.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_reported(&self) -> bool {
        self.reported.load(Ordering::Relaxed)
    }
}
