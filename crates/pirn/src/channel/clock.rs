//! Channels that time sends to: once, again and again, or never.
//!
//! Nothing runs on their account. A value is made when somebody receives after its time has
//! come, and who waits for it waits with a deadline.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::pipe::{Clock, Pipe};
use super::receiver::Receiver;
use crate::shim::Lock;
use crate::wait::deadline_in;

/// Opens a channel on which one value arrives after `duration`: the moment it was due at.
///
/// One receiver gets it; after that, and at once if the clock cannot express the moment, the
/// channel stays empty, but is not closed.
///
/// # Cancellation
/// Not an interruption point; never suspends.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use pirn::channel::{after, never};
///
/// let work = never::<u32>();
/// pirn::select! {
///     recv(work) -> _ => unreachable!(),
///     recv(after(Duration::from_millis(1))) -> _ => println!("time is up"),
/// }
/// ```
pub fn after(duration: Duration) -> Receiver<Instant> {
    let at = Lock::new(deadline_in(duration));
    open(Some(1), Some(Box::new(Once { at })))
}

/// Opens a channel on which a value arrives every `period`: the moment it was due at.
///
/// At most one value waits to be received. The next one is due one period after this one was,
/// or, if it was received later than that, one period after it was received: a slow
/// receiver misses ticks and is not flooded with them. With a period of zero there is always
/// one.
///
/// # Cancellation
/// Not an interruption point; never suspends.
///
/// # Examples
/// ```
/// use std::time::Duration;
///
/// let beats = pirn::channel::tick(Duration::from_millis(1));
/// assert_eq!(beats.iter().take(3).count(), 3);
/// ```
pub fn tick(period: Duration) -> Receiver<Instant> {
    let at = Lock::new(deadline_in(period));
    open(Some(1), Some(Box::new(Beats { at, period })))
}

/// Opens a channel on which nothing ever arrives: the case of a select that is switched off.
///
/// # Cancellation
/// Not an interruption point; never suspends.
pub fn never<T>() -> Receiver<T> {
    open(Some(0), None)
}

/// A channel that counts one sender, which never goes.
fn open<T>(capacity: Option<usize>, clock: Option<Box<dyn Clock<T>>>) -> Receiver<T> {
    Receiver::new(Arc::new(Pipe::new(capacity, clock)))
}

/// One value, at a time.
struct Once {
    /// None once it has been told.
    at: Lock<Option<Instant>>,
}

impl Clock<Instant> for Once {
    fn tell(&self, now: Instant) -> Option<Instant> {
        self.at.lock().take_if(|at| *at <= now)
    }

    fn due(&self) -> Option<Instant> {
        *self.at.lock()
    }
}

/// A value for every period.
struct Beats {
    /// The next one; none if the clock cannot express it.
    at: Lock<Option<Instant>>,
    period: Duration,
}

impl Clock<Instant> for Beats {
    fn tell(&self, now: Instant) -> Option<Instant> {
        let mut at = self.at.lock();
        let due = at.take_if(|at| *at <= now)?;
        let next = due.checked_add(self.period);
        *at = match next {
            Some(next) if next < now => now.checked_add(self.period),
            next => next,
        };
        Some(due)
    }

    fn due(&self) -> Option<Instant> {
        *self.at.lock()
    }
}
