//! The receiving end of a oneshot channel.

use std::fmt;
use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::case::RecvCase;
use super::future::RecvFuture;
use super::slot::{Found, Slot};
use crate::channel::error::{RecvError, RecvTimeoutError, TryRecvError};
use crate::wait::notice::{Subject, closed};
use crate::wait::object::Nameable;
use crate::wait::{
    Attempt, How, Reason, Spec, Waited, deadline_in, interrupted, spend, wait_in,
};

/// Receives one value. Dropped without, it gives the sender its value back.
pub struct Receiver<T> {
    slot: Arc<Slot<T>>,
}

impl<T> Nameable for Receiver<T> {
    fn known_at(&self) -> usize {
        (&raw const self.slot.state).addr()
    }
}

impl<T> Receiver<T> {
    pub(super) fn new(slot: Arc<Slot<T>>) -> Self {
        Receiver { slot }
    }

    /// Waits for the value.
    ///
    /// # Errors
    /// `Disconnected` if the sender has gone without sending, `Interrupted` if the caller is
    /// interrupted. The receiver is gone then, and a sender that comes later gets its value
    /// back; [`recv_timeout`](Self::recv_timeout) keeps the receiver.
    ///
    /// # Cancellation
    /// An interruption point; an interrupted receive has taken nothing. Parks a fiber, blocks
    /// a plain thread.
    #[track_caller]
    pub fn recv(self) -> Result<T, RecvError> {
        self.wait(None).map_err(RecvTimeoutError::unlimited)
    }

    /// Takes the value if it is there.
    ///
    /// # Errors
    /// `Empty` if it is not there yet, `Disconnected` if it never will be, or has been taken
    /// and the sender has gone.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        match self.slot.state.lock().take() {
            Found::Value(value) => Ok(value),
            Found::Empty => Err(TryRecvError::Empty),
            Found::Ended => Err(TryRecvError::Disconnected),
        }
    }

    /// Waits for the value, no longer than `timeout`.
    ///
    /// # Errors
    /// `Timeout` if the time was up first, `Disconnected` as with
    /// [`try_recv`](Self::try_recv), `Interrupted` if the caller is interrupted.
    ///
    /// # Cancellation
    /// As [`recv`](Self::recv).
    #[track_caller]
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.wait(deadline_in(timeout))
    }

    /// Waits for the value, no longer than until `deadline`.
    ///
    /// # Errors
    /// As [`recv_timeout`](Self::recv_timeout).
    ///
    /// # Cancellation
    /// As [`recv`](Self::recv).
    #[track_caller]
    pub fn recv_deadline(&mut self, deadline: Instant) -> Result<T, RecvTimeoutError> {
        self.wait(Some(deadline))
    }

    /// Refuses a value that has not been sent yet; one that has can still be taken.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    pub fn close(&mut self) {
        let was_gone = mem::replace(&mut self.slot.state.lock().receiver_gone, true);
        if !was_gone {
            closed(Subject::of(&self.slot.state));
        }
    }

    /// Returns a case for a select that receives the value.
    pub fn recv_case(&self) -> RecvCase<'_, T> {
        RecvCase::new(&self.slot)
    }

    /// Returns a future that receives the value, polled by whatever there is, and keeps the receiver.
    ///
    /// Dropped before it has yielded, it has received nothing: a value that was handed over to it is there
    /// for the next receive.
    ///
    /// It yields `Disconnected` if the sender has gone without sending, or the value has been taken; it is
    /// never `Interrupted`.
    ///
    /// # Panics
    /// The polls, after it has yielded.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::oneshot;
    ///
    /// async fn answer(mut rx: oneshot::Receiver<u32>) -> Option<u32> {
    ///     rx.recv_async().await.ok()
    /// }
    ///
    /// let (tx, rx) = oneshot::channel();
    /// pirn::spawn(move || tx.send(6 * 7));
    /// assert_eq!(pirn::future::block_on(answer(rx)), Some(42));
    /// ```
    pub fn recv_async(&mut self) -> RecvFuture<'_, T> {
        RecvFuture::new(&self.slot)
    }

    /// Receives, and keeps the receiver.
    #[track_caller]
    pub(in crate::channel) fn wait(
        &self,
        deadline: Option<Instant>,
    ) -> Result<T, RecvTimeoutError> {
        spend();
        if let Some(interrupt) = interrupted() {
            return Err(RecvTimeoutError::Interrupted(interrupt));
        }
        let spec = Spec::interruptible(Reason::Oneshot).until(deadline);
        let waited = wait_in(
            &self.slot.state,
            |state| &mut state.waiting,
            &spec,
            |state| match state.take() {
                Found::Value(value) => Attempt::Done(Some(value)),
                Found::Ended => Attempt::Done(None),
                Found::Empty => Attempt::Wait(None),
            },
        );
        match waited {
            // OS1: whoever put it here has claimed the wait, however it looks from here.
            Waited::Done(Some(value)) | Waited::Ended(_, Some(value)) => Ok(value),
            Waited::Done(None) => Err(RecvTimeoutError::Disconnected),
            Waited::Ended(how, None) => Err(match how {
                How::TimedOut => RecvTimeoutError::Timeout,
                How::Interrupted(interrupt) => RecvTimeoutError::Interrupted(interrupt),
                How::Woken(_) | How::Token => RecvTimeoutError::Disconnected,
            }),
        }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        // With the lock free: the value's destructor is the user's.
        drop(self.slot.end_receiving());
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}
