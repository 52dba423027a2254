//! The receiving end of a oneshot channel.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::case::RecvCase;
use super::slot::{Found, Slot};
use crate::base::choice::Operation;
use crate::channel::error::{RecvError, RecvTimeoutError, TryRecvError};
use crate::wait::object::Nameable;
use crate::wait::wait_info::{Subject, closed};
use crate::wait::{
    Attempt, How, Reason, Spec, Waited, consume_budget, deadline_in, interrupted, point,
    wait_in,
};

/// The receiving end of a oneshot channel. If it is dropped without receiving, a later send returns
/// its value.
///
/// # Examples
/// ```
/// use pirn::channel::oneshot;
///
/// let (tx, rx) = oneshot::channel();
/// let reply = pirn::spawn(move || rx.recv().unwrap() + 1);
/// tx.send(41).unwrap();
/// assert_eq!(reply.join().unwrap(), 42);
/// ```
pub struct Receiver<T> {
    pub(super) slot: Arc<Slot<T>>,
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

    /// Waits for the value and returns it.
    ///
    /// # Errors
    /// `Disconnected` if the sender was dropped without sending, `Interrupted` if the caller is
    /// interrupted. The receiver is consumed in either case, so a later send returns its value.
    /// [`recv_timeout`](Self::recv_timeout) keeps the receiver.
    ///
    /// # Panics
    /// Inside the [poll](crate::future#inside-a-poll) of a future on a fiber, if it has to wait.
    ///
    /// # Cancellation
    /// An interruption point; an interrupted receive has taken nothing. Parks a fiber, blocks
    /// a plain thread.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::{RecvError, oneshot};
    ///
    /// let (tx, rx) = oneshot::channel();
    /// pirn::spawn(move || tx.send(6 * 7));
    /// assert_eq!(rx.recv(), Ok(42));
    ///
    /// let (tx, rx) = oneshot::channel::<u32>();
    /// drop(tx);
    /// assert_eq!(rx.recv(), Err(RecvError::Disconnected));
    /// ```
    #[doc(alias = "blocking_recv")]
    #[track_caller]
    pub fn recv(self) -> Result<T, RecvError> {
        self.wait(None).map_err(RecvTimeoutError::unlimited)
    }

    /// Takes the value if it has been sent.
    ///
    /// # Errors
    /// `Empty` if it has not been sent yet. `Disconnected` if it will never be sent, or has been
    /// taken and the sender was dropped.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::{TryRecvError, oneshot};
    ///
    /// let (tx, mut rx) = oneshot::channel();
    /// assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    /// tx.send(7).unwrap();
    /// assert_eq!(rx.try_recv(), Ok(7));
    /// assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
    /// ```
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        point(Operation::TryReceive, self.known_at());
        match self.slot.state.lock().take() {
            Found::Value(value) => Ok(value),
            Found::Empty => Err(TryRecvError::Empty),
            Found::Ended => Err(TryRecvError::Disconnected),
        }
    }

    /// Waits for the value, for at most `timeout`. If the clock cannot express `timeout`, there is
    /// no limit.
    ///
    /// # Errors
    /// `Timeout` if the time is up first, `Disconnected` as with [`try_recv`](Self::try_recv),
    /// `Interrupted` if the caller is interrupted.
    ///
    /// # Panics
    /// As [`recv`](Self::recv).
    ///
    /// # Cancellation
    /// As [`recv`](Self::recv).
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::{RecvTimeoutError, oneshot};
    /// use std::time::Duration;
    ///
    /// let (tx, mut rx) = oneshot::channel();
    /// let limit = Duration::from_millis(1);
    /// assert_eq!(rx.recv_timeout(limit), Err(RecvTimeoutError::Timeout));
    /// tx.send(7).unwrap();
    /// assert_eq!(rx.recv_timeout(limit), Ok(7));
    /// ```
    #[track_caller]
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.wait(deadline_in(timeout))
    }

    /// Waits for the value, until `deadline` at the latest.
    ///
    /// # Errors
    /// As [`recv_timeout`](Self::recv_timeout).
    ///
    /// # Panics
    /// As [`recv`](Self::recv).
    ///
    /// # Cancellation
    /// As [`recv`](Self::recv).
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::{RecvTimeoutError, oneshot};
    /// use std::time::Duration;
    ///
    /// let (tx, mut rx) = oneshot::channel();
    /// let deadline = pirn::time::now() + Duration::from_millis(1);
    /// assert_eq!(rx.recv_deadline(deadline), Err(RecvTimeoutError::Timeout));
    /// tx.send(7).unwrap();
    /// assert_eq!(rx.try_recv(), Ok(7));
    /// ```
    #[track_caller]
    pub fn recv_deadline(&mut self, deadline: Instant) -> Result<T, RecvTimeoutError> {
        self.wait(Some(deadline))
    }

    /// Closes the channel: a later send fails, and a value that was sent before can still be
    /// received.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::{TryRecvError, oneshot};
    ///
    /// let (tx, mut rx) = oneshot::channel();
    /// rx.close();
    /// assert_eq!(tx.send(7), Err(7));
    /// assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
    /// ```
    pub fn close(&mut self) {
        point(Operation::Close, self.known_at());
        if self.slot.close() {
            closed(Subject::of(&self.slot.state));
        }
    }

    /// Returns true if no value can be received now: it has not been sent yet, has been received,
    /// or will never be sent.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::oneshot;
    ///
    /// let (tx, mut rx) = oneshot::channel();
    /// assert!(rx.is_empty());
    /// tx.send(7).unwrap();
    /// assert!(!rx.is_empty());
    /// assert_eq!(rx.try_recv(), Ok(7));
    /// assert!(rx.is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        point(Operation::Look, self.known_at());
        self.slot.state.lock().value.is_none()
    }

    /// Returns true if no value can be received any more: it has been received, the sender was
    /// dropped without sending, or the receiver was [closed](Self::close) before the send.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::oneshot;
    ///
    /// let (tx, mut rx) = oneshot::channel();
    /// assert!(!rx.is_terminated());
    /// tx.send(7).unwrap();
    /// assert!(!rx.is_terminated()); // the value is still to be received
    /// assert_eq!(rx.try_recv(), Ok(7));
    /// assert!(rx.is_terminated());
    /// ```
    pub fn is_terminated(&self) -> bool {
        point(Operation::Look, self.known_at());
        self.slot.state.lock().has_ended()
    }

    /// Returns a select case that receives the value.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::oneshot;
    ///
    /// let (tx, rx) = oneshot::channel();
    /// tx.send(7).unwrap();
    /// pirn::select! {
    ///     case(rx.recv_case()) -> value => assert_eq!(value, Ok(7)),
    ///     cancelled(interrupt) => panic!("{interrupt}"),
    /// }
    /// ```
    pub fn recv_case(&self) -> RecvCase<'_, T> {
        RecvCase::new(&self.slot)
    }

    /// Receives, and keeps the receiver.
    #[track_caller]
    pub(in crate::channel) fn wait(
        &self,
        deadline: Option<Instant>,
    ) -> Result<T, RecvTimeoutError> {
        consume_budget(Operation::Receive, self.known_at());
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
            // OS1: the party that stored the value claimed this wait, whichever way the wait
            // appears to have ended.
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
        point(Operation::Close, self.known_at());
        // After unlocking: the value's destructor is user code.
        drop(self.slot.end_receiving());
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}
