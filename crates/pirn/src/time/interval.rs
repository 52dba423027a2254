//! Ticks at equal distances.

use std::time::{Duration, Instant};

use super::tick_case::TickCase;
use crate::wait::park::{park, ticket};
use crate::wait::{self, Interrupt, Reason, Spec, interrupted, spend};

/// What an [`Interval`] does about ticks whose time has passed while nobody waited for them.
/// The same choices as Tokio's.
#[derive(Debug, Copy, Clone, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum MissedTick {
    /// Makes up for them: one after the other, at once, until it has caught up.
    #[default]
    Burst,
    /// Starts anew: the next tick is a whole period after the late one was taken. One that is
    /// taken up to 5 ms late does not count as late.
    Delay,
    /// Leaves them out: the next tick is the next one of the old rhythm.
    Skip,
}

/// Ticks at equal distances; made by [`interval`].
#[derive(Debug)]
#[must_use]
pub struct Interval {
    period: Duration,
    /// When the next tick is due; `None` if the clock cannot express it.
    next: Option<Instant>,
    missed: MissedTick,
}

/// Ticks every `period`, for the first time at once.
///
/// # Panics
/// If `period` is zero.
///
/// # Examples
/// ```
/// use std::time::Duration;
///
/// let mut ticks = pirn::time::interval(Duration::from_millis(1));
/// let first = ticks.tick().unwrap();
/// assert_eq!(ticks.tick().unwrap() - first, Duration::from_millis(1));
/// ```
#[track_caller]
pub fn interval(period: Duration) -> Interval {
    assert!(!period.is_zero(), "an interval of no length");
    Interval {
        period,
        next: Some(wait::now()),
        missed: MissedTick::default(),
    }
}

impl Interval {
    /// Sets what becomes of missed ticks; by default [`MissedTick::Burst`].
    pub fn missed(self, missed: MissedTick) -> Interval {
        Interval { missed, ..self }
    }

    /// The distance of two ticks.
    #[must_use]
    pub fn period(&self) -> Duration {
        self.period
    }

    /// Waits for the next tick and returns the moment that it was due at, which may be some
    /// time ago. A tick beyond what the clock can express never comes.
    ///
    /// # Errors
    /// The interrupt that the caller is under; the tick is still to come then.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    #[track_caller]
    pub fn tick(&mut self) -> Result<Instant, Interrupt> {
        spend();
        if let Some(interrupt) = interrupted() {
            return Err(interrupt);
        }
        if self.next.is_none_or(|due| due > wait::now()) {
            let spec = Spec::interruptible(Reason::Sleep).until(self.next);
            if let Some(interrupt) = park(ticket(), &spec).how.interrupt() {
                return Err(interrupt);
            }
        }
        let due = self.next.expect("a wait without a limit has ended");
        self.next = self.after(due, wait::now());
        Ok(due)
    }

    /// Returns a case for a select that takes the next tick.
    pub fn case(&mut self) -> TickCase<'_> {
        TickCase::new(self)
    }

    /// Takes the next tick if it is due at `now`.
    pub(super) fn take_due(&mut self, now: Instant) -> Option<Instant> {
        let due = self.next.filter(|due| *due <= now)?;
        self.next = self.after(due, now);
        Some(due)
    }

    pub(super) fn due(&self) -> Option<Instant> {
        self.next
    }

    /// When the tick comes that follows the one that was due at `due` and is taken at `now`.
    fn after(&self, due: Instant, now: Instant) -> Option<Instant> {
        let late = now.saturating_duration_since(due);
        match self.missed {
            MissedTick::Delay if late > TOLERANCE => now.checked_add(self.period),
            MissedTick::Skip if late >= self.period => {
                // Less than a period, and so within what a `Duration` can be told in.
                let passed = late.as_nanos() % self.period.as_nanos();
                let (seconds, nanos) = (passed / NANOS, passed % NANOS);
                let passed = Duration::new(seconds as u64, nanos as u32);
                now.checked_add(self.period - passed)
            }
            _ => due.checked_add(self.period),
        }
    }
}

/// A tick that is taken so late keeps the rhythm under [`MissedTick::Delay`]: every wake-up
/// takes its time. The same as Tokio's.
const TOLERANCE: Duration = Duration::from_millis(5);

const NANOS: u128 = 1_000_000_000;
