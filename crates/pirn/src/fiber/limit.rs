//! Limits: deadlines that hold for a part of a fiber's code.
//!
//! Owns: the record of one deadline, and the pointer by which headers reach it. Does not
//! own: who makes one, nor when it is over (`wait::limit`).
//!
//! A limit lies on the stack of the code that it holds for. The header of the fiber, or of
//! the plain thread, points to the nearest one; so do the headers of fibers that run in a
//! scope inside that code.
//!
//! Invariants:
//! * LI1. A limit outlives every use of a pointer to it. The code that it holds for takes
//!   the pointer out of its own header when it is left, also by unwinding; fibers that
//!   inherit the pointer are spawned by a call that ends after they have (a scope, `run`).

use std::ptr::NonNull;
use std::time::Instant;

use crate::shim::atomic::{AtomicBool, Ordering};

/// A deadline, and whether anybody has met it.
pub(crate) struct Limit {
    at: Instant,
    /// It was the reason for an interrupt. Written by the fibers that it holds for, read by
    /// them and by the code that made it.
    reported: AtomicBool,
}

/// A pointer to a limit that is still there (LI1).
#[derive(Copy, Clone)]
pub(crate) struct LimitRef(NonNull<Limit>);

// SAFETY: LI1; what can be reached is constant or atomic.
unsafe impl Send for LimitRef {}
// SAFETY: as above.
unsafe impl Sync for LimitRef {}

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

    /// Notes that a call was interrupted on its account.
    pub(crate) fn report(&self) {
        // ORDERING: Relaxed: whoever else reports ends before the code that made the limit
        // looks (LI1), and that end is a synchronization of its own.
        self.reported.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_reported(&self) -> bool {
        self.reported.load(Ordering::Relaxed)
    }
}

impl LimitRef {
    /// # Safety
    /// `limit` stays where it is for as long as the result, or a copy of it, is used.
    pub(crate) unsafe fn new(limit: &Limit) -> LimitRef {
        LimitRef(NonNull::from(limit))
    }

    pub(crate) fn get(&self) -> &Limit {
        // SAFETY: LI1.
        unsafe { self.0.as_ref() }
    }
}
