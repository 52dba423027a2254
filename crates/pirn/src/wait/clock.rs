//! The clock of whoever calls, by which deadlines are measured, and the caller's random
//! numbers. Both belong to the runtime of a fiber that calls, and are the machine's on a
//! plain thread.

use std::time::{Duration, Instant};

use crate::fiber::current;

/// The present moment.
#[inline]
pub(crate) fn now() -> Instant {
    current::now(current::local())
}

/// The moment `limit` from now; `None`, which is never, if the clock cannot express it.
#[inline]
pub(crate) fn deadline_in(limit: Duration) -> Option<Instant> {
    now().checked_add(limit)
}

/// A random number below `n`, each equally likely, for choices that must favor nobody.
///
/// # Panics
/// If `n` is 0.
#[cfg_attr(
    any(not(test), loom, shuttle),
    expect(dead_code, reason = "for waits on several things")
)]
pub(crate) fn random_below(n: usize) -> usize {
    current::local().random_below(n)
}
