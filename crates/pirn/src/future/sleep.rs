//! A moment in time as a future.

use std::fmt;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use crate::fiber::current;
use crate::spawn::{JoinHandle, spawn};
use crate::time;
use crate::wait::agenda::{Agenda, Desk, Key};
use crate::wait::deadline_in;
use crate::wait::polling::is_spent;

/// Ready once its moment has come; made by [`sleep`] and [`sleep_until`].
#[must_use = "a future does nothing unless it is polled"]
pub struct Sleep {
    /// None is never.
    at: Option<Instant>,
    place: Place,
}

/// What is to wake the one who polls.
enum Place {
    Nowhere,
    /// A note of the one who polls.
    Noted(Arc<Agenda>, Key),
    /// Somebody else's executor polls: a fiber sleeps.
    Fiber(JoinHandle<()>),
    /// That fiber's runtime has ended before it was time.
    Over,
}

/// Returns a future that is ready after `duration`, by the clock and with the lateness of
/// [`time::sleep`](crate::time::sleep()); what is longer than the clock can tell is for ever.
///
/// Polled by a fiber that [waits](super::wait()) it costs no timer of its own: whoever polls wakes up in
/// time. Polled by a plain thread or by another executor it has a fiber sleep, on the runtime that
/// [`spawn`](crate::spawn()) would use; if that runtime ends before, it is never ready. Dropping it ends it.
/// An executor that blocks the thread inside the poll of a fiber's future keeps that fiber from waking up.
///
/// # Cancellation
/// Not an interruption point; never suspends.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use pirn::future::{block_on, sleep};
///
/// let before = pirn::time::now();
/// block_on(sleep(Duration::from_millis(2)));
/// assert!(pirn::time::now() - before >= Duration::from_millis(2));
/// ```
pub fn sleep(duration: Duration) -> Sleep {
    Sleep {
        at: deadline_in(duration),
        place: Place::Nowhere,
    }
}

/// Like [`sleep`], until `at`, a moment of [`time::now`](crate::time::now()).
///
/// # Cancellation
/// Not an interruption point; never suspends.
pub fn sleep_until(at: Instant) -> Sleep {
    Sleep {
        at: Some(at),
        place: Place::Nowhere,
    }
}

impl Sleep {
    /// Changes the moment; a future that has been ready waits again.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    pub fn reset(&mut self, at: Instant) {
        self.leave();
        self.at = Some(at);
    }

    fn leave(&mut self) {
        match mem::replace(&mut self.place, Place::Nowhere) {
            Place::Nowhere | Place::Over => {}
            Place::Noted(agenda, key) => agenda.strike(key),
            Place::Fiber(asleep) => asleep.cancel(),
        }
    }

    fn is_noted(&self, here: &Arc<Agenda>, context: &Context<'_>) -> bool {
        match &self.place {
            Place::Noted(agenda, key) => {
                Arc::ptr_eq(agenda, here) && agenda.has(*key, context.waker())
            }
            Place::Nowhere | Place::Fiber(_) | Place::Over => false,
        }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        let Some(at) = this.at else {
            return Poll::Pending;
        };
        if is_spent() {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if at <= time::now() {
            this.leave();
            return Poll::Ready(());
        }
        if let Some(agenda) = Desk::at_hand(current::local()) {
            if !this.is_noted(&agenda, context) {
                this.leave();
                let key = agenda.note(at, context.waker());
                this.place = Place::Noted(agenda, key);
            }
            return Poll::Pending;
        }
        if !matches!(this.place, Place::Fiber(_) | Place::Over) {
            this.leave();
            let asleep = spawn(move || {
                // An interrupt is the end of the runtime.
                let _ = time::sleep_until(at);
            });
            this.place = Place::Fiber(asleep);
        }
        let Place::Fiber(asleep) = &mut this.place else {
            return Poll::Pending;
        };
        ready!(Pin::new(asleep).poll(context).map(drop));
        if at <= time::now() {
            this.place = Place::Nowhere;
            return Poll::Ready(());
        }
        this.place = Place::Over;
        Poll::Pending
    }
}

impl Unpin for Sleep {}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.leave();
    }
}

impl fmt::Debug for Sleep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sleep")
            .field("at", &self.at)
            .finish_non_exhaustive()
    }
}
