//! Interrupts asked for without waiting, and code with a deadline.

use std::time::Instant;

use crate::wait::{Interrupt, interrupted, limit};

/// Says whether the caller is under an interrupt. For code that computes between waits.
///
/// # Errors
/// The interrupt that the caller is under.
///
/// # Cancellation
/// An interruption point; never suspends.
#[inline]
pub fn check() -> Result<(), Interrupt> {
    interrupted().map_or(Ok(()), Err)
}

/// The interrupt that the next interruption point would report. Unlike [`check`] it is
/// none itself: a [`timeout`](crate::timeout) around it does not count as met.
///
/// # Cancellation
/// Not an interruption point; never suspends.
#[must_use]
pub fn reason() -> Option<Interrupt> {
    limit::pending()
}

/// The nearest deadline that the caller is under, passed or not.
///
/// # Cancellation
/// Not an interruption point; never suspends.
#[must_use]
pub fn deadline() -> Option<Instant> {
    limit::nearest().map(|limit| limit.get().at())
}

/// Runs `f` under the deadline `at`, a moment of [`time::now`](crate::time::now), and returns
/// what it returns. When the deadline passes, the wait that `f` is in, if it is an
/// interruption point, and every later one in `f`, reports [`Interrupt::TimedOut`].
///
/// As [`time::timeout`](crate::time::timeout), but nothing is dropped: the results of `f` tell
/// what was interrupted. Deadlines nest, and the nearest holds. When `f` is left the
/// deadline is gone, met or not.
///
/// # Panics
/// With the panic of `f`.
///
/// # Cancellation
/// Not an interruption point itself.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use pirn::{Interrupt, cancel, channel, time};
///
/// let (tx, rx) = channel::bounded(4);
/// tx.send(1).unwrap();
/// tx.send(2).unwrap();
/// let soon = time::now() + Duration::from_millis(2);
/// // All that comes before the deadline.
/// let came: Vec<u32> = cancel::with_deadline(soon, || rx.iter().collect());
/// assert_eq!(came, [1, 2]);
/// assert_eq!(cancel::check(), Ok(()));
/// ```
pub fn with_deadline<T>(at: Instant, f: impl FnOnce() -> T) -> T {
    limit::under(at, f).0
}
