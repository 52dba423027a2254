//! The caller's clock, which measures deadlines, and the caller's random numbers. Both belong to
//! the runtime of a calling fiber, and to the machine on a plain thread.

use std::time::{Duration, Instant};

use crate::fiber::current::{self, Local};

/// Returns the current time.
#[inline]
pub(crate) fn now() -> Instant {
    current::now(current::local())
}

/// Returns the time `deadline` from now; `None`, which means never, if the clock cannot express it.
#[inline]
pub(crate) fn deadline_in(limit: Duration) -> Option<Instant> {
    now().checked_add(limit)
}

/// Returns a random number below `n`, uniformly distributed, for choices that must be fair; 0 in the
/// run of a strategy.
///
/// # Panics
/// If `n` is 0.
pub(crate) fn random_below(n: usize) -> usize {
    current::local().random_below(n, 0)
}

/// Returns the case of `n` that a select tries first, each equally likely; `n` in the run of a
/// strategy: there, the [`picker`] picks.
///
/// # Panics
/// If `n` is 0.
pub(crate) fn random_case(n: usize) -> usize {
    current::local().random_below(n, n)
}

/// Returns the caller's thread, if the strategy of a run picks there.
pub(crate) fn picker() -> Option<&'static Local> {
    Some(current::local()).filter(|local| local.chooses() && local.fiber().is_some())
}
