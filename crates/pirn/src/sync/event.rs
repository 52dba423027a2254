//! The event: a state that is set, for all waiters or for one of them.
//!
//! Owns: the state and the waiters.
//!
//! # Invariants
//! * EV1. While an event is set no waiter joins the queue. Setting an automatic event that has
//!   waiters wakes the first of them, and does not set it.
//! * EV2. A waiter remembers how often the event had been set when it joined. So waiters that join
//!   after a reset stay parked while earlier ones are being woken.

use std::fmt;
use std::time::Duration;

use crate::base::choice::Operation;
use crate::fiber::waiter::WaitQueue;
use crate::shim::Lock;
use crate::wait::object::{Describe, Nameable, ObjectKind};
use crate::wait::{
    Attempt, How, Interrupt, Reason, Spec, Waited, consume_budget, deadline_in,
    interrupted, point, wait_in, wake_all,
};

/// An event that fibers and threads wait for until it is set.
///
/// A [manual](Event::manual) event lets all waiters pass from `set` to `reset`, like a gate. An
/// [automatic](Event::auto) event lets one waiter pass for each `set`, like a turnstile.
///
/// # Examples
/// ```
/// use pirn::sync::Event;
///
/// let ready = Event::manual();
/// pirn::scope(|s| {
///     for _ in 0..3 {
///         s.spawn(|| ready.wait().unwrap());
///     }
///     ready.set();
/// });
/// ```
#[doc(alias = "Notify")]
pub struct Event {
    automatic: bool,
    state: Lock<State>,
}

struct State {
    set: bool,
    /// The number of times the event was set.
    times: u64,
    /// Waiters, each with the value of `times` that it found.
    waiters: WaitQueue<u64>,
}

impl Nameable for Event {
    fn known_at(&self) -> usize {
        (&raw const self.state).addr()
    }
}

impl Describe for State {
    fn describe(&self) -> ObjectKind {
        ObjectKind::Event {
            set: self.set,
            waiting: self.waiters.count(),
        }
    }
}

impl Event {
    /// Returns an event, initially not set, that stays set until it is [`reset`](Event::reset).
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    ///
    /// let open = pirn::sync::Event::manual();
    /// open.set();
    /// assert!(open.wait().is_ok() && open.wait().is_ok());
    /// open.reset();
    /// assert_eq!(open.wait_timeout(Duration::from_millis(1)), Ok(false));
    /// ```
    #[must_use]
    pub const fn manual() -> Self {
        Event::new(false)
    }

    /// Returns an event, initially not set, of which each [`set`](Event::set) ends one wait: the
    /// oldest one, or else the next to begin.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    ///
    /// let next = pirn::sync::Event::auto();
    /// next.set();
    /// assert_eq!(next.wait(), Ok(()));
    /// // The wait has cleared it.
    /// assert_eq!(next.wait_timeout(Duration::from_millis(1)), Ok(false));
    /// ```
    #[must_use]
    pub const fn auto() -> Self {
        Event::new(true)
    }

    const fn new(automatic: bool) -> Self {
        Event {
            automatic,
            state: Lock::new(State {
                set: false,
                times: 0,
                waiters: WaitQueue::new(),
            }),
        }
    }

    /// Sets the event. All waiters return, even if it is reset at once; of an automatic event, one
    /// waiter. Setting an event that is set has no effect.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// let ready = pirn::sync::Event::manual();
    /// pirn::scope(|s| {
    ///     let waiter = s.spawn(|| ready.wait());
    ///     ready.set();
    ///     assert_eq!(waiter.join().unwrap(), Ok(()));
    /// });
    /// ```
    #[doc(alias = "notify_one")]
    #[doc(alias = "notify_waiters")]
    pub fn set(&self) {
        point(Operation::Set, self.known_at());
        let mut state = self.state.lock();
        if self.automatic {
            let wake = state.waiters.claim_first(|_| ());
            state.set |= wake.is_none();
            drop(state);
            if let Some(wake) = wake {
                wake.enqueue();
            }
            return;
        }
        state.set = true;
        state.times += 1;
        let limit = state.times;
        drop(state);
        wake_all(&self.state, |state| {
            state.waiters.claim_first_if(|seen| *seen < limit, |_| ())
        });
    }

    /// Clears the event. Waiters that a `set` has already released still return.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    ///
    /// let open = pirn::sync::Event::manual();
    /// open.set();
    /// open.reset();
    /// assert_eq!(open.wait_timeout(Duration::from_millis(1)), Ok(false));
    /// ```
    pub fn reset(&self) {
        point(Operation::Set, self.known_at());
        self.state.lock().set = false;
    }

    /// Blocks until the event is set. An automatic event is cleared by that.
    ///
    /// # Errors
    /// The interrupt of the caller, even if the event is set. An automatic event is left unchanged.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// use pirn::{Interrupt, cancel::Token, sync::Event};
    ///
    /// let ready = Event::manual();
    /// ready.set();
    /// assert_eq!(ready.wait(), Ok(()));
    ///
    /// let token = Token::new();
    /// token.cancel();
    /// assert_eq!(token.enter(|| ready.wait()), Err(Interrupt::Cancelled));
    /// ```
    #[doc(alias = "notified")]
    #[track_caller]
    pub fn wait(&self) -> Result<(), Interrupt> {
        self.wait_as(&Spec::interruptible(Reason::Event)).map(drop)
    }

    /// Blocks until the event is set, for at most `timeout`; returns `Ok(false)` if the time is up
    /// first. An automatic event is cleared if the wait succeeds.
    ///
    /// # Errors
    /// Like [`wait`](Event::wait).
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    ///
    /// let ready = pirn::sync::Event::manual();
    /// assert_eq!(ready.wait_timeout(Duration::from_millis(1)), Ok(false));
    /// ready.set();
    /// assert_eq!(ready.wait_timeout(Duration::from_millis(1)), Ok(true));
    /// ```
    #[track_caller]
    pub fn wait_timeout(&self, timeout: Duration) -> Result<bool, Interrupt> {
        let spec = Spec::interruptible(Reason::Event).until(deadline_in(timeout));
        self.wait_as(&spec)
    }

    /// Waits; returns false if the time is up first.
    #[track_caller]
    fn wait_as(&self, spec: &Spec) -> Result<bool, Interrupt> {
        consume_budget(Operation::Wait, self.known_at());
        if let Some(interrupt) = interrupted() {
            return Err(interrupt);
        }
        let waited = wait_in(
            &self.state,
            |state| &mut state.waiters,
            spec,
            |state| {
                if state.set {
                    state.set = !self.automatic;
                    Attempt::Done(())
                } else {
                    Attempt::Wait(state.times)
                }
            },
        );
        match waited {
            Waited::Done(()) | Waited::Ended(How::Woken(_), _) => Ok(true),
            Waited::Ended(how, _) => how.interrupt().map_or(Ok(false), Err),
        }
    }
}

/// A manual event that is not set.
impl Default for Event {
    fn default() -> Self {
        Event::manual()
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The writer is user code, which runs without the lock.
        let set = self.state.lock().set;
        f.debug_struct("Event")
            .field("automatic", &self.automatic)
            .field("set", &set)
            .finish_non_exhaustive()
    }
}
