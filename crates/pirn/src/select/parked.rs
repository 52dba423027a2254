//! The caller's park token as a case of a select.

use std::fmt;
use std::pin::Pin;

use crate::wait::choice::{Call, Case, Needs, Outcome};
use crate::wait::park::take_token;

/// A select case that wins when [`unpark`](crate::spawn::Fiber::unpark) has been called on the
/// caller, and consumes the token; made by [`parked`].
///
/// # Examples
/// ```
/// use pirn::select::{Select, parked};
///
/// let fiber = pirn::spawn(|| {
///     let mut case = parked();
///     let mut select = Select::new();
///     select.add(&mut case);
///     select.wait()
/// });
/// fiber.fiber().unpark();
/// assert_eq!(fiber.join().unwrap(), Ok(0));
/// ```
pub struct ParkCase {
    /// Not zero-sized, so that cases have distinct addresses.
    _place: u8,
}

/// Returns a select case that wins when [`park`](crate::park()) would return: when the caller is
/// unparked, or was unparked before.
///
/// # Cancellation
/// Not an interruption point; never suspends.
///
/// # Examples
/// ```
/// use std::time::Duration;
///
/// pirn::current().unpark();
/// pirn::select! {
///     parked() => {}
///     after(Duration::from_secs(60)) => unreachable!(),
///     cancelled(_) => unreachable!(),
/// }
/// ```
pub fn parked() -> ParkCase {
    ParkCase { _place: 0 }
}

impl ParkCase {
    /// Does nothing: an unpark has no value to take.
    pub fn take(&mut self) {}
}

impl Case for ParkCase {
    fn attempt(&self) -> bool {
        take_token()
    }

    fn needs(&self) -> Needs {
        Needs::Token
    }

    fn publish(self: Pin<&Self>, _: Call) -> bool {
        true
    }

    fn withdraw(self: Pin<&Self>, _: Call, _: Outcome) {}
}

impl fmt::Debug for ParkCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParkCase").finish_non_exhaustive()
    }
}
