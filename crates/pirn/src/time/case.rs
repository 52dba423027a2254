//! A moment in time as a case of a select.

use std::time::{Duration, Instant};

use crate::wait;
use crate::wait::choice::{Call, Case, Outcome};
use crate::wait::deadline_in;

/// Wins when its moment has come; made by [`at`].
///
/// Nothing is armed on its account: the select that waits for it has the deadline.
#[derive(Debug)]
pub struct TimerCase {
    /// None is never.
    at: Option<Instant>,
}

/// Returns a case for a select that wins once `at`, a moment of [`now`](super::now), has come.
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

/// As [`at`], so much later than now.
#[doc(hidden)]
pub fn after_case(limit: Duration) -> TimerCase {
    TimerCase {
        at: deadline_in(limit),
    }
}

impl TimerCase {
    /// Returns at once: there is nothing to take.
    pub fn take(&mut self) {}
}

impl Case for TimerCase {
    fn attempt(&self) -> bool {
        self.at.is_some_and(|at| at <= wait::now())
    }

    fn due(&self) -> Option<Instant> {
        self.at
    }

    unsafe fn publish(&self, _: Call) -> bool {
        true
    }

    unsafe fn withdraw(&self, _: Call, _: Outcome) {}
}
