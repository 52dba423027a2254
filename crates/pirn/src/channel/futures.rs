//! Sending and receiving as futures.
//!
//! Each future is a select case that waits through a future waiter (`wait::awaiting`). It is in the
//! channel's queue among fibers and threads, and values are handed to it as to any of them.

// Owns: the part that all futures of channels share (`Once`), the futures of a pipe, and how a
// future waits for time (`Arrival`, which streams use too). Does not own: the futures of other
// kinds of channels (`oneshot`, `watch`, `broadcast`).

use std::borrow::Borrow;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use super::case::{SendCase, ValueCase};
use super::error::{RecvError, SendError};
use super::shared::Pipe;
use crate::base::mutant::mutant;
use crate::future::{Sleep, sleep_until};
use crate::wait::awaiting::Awaiting;
use crate::wait::choice::Case;

/// A future that receives a value; made by [`recv_async`](super::Receiver::recv_async).
///
/// # Examples
/// ```
/// let (tx, rx) = pirn::channel::bounded(1);
/// let received = rx.recv_async();
/// tx.send(7).unwrap();
/// assert_eq!(pirn::future::block_on(received), Ok(7));
/// ```
#[must_use = "a future does nothing unless it is polled"]
pub struct RecvFuture<'a, T> {
    arrival: Arrival<&'a Pipe<T>, T>,
    done: Cell<bool>,
}

/// A future that sends a value; made by [`send_async`](super::Sender::send_async).
///
/// # Examples
/// ```
/// let (tx, rx) = pirn::channel::bounded(1);
/// let sent = tx.send_async(7);
/// assert!(rx.is_empty()); // not polled yet
/// assert_eq!(pirn::future::block_on(sent), Ok(()));
/// assert_eq!(rx.recv(), Ok(7));
/// ```
#[must_use = "a future does nothing unless it is polled"]
pub struct SendFuture<'a, T>(Once<SendCase<'a, T>>);

/// A case that is awaited and completes once.
pub(super) struct Once<C: Case> {
    awaiting: Awaiting<C>,
    done: Cell<bool>,
}

/// The next value of a pipe, which `P` holds. It may be awaited again after it was ready. A value
/// that was handed over and not collected returns to the channel.
pub(super) struct Arrival<P: Borrow<Pipe<T>>, T> {
    awaiting: Awaiting<ValueCase<P, T>>,
    /// For a channel that a clock sends to: the timer of the next value.
    alarm: RefCell<Option<(Instant, Sleep)>>,
}

impl<'a, T> RecvFuture<'a, T> {
    pub(super) fn new(pipe: &'a Pipe<T>) -> Self {
        RecvFuture {
            arrival: Arrival::new(pipe),
            done: Cell::new(false),
        }
    }
}

impl<T> Future for RecvFuture<'_, T> {
    type Output = Result<T, RecvError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.into_ref().get_ref();
        assert!(!this.done.get(), "{POLLED_AGAIN}");
        // SAFETY: AW1: `arrival` is structurally pinned, and is not moved out of `this`.
        let received = ready!(unsafe { this.arrival.poll(context) });
        this.done.set(true);
        Poll::Ready(received)
    }
}

impl<'a, T> SendFuture<'a, T> {
    pub(super) fn new(pipe: &'a Pipe<T>, value: T) -> Self {
        SendFuture(Once::new(SendCase::new(pipe, value)))
    }
}

impl<T> Future for SendFuture<'_, T> {
    type Output = Result<(), SendError<T>>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: AW1: the field is structurally pinned, and is not moved out of `self`.
        let case = ready!(unsafe { self.into_ref().get_ref().0.poll(context) });
        Poll::Ready(case.collect())
    }
}

impl<C: Case> Once<C> {
    pub(super) fn new(case: C) -> Self {
        Once {
            awaiting: Awaiting::new(case),
            done: Cell::new(false),
        }
    }

    /// Polls the wait. Ready: the case, which is complete.
    ///
    /// # Panics
    /// If it was ready before.
    ///
    /// # Safety
    /// AW1: pinned from now on.
    pub(super) unsafe fn poll(&self, context: &mut Context<'_>) -> Poll<&C> {
        assert!(!self.done.get(), "{POLLED_AGAIN}");
        // SAFETY: AW1: the caller's promise.
        ready!(unsafe { self.awaiting.poll(context) });
        self.done.set(true);
        Poll::Ready(self.awaiting.case())
    }

    /// Withdraws the case from the queue in which it waits.
    pub(super) fn retract(&self) -> &C {
        self.awaiting.retract();
        self.awaiting.case()
    }
}

impl<P: Borrow<Pipe<T>>, T> Arrival<P, T> {
    pub(super) fn new(pipe: P) -> Self {
        Arrival {
            awaiting: Awaiting::new(ValueCase::new(pipe)),
            alarm: RefCell::new(None),
        }
    }

    /// Polls the wait. Ready: a value has been received; the next poll waits for the next value.
    ///
    /// # Safety
    /// AW1: pinned from now on.
    pub(super) unsafe fn poll(
        &self,
        context: &mut Context<'_>,
    ) -> Poll<Result<T, RecvError>> {
        // SAFETY: AW1: the caller's promise.
        while unsafe { self.awaiting.poll(context) }.is_pending() {
            ready!(self.poll_clock(context));
            // The clock is due, so the next attempt starts as if the case had never been published.
            self.awaiting.retract();
        }
        Poll::Ready(self.awaiting.case().collect())
    }

    /// Waits for the channel's clock, if it has one that still sends. Ready when it is time to
    /// check again.
    fn poll_clock(&self, context: &mut Context<'_>) -> Poll<()> {
        let Some(due) = self.awaiting.case().due() else {
            return Poll::Pending;
        };
        let mut alarm = self.alarm.borrow_mut();
        let (until, sleep) = alarm.get_or_insert_with(|| (due, sleep_until(due)));
        if *until != due {
            (*until, *sleep) = (due, sleep_until(due));
        }
        ready!(Pin::new(sleep).poll(context));
        *alarm = None;
        Poll::Ready(())
    }
}

impl<P: Borrow<Pipe<T>>, T> Drop for Arrival<P, T> {
    /// A value that was handed over and not collected returns to the channel.
    fn drop(&mut self) {
        self.awaiting.retract();
        let case = self.awaiting.case();
        if let Some(value) = case.give_up()
            && !mutant!("agent_drops_what_came")
        {
            case.pipe().put_back(value);
        }
    }
}

impl<T> fmt::Debug for RecvFuture<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecvFuture").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for SendFuture<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendFuture").finish_non_exhaustive()
    }
}

const POLLED_AGAIN: &str = "a future is polled that has yielded already";
