//! The sending end of a oneshot channel.

use std::fmt;
use std::sync::Arc;

use super::receiver::Receiver;
use super::slot::Slot;
use crate::base::choice::Operation;
use crate::channel::closing::{ClosedCase, wait_closed};
use crate::wait::object::Nameable;
use crate::wait::{Interrupt, point};

/// Opens a channel for one value.
///
/// # Cancellation
/// Not an interruption point; never suspends.
///
/// # Examples
/// ```
/// use pirn::channel::oneshot;
///
/// let (tx, rx) = oneshot::channel();
/// pirn::spawn(move || tx.send("done").unwrap());
/// assert_eq!(rx.recv(), Ok("done"));
/// ```
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let slot = Arc::new(Slot::new());
    (
        Sender {
            slot: Arc::clone(&slot),
        },
        Receiver::new(slot),
    )
}

/// The sending end of a oneshot channel. If it is dropped without sending, the receiver returns
/// `Disconnected`.
///
/// # Examples
/// ```
/// use pirn::channel::{RecvError, oneshot};
///
/// let (tx, rx) = oneshot::channel();
/// tx.send(7).unwrap();
/// assert_eq!(rx.recv(), Ok(7));
///
/// let (tx, rx) = oneshot::channel::<u32>();
/// drop(tx);
/// assert_eq!(rx.recv(), Err(RecvError::Disconnected));
/// ```
pub struct Sender<T> {
    slot: Arc<Slot<T>>,
}

impl<T> Nameable for Sender<T> {
    fn known_at(&self) -> usize {
        (&raw const self.slot.state).addr()
    }
}

impl<T> Sender<T> {
    /// Sends `value`; never waits.
    ///
    /// # Errors
    /// The value, if the receiver was dropped or closed.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::oneshot;
    ///
    /// let (tx, rx) = oneshot::channel();
    /// assert_eq!(tx.send(7), Ok(()));
    /// assert_eq!(rx.recv(), Ok(7));
    ///
    /// let (tx, rx) = oneshot::channel();
    /// drop(rx);
    /// assert_eq!(tx.send(7), Err(7));
    /// ```
    pub fn send(self, value: T) -> Result<(), T> {
        point(Operation::Send, self.known_at());
        self.slot.put(value)
    }

    /// Returns true if no receiver will take a value, so that the work for it can stop.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::oneshot;
    ///
    /// let (tx, rx) = oneshot::channel::<u32>();
    /// assert!(!tx.is_closed());
    /// drop(rx);
    /// assert!(tx.is_closed());
    /// ```
    #[doc(alias = "is_canceled")]
    pub fn is_closed(&self) -> bool {
        point(Operation::Look, self.known_at());
        self.slot.state.lock().receiver_gone
    }

    /// Waits until no receiver will take a value: it was dropped or
    /// [closed](super::Receiver::close). Work for the value can then stop.
    ///
    /// # Errors
    /// The interrupt of the caller, even if the receiver is gone.
    ///
    /// # Panics
    /// Inside the [poll](crate::future#inside-a-poll) of a future on a fiber, if it has to wait.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::oneshot;
    ///
    /// let (tx, rx) = oneshot::channel::<u32>();
    /// let asker = pirn::spawn(move || drop(rx)); // has lost interest
    /// assert_eq!(tx.closed(), Ok(()));
    /// assert_eq!(tx.send(7), Err(7));
    /// asker.join().unwrap();
    /// ```
    #[doc(alias = "cancellation")]
    #[doc(alias = "poll_closed")]
    #[track_caller]
    pub fn closed(&self) -> Result<(), Interrupt> {
        wait_closed(&self.slot.state)
    }

    /// Returns a select case that wins when [`closed`](Self::closed) would return `Ok`.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::{bounded, oneshot};
    ///
    /// let (answer, asked) = oneshot::channel::<u32>();
    /// let (_tx, parts) = bounded::<u32>(1);
    /// drop(asked);
    /// pirn::select! {
    ///     recv(parts) -> part => panic!("{part:?}"),
    ///     case(answer.closed_case()) -> () => {} // the answer is not needed any more
    ///     cancelled(interrupt) => panic!("{interrupt}"),
    /// }
    /// ```
    pub fn closed_case(&self) -> ClosedCase<'_> {
        ClosedCase::new(&self.slot.state)
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        point(Operation::Close, self.known_at());
        self.slot.end_sending();
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}
