//! Periodic ticks.

use std::time::{Duration, Instant};

use super::tick_case::TickCase;
use crate::wait::park::{park, ticket};
use crate::wait::{self, Interrupt, Reason, Spec, interrupted, spend};

/// The behavior of an [`Interval`] for ticks that were due before [`tick`](Interval::tick) was
/// called. The same choices as Tokio's.
#[derive(Debug, Copy, Clone, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum MissedTick {
    /// Returns missed ticks one after the other, at once, until it has caught up.
    #[default]
    Burst,
    /// The next tick is a whole period after the late one was taken. A tick taken up to 5 ms late
    /// does not count as late.
    Delay,
    /// Skips missed ticks: the next tick is the next one of the original rhythm.
    Skip,
}

/// Periodic ticks; made by [`interval`].
#[derive(Debug)]
#[must_use]
pub struct Interval {
    period: Duration,
    /// When the next tick is due; `None` if the clock cannot express it.
    next: Option<Instant>,
    missed: MissedTick,
}

/// Returns an interval that ticks every `period`; the first tick is immediate.
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
    /// Sets the behavior for missed ticks; by default [`MissedTick::Burst`].
    pub fn missed(self, missed: MissedTick) -> Interval {
        Interval { missed, ..self }
    }

    /// Returns the time between two ticks.
    #[must_use]
    pub fn period(&self) -> Duration {
        self.period
    }

    /// Waits for the next tick and returns the moment at which it was due, which may be in the
    /// past. A tick beyond the range of the clock never comes.
    ///
    /// # Errors
    /// The interrupt of the caller; the tick is kept for the next call.
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

    /// Returns a select case that takes the next tick.
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

    /// Returns when the tick after the one due at `due` and taken at `now` is due.
    fn after(&self, due: Instant, now: Instant) -> Option<Instant> {
        let late = now.saturating_duration_since(due);
        match self.missed {
            MissedTick::Delay if late > TOLERANCE => now.checked_add(self.period),
            MissedTick::Skip if late >= self.period => {
                // Less than a period, so it fits into a `Duration`.
                let passed = late.as_nanos() % self.period.as_nanos();
                let (seconds, nanos) = (passed / NANOS, passed % NANOS);
                let passed = Duration::new(seconds as u64, nanos as u32);
                now.checked_add(self.period - passed)
            }
            _ => due.checked_add(self.period),
        }
    }
}

/// A tick taken at most this late keeps the rhythm under [`MissedTick::Delay`], because every
/// wake-up takes some time. The same as Tokio's.
const TOLERANCE: Duration = Duration::from_millis(5);

const NANOS: u128 = 1_000_000_000;
