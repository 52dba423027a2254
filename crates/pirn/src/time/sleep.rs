//! Sleeping until a moment, by a timer on the worker's own wheel.

use std::time::{Duration, Instant};

use crate::base::choice::Operation;
use crate::wait::park::{park, ticket};
use crate::wait::{
    self, Interrupt, Reason, Spec, consume_budget, interrupted, yield_now,
};

/// Returns the present moment on the clock of pirn's timers: the monotonic clock, or the virtual
/// one of a [deterministic runtime](crate::runtime::test).
///
/// # Cancellation
/// Not an interruption point; never suspends.
///
/// # Examples
/// ```
/// use std::time::Duration;
///
/// let before = pirn::time::now();
/// pirn::sleep(Duration::from_millis(1)).unwrap();
/// assert!(pirn::time::now() - before >= Duration::from_millis(1));
/// ```
#[doc(alias = "Instant")]
#[must_use]
pub fn now() -> Instant {
    wait::now()
}

/// Blocks the caller for at least `duration`.
///
/// On an idle machine it is at most about 0.1 ms late, plus a thousandth of `duration` or 1 ms,
/// whichever is less. (Time that the fiber has computed without a wait counts as part of
/// `duration`.) So fibers with nearby deadlines are woken together, in any order. Virtual time is
/// exact.
///
/// A duration of zero yields. If the clock cannot express the end, it waits until interrupted.
///
/// # Errors
/// The interrupt that ended the sleep early.
///
/// # Cancellation
/// An interruption point. Parks a fiber, blocks a plain thread.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use pirn::{Interrupt, cancel::Token};
///
/// pirn::sleep(Duration::from_millis(1))?;
///
/// let token = Token::new();
/// token.cancel();
/// let slept = token.enter(|| pirn::sleep(Duration::from_secs(3600)));
/// assert_eq!(slept, Err(Interrupt::Cancelled));
/// # Ok::<(), Interrupt>(())
/// ```
#[track_caller]
pub fn sleep(duration: Duration) -> Result<(), Interrupt> {
    let now = now();
    wait_until(now, now.checked_add(duration))
}

/// Blocks the caller until `at`, a moment of [`now`], or yields if that has passed. It may be as
/// late as [`sleep`].
///
/// # Errors
/// The interrupt that ended the sleep early.
///
/// # Cancellation
/// An interruption point. Parks a fiber, blocks a plain thread.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use pirn::time;
///
/// let end = time::now() + Duration::from_millis(1);
/// time::sleep_until(end).unwrap();
/// assert!(time::now() >= end);
/// ```
#[track_caller]
pub fn sleep_until(at: Instant) -> Result<(), Interrupt> {
    wait_until(now(), Some(at))
}

#[track_caller]
fn wait_until(now: Instant, at: Option<Instant>) -> Result<(), Interrupt> {
    if let Some(interrupt) = interrupted() {
        consume_budget(Operation::Sleep, 0);
        return Err(interrupt);
    }
    if at.is_some_and(|at| at <= now) {
        yield_now();
        return Ok(());
    }
    let spec = Spec::interruptible(Reason::Sleep).until(at);
    park(ticket(), &spec).how.interrupt().map_or(Ok(()), Err)
}
