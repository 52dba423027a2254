//! Sending and receiving as futures.
//!
//! Each future is a select case that waits through a future waiter (`wait::awaiting`). It is in the
//! channel's queue among fibers and threads, and values are handed to it as to any of them.

// Owns: the part that all futures of channels share (`Once`), the futures of a channel, and how a
// future waits for time (`Arrival`, which streams use too). Does not own: the futures of other
// kinds of channels (`oneshot`, `watch`, `broadcast`).

use std::borrow::Borrow;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use pin_project_lite::pin_project;

use super::case::{SendCase, ValueCase};
use super::error::{RecvError, SendError};
use super::shared::Shared;
use crate::base::mutant::mutant;
use crate::future::{Sleep, sleep_until};
use crate::wait::awaiting::Awaiting;
use crate::wait::choice::Case;

pin_project! {
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
        #[pin]
        arrival: Arrival<&'a Shared<T>, T>,
        done: Cell<bool>,
    }
}

pin_project! {
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
    pub struct SendFuture<'a, T> {
        #[pin]
        once: Once<SendCase<'a, T>>,
    }
}

pin_project! {
    /// A case that is awaited and completes once.
    pub(super) struct Once<C: Case> {
        #[pin]
        awaiting: Awaiting<C>,
        done: Cell<bool>,
    }
}

pin_project! {
    /// The next value of a channel, which `P` holds. It may be awaited again after it was ready. A
    /// value that was handed over and not collected returns to the channel.
    pub(super) struct Arrival<P, T>
    where
        P: Borrow<Shared<T>>,
    {
        #[pin]
        awaiting: Awaiting<ValueCase<P, T>>,
        // For a channel that a clock sends to: the timer of the next value.
        timer: RefCell<Option<(Instant, Sleep)>>,
    }

    impl<P, T> PinnedDrop for Arrival<P, T>
    where
        P: Borrow<Shared<T>>,
    {
        fn drop(this: Pin<&mut Self>) {
            this.as_ref().give_back();
        }
    }
}

impl<'a, T> RecvFuture<'a, T> {
    pub(super) fn new(shared: &'a Shared<T>) -> Self {
        RecvFuture {
            arrival: Arrival::new(shared),
            done: Cell::new(false),
        }
    }
}

impl<T> Future for RecvFuture<'_, T> {
    type Output = Result<T, RecvError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.into_ref().project_ref();
        assert!(!this.done.get(), "{POLLED_AGAIN}");
        let received = ready!(this.arrival.poll(context));
        this.done.set(true);
        Poll::Ready(received)
    }
}

impl<'a, T> SendFuture<'a, T> {
    pub(super) fn new(shared: &'a Shared<T>, value: T) -> Self {
        SendFuture {
            once: Once::new(SendCase::new(shared, value)),
        }
    }
}

impl<T> Future for SendFuture<'_, T> {
    type Output = Result<(), SendError<T>>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let once = self.into_ref().project_ref().once;
        Poll::Ready(ready!(once.poll(context)).collect())
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
    pub(super) fn poll<'a>(
        self: Pin<&'a Self>,
        context: &mut Context<'_>,
    ) -> Poll<&'a C> {
        let this = self.project_ref();
        assert!(!this.done.get(), "{POLLED_AGAIN}");
        ready!(this.awaiting.poll(context));
        this.done.set(true);
        Poll::Ready(this.awaiting.get_ref().case())
    }
}

impl<P: Borrow<Shared<T>>, T> Arrival<P, T> {
    pub(super) fn new(shared: P) -> Self {
        Arrival {
            awaiting: Awaiting::new(ValueCase::new(shared)),
            timer: RefCell::new(None),
        }
    }

    /// Polls the wait. Ready: a value has been received; the next poll waits for the next value.
    pub(super) fn poll(
        self: Pin<&Self>,
        context: &mut Context<'_>,
    ) -> Poll<Result<T, RecvError>> {
        let awaiting = self.project_ref().awaiting;
        while awaiting.poll(context).is_pending() {
            let due = ready!(self.poll_clock(context));
            // The next attempt starts as if the case had never been published.
            awaiting.retract();
            awaiting.case().attempt_at(due);
        }
        Poll::Ready(awaiting.case().collect())
    }

    /// Withdraws the case. A value that was handed over and not collected returns to the channel.
    fn give_back(self: Pin<&Self>) {
        let awaiting = self.project_ref().awaiting;
        awaiting.retract();
        let case = awaiting.case();
        if let Some(value) = case.give_up()
            && !mutant!("future_waiter_drops_what_came")
        {
            case.shared().put_back(value);
        }
    }

    /// Waits for the channel's clock, if it has one that still sends. Ready: the time that has come.
    /// It may not have by the caller's clock, if the caller has entered another runtime.
    fn poll_clock(&self, context: &mut Context<'_>) -> Poll<Instant> {
        let Some(due) = self.awaiting.case().due() else {
            return Poll::Pending;
        };
        let mut timer = self.timer.borrow_mut();
        let (until, sleep) = timer.get_or_insert_with(|| (due, sleep_until(due)));
        if *until != due {
            (*until, *sleep) = (due, sleep_until(due));
        }
        ready!(Pin::new(sleep).poll(context));
        *timer = None;
        Poll::Ready(due)
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
