//! The sending end of a watch channel.

use std::fmt;
use std::mem;
use std::sync::Arc;

use super::board::Board;
use super::receiver::{Receiver, Ref};
use crate::base::choice::Operation;
use crate::channel::closing::{ClosedCase, wait_closed};
use crate::channel::error::SendError;
use crate::wait::object::Nameable;
use crate::wait::{Interrupt, point};

/// Opens a watch channel with the initial value `value`.
///
/// # Cancellation
/// Not an interruption point; never suspends.
///
/// # Examples
/// ```
/// use pirn::channel::watch;
///
/// let (tx, rx) = watch::channel("starting");
/// assert_eq!(*rx.borrow(), "starting");
/// tx.send("ready").unwrap();
/// assert_eq!(*rx.borrow(), "ready");
/// ```
pub fn channel<T>(value: T) -> (Sender<T>, Receiver<T>) {
    let board = Arc::new(Board::new(value));
    (
        Sender {
            board: Arc::clone(&board),
        },
        Receiver::new(board, 0),
    )
}

/// The sending end of a watch channel; clones change the same value.
///
/// When the last sender is dropped, waiting receivers return `Disconnected`.
///
/// # Examples
/// ```
/// use pirn::channel::watch;
///
/// let (tx, mut rx) = watch::channel(0);
/// let other = tx.clone();
/// tx.send(1).unwrap();
/// other.modify(|value| *value += 1);
/// assert_eq!(*rx.borrow_and_update(), 2);
/// drop((tx, other));
/// assert!(rx.changed().is_err());
/// ```
pub struct Sender<T> {
    board: Arc<Board<T>>,
}

impl<T> Nameable for Sender<T> {
    fn known_at(&self) -> usize {
        (&raw const self.board.state).addr()
    }
}

impl<T> Sender<T> {
    /// Replaces the value with `value`, drops the old one, and wakes all receivers. Waits while a
    /// [`Ref`] exists.
    ///
    /// # Errors
    /// `Disconnected` with the value if there is no receiver; the old value is then kept.
    ///
    /// # Panics
    /// Inside the [poll](crate::future#inside-a-poll) of a future on a fiber, if it has to wait.
    ///
    /// # Cancellation
    /// Not an interruption point. Parks a fiber, blocks a plain thread. A caller that holds a
    /// [`Ref`] of the same channel deadlocks with itself.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::{SendError, watch};
    ///
    /// let (tx, rx) = watch::channel(1);
    /// assert_eq!(tx.send(2), Ok(()));
    /// assert_eq!(*rx.borrow(), 2);
    /// drop(rx);
    /// assert_eq!(tx.send(3), Err(SendError::Disconnected(3)));
    /// assert_eq!(*tx.borrow(), 2);
    /// ```
    #[track_caller]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        point(Operation::Send, self.known_at());
        if self.board.state.lock().receivers == 0 {
            return Err(SendError::Disconnected(value));
        }
        // The old value is dropped when receivers can read the new one.
        let old = self.board.change(|place| mem::replace(place, value));
        drop(old);
        Ok(())
    }

    /// Changes the value with `f` and wakes all receivers. It changes the value even if there is no
    /// receiver.
    ///
    /// # Panics
    /// If `f` panics. The value is as `f` left it, and receivers are not woken. As
    /// [`send`](Self::send).
    ///
    /// # Cancellation
    /// As [`send`](Self::send).
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::watch;
    ///
    /// let (tx, rx) = watch::channel(vec!["a"]);
    /// let len = tx.modify(|list| {
    ///     list.push("b");
    ///     list.len()
    /// });
    /// assert_eq!(len, 2);
    /// assert_eq!(*rx.borrow(), ["a", "b"]);
    /// ```
    #[doc(alias = "send_modify")]
    #[doc(alias = "send_replace")]
    #[track_caller]
    pub fn modify<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        point(Operation::Send, self.known_at());
        self.board.change(f)
    }

    /// Returns read access to the value.
    ///
    /// # Cancellation
    /// As [`Receiver::borrow`].
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::watch;
    ///
    /// let (tx, _rx) = watch::channel(1);
    /// tx.modify(|value| *value *= 7);
    /// assert_eq!(*tx.borrow(), 7);
    /// ```
    #[track_caller]
    pub fn borrow(&self) -> Ref<'_, T> {
        point(Operation::Look, self.known_at());
        Ref::new(self.board.look())
    }

    /// Returns a receiver that has seen the present value.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::watch;
    ///
    /// let (tx, early) = watch::channel(1);
    /// tx.send(2).unwrap();
    /// let late = tx.subscribe();
    /// assert!(early.has_changed());
    /// assert!(!late.has_changed());
    /// assert_eq!(*late.borrow(), 2);
    /// ```
    pub fn subscribe(&self) -> Receiver<T> {
        point(Operation::Receive, self.known_at());
        let mut state = self.board.state.lock();
        state.receivers += 1;
        let version = state.version;
        drop(state);
        Receiver::new(Arc::clone(&self.board), version)
    }

    /// Returns the present number of receivers.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::watch;
    ///
    /// let (tx, rx) = watch::channel(0);
    /// let other = tx.subscribe();
    /// assert_eq!(tx.receiver_count(), 2);
    /// drop((rx, other));
    /// assert_eq!(tx.receiver_count(), 0);
    /// ```
    pub fn receiver_count(&self) -> usize {
        point(Operation::Look, self.known_at());
        self.board.state.lock().receivers
    }

    /// Returns true if there is no receiver at present, so that a [`send`](Self::send) fails.
    ///
    /// [`subscribe`](Self::subscribe) makes a receiver again.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::watch;
    ///
    /// let (tx, rx) = watch::channel(0);
    /// drop(rx);
    /// assert!(tx.is_closed());
    /// let _rx = tx.subscribe();
    /// assert!(!tx.is_closed());
    /// ```
    pub fn is_closed(&self) -> bool {
        self.receiver_count() == 0
    }

    /// Waits until there is no receiver.
    ///
    /// If a new receiver is [subscribed](Self::subscribe) before the caller resumes, the caller may
    /// wait for its end too.
    ///
    /// # Errors
    /// The interrupt of the caller, even if there is no receiver.
    ///
    /// # Panics
    /// Inside the [poll](crate::future#inside-a-poll) of a future on a fiber, if it has to wait.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::watch;
    ///
    /// let (tx, mut rx) = watch::channel(0);
    /// let reader = pirn::spawn(move || rx.changed());
    /// tx.send(1).unwrap();
    /// assert_eq!(tx.closed(), Ok(())); // the reader has ended, and dropped `rx`
    /// assert!(reader.join().unwrap().is_ok());
    /// ```
    #[track_caller]
    pub fn closed(&self) -> Result<(), Interrupt> {
        wait_closed(&self.board.state)
    }

    /// Returns a select case that wins when [`closed`](Self::closed) would return `Ok`.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::{bounded, watch};
    ///
    /// let (state, reader) = watch::channel(0);
    /// let (_tx, inputs) = bounded::<u32>(1);
    /// drop(reader);
    /// pirn::select! {
    ///     recv(inputs) -> input => panic!("{input:?}"),
    ///     case(state.closed_case()) -> () => {} // the state has no reader any more
    ///     cancelled(interrupt) => panic!("{interrupt}"),
    /// }
    /// ```
    pub fn closed_case(&self) -> ClosedCase<'_> {
        ClosedCase::new(&self.board.state)
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.board.state.lock().senders += 1;
        Sender {
            board: Arc::clone(&self.board),
        }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        point(Operation::Close, self.known_at());
        self.board.remove_sender();
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}
