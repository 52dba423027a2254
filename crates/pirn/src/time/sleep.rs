//! Sleeping until a moment, by a timer on the worker's own wheel.

use std::time::{Duration, Instant};

use crate::wait::park::{park, ticket};
use crate::wait::{self, Interrupt, Reason, Spec, interrupted, spend, yield_now};

/// The present moment on the clock that all of pirn's timers go by.
#[must_use]
pub fn now() -> Instant {
    wait::now()
}

/// Waits for at least `duration`; on an idle machine at most about a tenth of a millisecond
/// longer, and then a thousandth of `duration` (and of the time that the fiber has computed for
/// without a wait) or one millisecond, whichever is less: fibers whose time comes about the
/// same time are woken together, in any order. Virtual time is exact.
///
/// A duration of zero yields. One that the clock cannot express waits until interrupted.
///
/// # Errors
/// The interrupt that ended the sleep early.
///
/// # Cancellation
/// An interruption point. Parks a fiber, blocks a plain thread.
#[track_caller]
pub fn sleep(duration: Duration) -> Result<(), Interrupt> {
    let now = now();
    wait_until(now, now.checked_add(duration))
}

/// Waits until `at`, a moment of [`now`], or yields if that is past.
///
/// # Errors
/// The interrupt that ended the sleep early.
///
/// # Cancellation
/// An interruption point. Parks a fiber, blocks a plain thread.
#[track_caller]
pub fn sleep_until(at: Instant) -> Result<(), Interrupt> {
    wait_until(now(), Some(at))
}

#[track_caller]
fn wait_until(now: Instant, at: Option<Instant>) -> Result<(), Interrupt> {
    if let Some(interrupt) = interrupted() {
        spend();
        return Err(interrupt);
    }
    if at.is_some_and(|at| at <= now) {
        yield_now();
        return Ok(());
    }
    let spec = Spec::interruptible(Reason::Sleep).until(at);
    park(ticket(), &spec).how.interrupt().map_or(Ok(()), Err)
}
