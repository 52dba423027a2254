//! A moment in time as a case of a select.

use std::pin::Pin;
use std::time::{Duration, Instant};

use crate::wait;
use crate::wait::choice::{Call, Case, Outcome};
use crate::wait::deadline_in;

/// A select case that wins at a moment in time; created by [`at`].
///
/// It arms no timer of its own: the select that waits for it uses the moment as a deadline.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use pirn::select::Select;
/// use pirn::time;
///
/// let mut soon = time::at(time::now() + Duration::from_millis(1));
/// let mut select = Select::new();
/// let index = select.add(&mut soon);
/// assert_eq!(select.wait(), Ok(index));
/// ```
#[derive(Debug)]
pub struct TimerCase {
    /// `None` means never.
    at: Option<Instant>,
}

/// Returns a select case that wins at the moment `at` of [`now`](super::now). A moment in the past
/// wins at once.
///
/// # Cancellation
/// Not an interruption point; never suspends.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use pirn::channel::never;
/// use pirn::time;
///
/// let soon = time::now() + Duration::from_millis(1);
/// pirn::select! {
///     recv(never::<()>()) -> _ => unreachable!(),
///     at(soon) => assert!(time::now() >= soon),
/// }
/// ```
pub fn at(at: Instant) -> TimerCase {
    TimerCase { at: Some(at) }
}

/// As [`at`], for the moment `limit` from now.
#[doc(hidden)]
pub fn after_case(limit: Duration) -> TimerCase {
    TimerCase {
        at: deadline_in(limit),
    }
}

impl TimerCase {
    /// Does nothing: a moment has no value to take. It exists because every case has this method.
    ///
    /// # Examples
    /// ```
    /// let mut past = pirn::time::at(pirn::time::now());
    /// let mut select = pirn::select::Select::new();
    /// select.add(&mut past);
    /// assert_eq!(select.try_wait(), Some(0));
    /// drop(select);
    /// past.take();
    /// ```
    pub fn take(&mut self) {}
}

impl Case for TimerCase {
    fn attempt(&self) -> bool {
        self.at.is_some_and(|at| at <= wait::now())
    }

    fn due(&self) -> Option<Instant> {
        self.at
    }

    fn publish(self: Pin<&Self>, _: Call) -> bool {
        true
    }

    fn withdraw(self: Pin<&Self>, _: Call, _: Outcome) {}
}
