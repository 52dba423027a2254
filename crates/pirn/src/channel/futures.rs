//! Sending and receiving as futures.
//!
//! Each is a case of a select that waits by an agent (`wait::awaiting`): it stands in the channel's queue
//! among fibers and threads, and is handed over to like any of them.
//!
//! Owns: what all futures of channels share ([`Once`]), the futures of a pipe, and how a future waits for
//! time ([`Arrival`], which streams are made of too). Does not own: the futures of other kinds of channels
//! (`oneshot`, `watch`, `broadcast`).

use std::borrow::Borrow;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use super::case::{SendCase, ValueCase};
use super::error::{RecvError, SendError};
use super::pipe::Pipe;
use crate::base::mutant::mutant;
use crate::future::{Sleep, sleep_until};
use crate::wait::awaiting::Awaiting;
use crate::wait::choice::Case;

/// Receives a value; made by [`recv_async`](super::Receiver::recv_async).
#[must_use = "a future does nothing unless it is polled"]
pub struct RecvFuture<'a, T> {
    arrival: Arrival<&'a Pipe<T>, T>,
    done: Cell<bool>,
}

/// Sends a value; made by [`send_async`](super::Sender::send_async).
#[must_use = "a future does nothing unless it is polled"]
pub struct SendFuture<'a, T>(Once<SendCase<'a, T>>);

/// A case that is awaited, and yields once.
pub(super) struct Once<C: Case> {
    awaiting: Awaiting<C>,
    done: Cell<bool>,
}

/// The next value of a pipe, held as `P` does; it may be awaited again when it has come. What has come and
/// has not been collected goes back.
pub(super) struct Arrival<P: Borrow<Pipe<T>>, T> {
    awaiting: Awaiting<ValueCase<P, T>>,
    /// Of a channel that time sends to: who waits for that time.
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
        // SAFETY: AW1: it is a part of what is pinned, and is not moved out of it.
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
        // SAFETY: AW1: it is a part of what is pinned, and is not moved out of it.
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

    /// Goes on. Ready: the case, which is complete.
    ///
    /// # Panics
    /// If it has been ready before.
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

    /// Takes the case back from wherever it waits.
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

    /// Goes on. Ready: this has been received; the next poll waits for the next value.
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
            // Now it is time; so it is tried as if it had never been out.
            self.awaiting.retract();
        }
        Poll::Ready(self.awaiting.case().collect())
    }

    /// Waits for the channel's clock, if it has one and that goes on; ready when it is time to look.
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
    /// A value that has been handed over and not been collected goes back.
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
