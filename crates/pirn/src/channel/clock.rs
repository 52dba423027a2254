//! Channels to which a timer sends: once, repeatedly, or never.
//!
//! They need no background fiber or thread. A receiver creates the value once it is due, and a
//! receiver that waits does so with a deadline.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::receiver::Receiver;
use super::shared::{Clock, Shared};
use crate::shim::Lock;
use crate::wait::deadline_in;

/// Opens a channel on which one value arrives after `duration`: the moment at which it was due.
///
/// One receiver gets it. After that the channel stays empty, but is not closed. If the clock cannot
/// express the moment, no value ever arrives.
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
#[doc(alias = "NewTimer")]
#[doc(alias = "time.After")]
pub fn after(duration: Duration) -> Receiver<Instant> {
    let at = Lock::new(deadline_in(duration));
    open(Some(1), Some(Box::new(Once { at })))
}

/// Opens a channel on which a value arrives every `period`: the moment at which it was due.
///
/// The first one arrives after one period. At most one waits to be received, so a slow receiver
/// misses ticks and is not flooded with them. With a period of 100 ms and a tick that was due at
/// 100 ms:
///
/// | Received at | The next one is due at |
/// |---:|---:|
/// | 100 ms | 200 ms |
/// | 190 ms, before the next one is due | 200 ms |
/// | 250 ms, after it | 350 ms: one period later |
///
/// With a period of zero there is always a value.
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
#[doc(alias = "NewTicker")]
#[doc(alias = "interval")]
pub fn tick(period: Duration) -> Receiver<Instant> {
    let at = Lock::new(deadline_in(period));
    open(Some(1), Some(Box::new(Beats { at, period })))
}

/// Opens a channel on which no value ever arrives, for example for a disabled case of a select.
///
/// # Cancellation
/// Not an interruption point; never suspends.
///
/// # Examples
/// ```
/// use std::time::Duration;
///
/// let enabled = false;
/// let (_tx, rx) = pirn::channel::bounded::<u32>(1);
/// let source = if enabled { rx } else { pirn::channel::never() };
/// let received = source.recv_timeout(Duration::from_millis(1));
/// assert!(received.unwrap_err().is_timeout());
/// ```
pub fn never<T>() -> Receiver<T> {
    open(Some(0), None)
}

/// Opens a channel that counts one sender, which is never dropped.
fn open<T>(capacity: Option<usize>, clock: Option<Box<dyn Clock<T>>>) -> Receiver<T> {
    Receiver::new(Arc::new(Shared::new(capacity, clock)))
}

/// One value, at one moment.
struct Once {
    /// `None` once the value has been received.
    at: Lock<Option<Instant>>,
}

impl Clock<Instant> for Once {
    fn value_at(&self, now: Instant) -> Option<Instant> {
        self.at.lock().take_if(|at| *at <= now)
    }

    fn due(&self) -> Option<Instant> {
        *self.at.lock()
    }
}

/// One value for each period.
struct Beats {
    /// When the next value is due; `None` if the clock cannot express it.
    at: Lock<Option<Instant>>,
    period: Duration,
}

impl Clock<Instant> for Beats {
    fn value_at(&self, now: Instant) -> Option<Instant> {
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
