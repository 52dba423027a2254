//! Sending and receiving as futures.
//!
//! Each is a case of a select that waits by an agent (`wait::awaiting`): it stands in the channel's queue
//! among fibers and threads, and is handed over to like any of them.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use super::case::{RecvCase, SendCase};
use super::error::{RecvError, SendError};
use super::pipe::Pipe;
use crate::base::mutant::mutant;
use crate::spawn::{JoinHandle, spawn};
use crate::time::sleep_until;
use crate::wait::awaiting::Awaiting;
use crate::wait::choice::Case;

/// Receives a value; made by [`recv_async`](super::Receiver::recv_async).
#[must_use = "a future does nothing unless it is polled"]
pub struct RecvFuture<'a, T> {
    pipe: &'a Pipe<T>,
    awaiting: Awaiting<RecvCase<'a, T>>,
    /// Of a channel that time sends to: who waits for that time.
    sleeper: RefCell<Option<Sleeper>>,
    done: Cell<bool>,
}

/// Sends a value; made by [`send_async`](super::Sender::send_async).
#[must_use = "a future does nothing unless it is polled"]
pub struct SendFuture<'a, T> {
    awaiting: Awaiting<SendCase<'a, T>>,
    done: Cell<bool>,
}

/// A fiber that ends when it is time.
struct Sleeper {
    until: Instant,
    fiber: JoinHandle<()>,
}

impl<'a, T> RecvFuture<'a, T> {
    pub(super) fn new(pipe: &'a Pipe<T>) -> Self {
        RecvFuture {
            pipe,
            awaiting: Awaiting::new(RecvCase::new(pipe)),
            sleeper: RefCell::new(None),
            done: Cell::new(false),
        }
    }

    /// Waits for the channel's clock, if it has one and that goes on; ready when it is time to look.
    fn poll_clock(&self, context: &mut Context<'_>) -> Poll<()> {
        let Some(due) = self.awaiting.case().due() else {
            return Poll::Pending;
        };
        let mut sleeper = self.sleeper.borrow_mut();
        if sleeper.as_ref().is_none_or(|sleeper| sleeper.until != due) {
            let fiber = spawn(move || _ = sleep_until(due));
            *sleeper = Some(Sleeper { until: due, fiber });
        }
        let fiber = &mut sleeper.as_mut().expect("made above").fiber;
        let _ = ready!(Pin::new(fiber).poll(context));
        *sleeper = None;
        Poll::Ready(())
    }
}

impl<T> Future for RecvFuture<'_, T> {
    type Output = Result<T, RecvError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.into_ref().get_ref();
        assert!(!this.done.get(), "{POLLED_AGAIN}");
        // SAFETY: AW1: it is a part of what is pinned, and is not moved out of it.
        while unsafe { this.awaiting.poll(context) }.is_pending() {
            ready!(this.poll_clock(context));
            // Now it is time; so it is tried as if it had never been out.
            this.awaiting.retract();
        }
        this.done.set(true);
        Poll::Ready(this.awaiting.case().collect())
    }
}

impl<T> Drop for RecvFuture<'_, T> {
    /// A value that has been handed over and not been collected goes back.
    fn drop(&mut self) {
        self.awaiting.retract();
        if let Some(value) = self.awaiting.case().give_up()
            && !mutant!("agent_drops_what_came")
        {
            self.pipe.put_back(value);
        }
    }
}

impl<'a, T> SendFuture<'a, T> {
    pub(super) fn new(pipe: &'a Pipe<T>, value: T) -> Self {
        SendFuture {
            awaiting: Awaiting::new(SendCase::new(pipe, value)),
            done: Cell::new(false),
        }
    }
}

impl<T> Future for SendFuture<'_, T> {
    type Output = Result<(), SendError<T>>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.into_ref().get_ref();
        assert!(!this.done.get(), "{POLLED_AGAIN}");
        // SAFETY: AW1: it is a part of what is pinned, and is not moved out of it.
        ready!(unsafe { this.awaiting.poll(context) });
        this.done.set(true);
        Poll::Ready(this.awaiting.case().collect())
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        self.fiber.cancel();
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
