//! Periodic ticks.

use std::time::{Duration, Instant};

use crate::base::choice::Operation;
use crate::wait::park::{park, ticket};
use crate::wait::{self, Interrupt, Reason, Spec, consume_budget, interrupted};

/// The behavior of an [`Interval`] for ticks that were due before [`tick`](Interval::tick) was
/// called. The choices are those of Tokio.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use pirn::time::{MissedTick, interval};
///
/// let period = Duration::from_millis(1);
/// let mut ticks = interval(period).missed(MissedTick::Skip);
/// ticks.tick()?;
/// pirn::sleep(3 * period)?;
/// // The second tick is late. Those that have been missed since are skipped.
/// let second = ticks.tick()?;
/// assert!(ticks.tick()? - second > 2 * period);
/// # Ok::<(), pirn::Interrupt>(())
/// ```
#[doc(alias = "MissedTickBehavior")]
#[derive(Debug, Copy, Clone, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum MissedTick {
    /// Missed ticks are returned one after the other, at once, until the interval has caught up.
    #[default]
    Burst,
    /// The next tick is a whole period after the late one was taken. A tick taken up to 5 ms late
    /// does not count as late.
    Delay,
    /// Missed ticks are skipped: the next tick is the next one of the original rhythm.
    Skip,
}

/// A source of periodic ticks; created by [`interval`].
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use pirn::time::{Interval, interval};
///
/// let mut ticks: Interval = interval(Duration::from_millis(1));
/// let due: Vec<_> = (0..3).map(|_| ticks.tick().unwrap()).collect();
/// assert_eq!(due[2] - due[0], 2 * ticks.period());
/// ```
#[doc(alias = "Ticker")]
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
/// # Cancellation
/// Not an interruption point; never suspends.
///
/// # Examples
/// ```
/// use std::time::Duration;
///
/// let mut ticks = pirn::time::interval(Duration::from_millis(1));
/// let first = ticks.tick().unwrap();
/// assert_eq!(ticks.tick().unwrap() - first, Duration::from_millis(1));
/// ```
#[doc(alias = "NewTicker")]
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
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// use pirn::time::{MissedTick, interval};
    ///
    /// let period = Duration::from_millis(1);
    /// let mut ticks = interval(period).missed(MissedTick::Burst);
    /// let first = ticks.tick()?;
    /// pirn::sleep(2 * period)?;
    /// // Both missed ticks come at once.
    /// assert_eq!(ticks.tick()? - first, period);
    /// assert_eq!(ticks.tick()? - first, 2 * period);
    /// # Ok::<(), pirn::Interrupt>(())
    /// ```
    #[doc(alias = "set_missed_tick_behavior")]
    pub fn missed(self, missed: MissedTick) -> Interval {
        Interval { missed, ..self }
    }

    /// Returns the time between two ticks.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    ///
    /// let ticks = pirn::time::interval(Duration::from_secs(5));
    /// assert_eq!(ticks.period().as_secs(), 5);
    /// ```
    #[must_use]
    pub fn period(&self) -> Duration {
        self.period
    }

    /// Blocks until the next tick is due and returns the moment at which it was, which may be in
    /// the past. A tick beyond the range of the clock never comes.
    ///
    /// # Errors
    /// The interrupt of the caller; the tick is kept for the next call.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// use pirn::{cancel::Token, time};
    ///
    /// let mut ticks = time::interval(Duration::from_millis(1));
    /// let first = ticks.tick()?;
    /// let token = Token::new();
    /// token.cancel();
    /// assert!(token.enter(|| ticks.tick()).is_err());
    /// // The tick was kept.
    /// assert_eq!(ticks.tick()? - first, Duration::from_millis(1));
    /// # Ok::<(), pirn::Interrupt>(())
    /// ```
    #[track_caller]
    pub fn tick(&mut self) -> Result<Instant, Interrupt> {
        consume_budget(Operation::Sleep, 0);
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
