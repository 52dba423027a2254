//! The budget of the running fiber: operations until it yields.

use std::cell::Cell;
use std::num::NonZero;

/// Operations before the first clock read, which costs a hundredth of the whole budget.
pub(super) const BEFORE_LOOK: u16 = 16;

/// Operations after the clock read; 128 in all, as in Tokio.
pub(super) const AFTER_LOOK: u16 = 112;

/// Operations between two clock reads in a row, while the fibers of a thread compute for long.
pub(super) const BETWEEN_LOOKS: u16 = 4;

/// A fiber that computes for this long between two clock reads yields after the second one.
/// Nanoseconds.
pub(super) const LONG_RUN: u64 = 200_000;

/// Operations that a fiber may still complete before [`Then`] takes effect. PERF: one word,
/// which is copied for each run.
#[repr(C, align(8))]
pub(super) struct Budget {
    pub(super) operations: Cell<u16>,
    pub(super) then: Cell<Then>,
    /// The time from which the running fiber has been yielding in place, in microseconds.
    pub(super) stalled: Cell<Option<NonZero<u32>>>,
}

/// The effect of the last operation of a [`Budget`].
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
#[repr(u16)]
pub(super) enum Then {
    /// The fiber yields.
    Yield,
    /// The fiber reads the clock, and continues. If a long time has passed since the worker last
    /// read it, or its fibers compute for long, `LookAgain` follows at the next operation.
    Look,
    /// The fiber reads the clock a second time. Only this fiber has run since the first read, so
    /// it yields if that was long ago. If not, and the time before the first read was long,
    /// `LookLast` follows: a fiber may complete a short operation after each long computation.
    LookAgain,
    /// The fiber reads the clock a third time. It yields if the first read was long ago.
    LookLast,
}

impl Budget {
    pub(super) const fn new(operations: u16, then: Then) -> Budget {
        Budget {
            operations: Cell::new(operations),
            then: Cell::new(then),
            stalled: Cell::new(None),
        }
    }

    #[inline(always)]
    pub(super) fn set(&self, operations: u16, then: Then) {
        self.operations.set(operations);
        self.then.set(then);
    }
}
