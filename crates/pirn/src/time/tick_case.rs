//! The next tick of an interval as a case of a select.

use std::cell::Cell;
use std::fmt;
use std::pin::Pin;
use std::time::Instant;

use super::interval::Interval;
use crate::wait;
use crate::wait::case_output::CaseOutput;
use crate::wait::choice::{Call, Case, Outcome};

/// A select case that wins when the next tick of an interval is due; created by [`Interval::case`].
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use pirn::select::Select;
///
/// let mut ticks = pirn::time::interval(Duration::from_millis(1));
/// let mut tick = ticks.case();
/// let mut select = Select::new();
/// let index = select.add(&mut tick);
/// assert_eq!(select.wait(), Ok(index));
/// drop(select);
/// assert!(tick.take() <= pirn::time::now());
/// ```
pub struct TickCase<'a> {
    /// Empty only while a method of this case runs.
    interval: Cell<Option<&'a mut Interval>>,
    output: CaseOutput<Instant>,
}

impl Interval {
    /// Returns a select case that takes the next tick. A case that does not win leaves the tick to
    /// the next call.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// use pirn::{channel, time};
    ///
    /// let mut ticks = time::interval(Duration::from_millis(1));
    /// let due = pirn::select! {
    ///     recv(channel::never::<()>()) -> _ => unreachable!(),
    ///     case(ticks.case()) -> due => due,
    /// };
    /// assert!(due <= time::now());
    /// ```
    pub fn case(&mut self) -> TickCase<'_> {
        TickCase {
            interval: Cell::new(Some(self)),
            output: CaseOutput::new(),
        }
    }
}

impl TickCase<'_> {
    /// Returns the moment at which the tick was due.
    ///
    /// # Panics
    /// If the case has not won since the last call.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    ///
    /// let mut ticks = pirn::time::interval(Duration::from_millis(1));
    /// let mut tick = ticks.case();
    /// let mut select = pirn::select::Select::new();
    /// select.add(&mut tick);
    /// // The first tick is due at once.
    /// assert_eq!(select.try_wait(), Some(0));
    /// drop(select);
    /// assert!(tick.take() <= pirn::time::now());
    /// ```
    pub fn take(&mut self) -> Instant {
        self.output.take()
    }

    fn with<R>(&self, f: impl FnOnce(&mut Interval) -> R) -> R {
        let interval = self.interval.take().expect("put back by every method");
        let result = f(interval);
        self.interval.set(Some(interval));
        result
    }
}

impl Case for TickCase<'_> {
    fn attempt(&self) -> bool {
        self.output
            .win_by(|| self.with(|interval| interval.take_due(wait::now())))
    }

    fn due(&self) -> Option<Instant> {
        self.with(|interval| interval.due())
    }

    fn publish(self: Pin<&Self>, _: Call) -> bool {
        true
    }

    fn withdraw(self: Pin<&Self>, _: Call, _: Outcome) {}
}

impl fmt::Debug for TickCase<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TickCase").finish_non_exhaustive()
    }
}
