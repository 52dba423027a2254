//! Checks for an interrupt that do not wait, and code with a deadline.

use std::time::Instant;

use crate::base::choice::Operation;
use crate::wait::{Interrupt, deadline, interrupted_meanwhile, point};

/// Returns an error if the caller is interrupted. For code that computes between waits.
///
/// # Errors
/// The interrupt of the caller.
///
/// # Cancellation
/// An interruption point; never suspends.
///
/// # Examples
/// ```
/// use pirn::cancel::{self, Token};
/// use pirn::Interrupt;
///
/// let token = Token::new();
/// token.enter(|| {
///     assert_eq!(cancel::check(), Ok(()));
///     token.cancel();
///     assert_eq!(cancel::check(), Err(Interrupt::Cancelled));
/// });
/// assert_eq!(cancel::check(), Ok(()));
/// ```
#[doc(alias = "Err")]
#[inline]
pub fn check() -> Result<(), Interrupt> {
    point(Operation::Check, 0);
    interrupted_meanwhile().map_or(Ok(()), Err)
}

/// Returns the interrupt that the next interruption point would report. Unlike [`check`] it is not
/// an interruption point: a [`timeout`](crate::timeout) around it does not count its deadline as
/// reported.
///
/// # Cancellation
/// Not an interruption point; never suspends.
///
/// # Examples
/// ```
/// use pirn::{Interrupt, cancel, time};
///
/// assert_eq!(cancel::reason(), None);
/// let reason = cancel::with_deadline(time::now(), || cancel::reason());
/// assert_eq!(reason, Some(Interrupt::TimedOut));
/// ```
#[doc(alias = "Cause")]
#[must_use]
pub fn reason() -> Option<Interrupt> {
    deadline::pending()
}

/// Returns the nearest deadline of the caller, passed or not.
///
/// # Cancellation
/// Not an interruption point; never suspends.
///
/// # Examples
/// ```
/// use pirn::{cancel, time};
/// use std::time::Duration;
///
/// let near = time::now() + Duration::from_secs(60);
/// let far = near + Duration::from_secs(60);
/// cancel::with_deadline(near, || {
///     let nearest = cancel::with_deadline(far, || cancel::deadline());
///     assert_eq!(nearest, Some(near));
/// });
/// assert_eq!(cancel::deadline(), None);
/// ```
#[must_use]
pub fn deadline() -> Option<Instant> {
    deadline::nearest().map(|limit| limit.get().at())
}

/// Runs `f` under the deadline `at`, a moment of [`time::now`](crate::time::now), and returns its
/// result. When the deadline passes, the present wait of `f`, if it is an interruption point,
/// reports [`Interrupt::TimedOut`]. So does every later one in `f`.
///
/// As [`time::timeout`](crate::time::timeout), but the result of `f` is kept, and reports what was
/// interrupted. Deadlines nest, and the nearest applies. The deadline ends with `f`, whether it has
/// passed or not.
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
#[doc(alias = "WithTimeout")]
#[doc(alias = "timeout_at")]
pub fn with_deadline<T>(at: Instant, f: impl FnOnce() -> T) -> T {
    deadline::under(at, f).0
}
