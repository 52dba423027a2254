//! The clock of whoever calls: what deadlines are measured by.

use std::time::{Duration, Instant};

use crate::shim;

/// The present moment.
#[inline]
pub(crate) fn now() -> Instant {
    shim::now()
}

/// The moment `limit` from now; `None`, which is never, if the clock cannot express it.
#[inline]
pub(crate) fn deadline_in(limit: Duration) -> Option<Instant> {
    now().checked_add(limit)
}
