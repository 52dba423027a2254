//! A point in time as a future.

use std::fmt;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use std::time::{Duration, Instant};

use crate::fiber::current;
use crate::spawn::{JoinHandle, spawn};
use crate::time;
use crate::wait::deadline_in;
use crate::wait::poll_timers::{Key, PollTimers, PollTimersSlot};
use crate::wait::polling::{call, is_spent};

/// A future that is ready once its time has come; created by [`sleep`] and [`sleep_until`].
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use pirn::future::{Sleep, block_on, sleep};
///
/// let short: Sleep = sleep(Duration::from_millis(1));
/// let slept = async {
///     short.await;
///     "awake"
/// };
/// assert_eq!(block_on(slept), "awake");
/// ```
#[must_use = "a future does nothing unless it is polled"]
pub struct Sleep {
    /// None means never.
    at: Option<Instant>,
    place: Place,
    /// The waker of the last poll, for `reset`; none where a note has it.
    waker: Option<Waker>,
}

/// The source of the wake-up.
enum Place {
    Nowhere,
    /// An entry in the timers of the polling fiber.
    Noted(Arc<PollTimers>, Key),
    /// Another executor polls, so a fiber sleeps, until this time.
    Fiber(JoinHandle<bool>, Instant),
    /// The runtime of that fiber has ended too early.
    Over,
}

/// Returns a future that is ready after `duration`, by the clock and with the lateness of
/// [`time::sleep`](crate::time::sleep()). A duration beyond the clock's range means never.
///
/// Polled by a fiber that [waits](super::wait()) it needs no timer of its own: the polling fiber
/// wakes up in time. Polled by a plain thread or by another executor, it spawns a sleeping fiber on
/// the runtime that [`spawn`](crate::spawn()) would use. If that runtime ends before, the future is
/// never ready. Dropping the future ends that fiber. An executor that blocks the thread inside the
/// poll of a fiber's future keeps that fiber from waking up.
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
        waker: None,
    }
}

/// Returns a future that is ready at `at`, a value of [`time::now`](crate::time::now()). Otherwise
/// like [`sleep`].
///
/// # Cancellation
/// Not an interruption point; never suspends.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use pirn::{future, time};
///
/// let end = time::now() + Duration::from_millis(1);
/// future::block_on(future::sleep_until(end));
/// assert!(time::now() >= end);
/// ```
pub fn sleep_until(at: Instant) -> Sleep {
    Sleep {
        at: Some(at),
        place: Place::Nowhere,
        waker: None,
    }
}

impl Sleep {
    /// Changes the time to `at`, a value of [`time::now`](crate::time::now()). A future that has
    /// been ready waits again. If the time is an earlier one, the task that has polled the future is
    /// woken, to poll it again. Else it is woken at the time before, and has to poll it again then.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// use pirn::future::{block_on, sleep};
    ///
    /// let mut limit = sleep(Duration::from_secs(3600));
    /// let soon = pirn::time::now() + Duration::from_millis(1);
    /// limit.reset(soon);
    /// block_on(limit);
    /// assert!(pirn::time::now() >= soon);
    /// ```
    pub fn reset(&mut self, at: Instant) {
        let is_over = matches!(self.place, Place::Over);
        let is_earlier = is_over || self.at.is_none_or(|before| at < before);
        self.at = Some(at);
        // Not for a later time: a task that resets it in each poll would never rest.
        if is_earlier && let Some(waker) = self.leave() {
            call(waker);
        }
    }

    /// Ends the wait, and returns the waker of the last poll.
    fn leave(&mut self) -> Option<Waker> {
        let waker = self.waker.take();
        match mem::replace(&mut self.place, Place::Nowhere) {
            Place::Nowhere | Place::Over => waker,
            Place::Noted(timers, key) => timers.strike(key),
            Place::Fiber(asleep, _) => {
                asleep.cancel();
                waker
            }
        }
    }

    /// Keeps the waker of a poll.
    fn keep(&mut self, waker: &Waker) {
        match &mut self.waker {
            Some(kept) => kept.clone_from(waker),
            kept => *kept = Some(waker.clone()),
        }
    }

    fn is_noted(&self, here: &Arc<PollTimers>, context: &Context<'_>) -> bool {
        match &self.place {
            Place::Noted(timers, key) => {
                Arc::ptr_eq(timers, here) && timers.has(*key, context.waker())
            }
            Place::Nowhere | Place::Fiber(..) | Place::Over => false,
        }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        let Some(at) = this.at else {
            this.keep(context.waker());
            return Poll::Pending;
        };
        if is_spent() {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if at <= time::now() {
            drop(this.leave());
            return Poll::Ready(());
        }
        if let Some(timers) = PollTimersSlot::at_hand(current::local()) {
            if !this.is_noted(&timers, context) {
                drop(this.leave());
                let key = timers.note(at, context.waker());
                this.place = Place::Noted(timers, key);
            }
            return Poll::Pending;
        }
        loop {
            if matches!(this.place, Place::Nowhere | Place::Noted(..)) {
                drop(this.leave());
                let asleep = spawn(move || {
                    // An interrupt means that the runtime ends.
                    time::sleep_until(at).is_ok()
                });
                this.place = Place::Fiber(asleep, at);
            }
            this.keep(context.waker());
            let Place::Fiber(asleep, until) = &mut this.place else {
                return Poll::Pending;
            };
            let ended = ready!(Pin::new(asleep).poll(context));
            let has_slept = ended.is_ok_and(|has_slept| has_slept);
            let is_due = *until >= at;
            // A runtime that the caller has entered may have another clock.
            if has_slept && is_due || at <= time::now() {
                this.place = Place::Nowhere;
                this.waker = None;
                return Poll::Ready(());
            }
            // After a reset to a later time it sleeps again.
            this.place = match has_slept {
                true => Place::Nowhere,
                false => Place::Over,
            };
        }
    }
}

impl Unpin for Sleep {}

impl Drop for Sleep {
    fn drop(&mut self) {
        drop(self.leave());
    }
}

impl fmt::Debug for Sleep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sleep")
            .field("at", &self.at)
            .finish_non_exhaustive()
    }
}
