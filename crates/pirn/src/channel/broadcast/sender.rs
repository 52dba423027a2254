//! The sending end of a broadcast channel.

use std::fmt;
use std::sync::{Arc, Weak};

use super::buffer::Row;
use super::receiver::Receiver;
use crate::base::choice::Operation;
use crate::channel::closing::{ClosedCase, Closing, wait_closed};
use crate::channel::error::SendError;
use crate::wait::object::Nameable;
use crate::wait::{Interrupt, point};

/// Opens a channel that keeps the last `capacity` values for receivers that lag.
///
/// # Panics
/// If `capacity` is 0.
///
/// # Cancellation
/// Not an interruption point; never suspends.
///
/// # Examples
/// ```
/// use pirn::channel::broadcast;
///
/// let (tx, mut rx) = broadcast::channel(8);
/// assert_eq!(tx.send("hello"), Ok(1));
/// assert_eq!(rx.recv(), Ok("hello"));
/// ```
pub fn channel<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    assert!(capacity > 0, "a broadcast channel keeps at least one value");
    let row = Arc::new(Row::new(capacity));
    (
        Sender {
            row: Arc::clone(&row),
        },
        Receiver::new(row, 0),
    )
}

/// The sending end of a broadcast channel; clones send to the same receivers.
///
/// The channel ends when the last sender is dropped.
///
/// # Examples
/// ```
/// use pirn::channel::broadcast;
///
/// let (tx, mut first) = broadcast::channel(8);
/// let other = tx.clone();
/// let mut second = tx.subscribe();
/// tx.send(1).unwrap();
/// other.send(2).unwrap();
/// assert_eq!((first.recv(), first.recv()), (Ok(1), Ok(2)));
/// assert_eq!((second.recv(), second.recv()), (Ok(1), Ok(2)));
/// ```
pub struct Sender<T> {
    row: Arc<Row<T>>,
}

impl<T> Nameable for Sender<T> {
    fn known_at(&self) -> usize {
        (&raw const self.row.state).addr()
    }
}

impl<T> Sender<T> {
    /// Sends `value` to all present receivers and returns their number. It never waits: if the
    /// channel is full, it evicts the oldest value.
    ///
    /// # Errors
    /// `Disconnected` with the value if there is no receiver at present, or the channel is closed.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::{SendError, broadcast};
    ///
    /// let (tx, rx) = broadcast::channel(8);
    /// let other = tx.subscribe();
    /// assert_eq!(tx.send("for two"), Ok(2));
    /// drop((rx, other));
    /// assert_eq!(tx.send("for none"), Err(SendError::Disconnected("for none")));
    /// ```
    pub fn send(&self, value: T) -> Result<usize, SendError<T>> {
        point(Operation::Send, self.known_at());
        self.row.send(value).map_err(SendError::Disconnected)
    }

    /// Returns a receiver of all values sent from now on.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::broadcast;
    ///
    /// let (tx, _rx) = broadcast::channel(8);
    /// tx.send(1).unwrap();
    /// let mut late = tx.subscribe();
    /// tx.send(2).unwrap();
    /// assert_eq!(late.recv(), Ok(2));
    /// ```
    pub fn subscribe(&self) -> Receiver<T> {
        point(Operation::Receive, self.known_at());
        let at = self.row.subscribe(None);
        Receiver::new(Arc::clone(&self.row), at)
    }

    /// Returns the present number of receivers.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::broadcast;
    ///
    /// let (tx, rx) = broadcast::channel::<u32>(8);
    /// let other = rx.clone();
    /// assert_eq!(tx.receiver_count(), 2);
    /// drop((rx, other));
    /// assert_eq!(tx.receiver_count(), 0);
    /// ```
    pub fn receiver_count(&self) -> usize {
        point(Operation::Look, self.known_at());
        self.row.receivers()
    }

    /// Closes the channel for all senders. Returns true for the one call that closed it. Values
    /// sent before are still received.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::broadcast::{self, RecvError};
    ///
    /// let (tx, mut rx) = broadcast::channel(8);
    /// tx.send(1).unwrap();
    /// assert!(tx.close());
    /// assert!(tx.send(2).is_err());
    /// assert_eq!(rx.recv(), Ok(1));
    /// assert_eq!(rx.recv(), Err(RecvError::Disconnected));
    /// ```
    pub fn close(&self) -> bool {
        point(Operation::Close, self.known_at());
        self.row.close()
    }

    /// Returns true if a [`send`](Self::send) fails: there is no receiver at present, or the
    /// channel is closed.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::broadcast;
    ///
    /// let (tx, rx) = broadcast::channel::<u32>(8);
    /// drop(rx);
    /// assert!(tx.is_closed());
    /// let _rx = tx.subscribe();
    /// assert!(!tx.is_closed());
    /// tx.close();
    /// assert!(tx.is_closed());
    /// ```
    pub fn is_closed(&self) -> bool {
        point(Operation::Look, self.known_at());
        self.row.state.lock().is_over()
    }

    /// Waits until there is no receiver, or the channel is closed.
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
    /// use pirn::channel::broadcast;
    ///
    /// let (tx, mut rx) = broadcast::channel(8);
    /// let listener = pirn::spawn(move || rx.recv());
    /// tx.send("the only one").unwrap();
    /// assert_eq!(tx.closed(), Ok(())); // the listener has ended, and dropped `rx`
    /// assert_eq!(listener.join().unwrap(), Ok("the only one"));
    /// ```
    #[track_caller]
    pub fn closed(&self) -> Result<(), Interrupt> {
        wait_closed(&self.row.state)
    }

    /// Returns a select case that wins when [`closed`](Self::closed) would return `Ok`.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::{bounded, broadcast};
    ///
    /// let (news, listener) = broadcast::channel::<u32>(8);
    /// let (_tx, source) = bounded::<u32>(1);
    /// drop(listener);
    /// pirn::select! {
    ///     recv(source) -> item => panic!("{item:?}"),
    ///     case(news.closed_case()) -> () => {} // the news has no listener any more
    ///     cancelled(interrupt) => panic!("{interrupt}"),
    /// }
    /// ```
    pub fn closed_case(&self) -> ClosedCase<'_> {
        ClosedCase::new(&self.row.state)
    }

    /// Returns a handle that does not keep the channel open.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::broadcast::{self, RecvError};
    ///
    /// let (tx, mut rx) = broadcast::channel(8);
    /// let weak = tx.downgrade();
    /// weak.upgrade().unwrap().send(7).unwrap();
    /// drop(tx);
    /// assert!(weak.upgrade().is_none());
    /// assert_eq!(rx.recv(), Ok(7));
    /// assert_eq!(rx.recv(), Err(RecvError::Disconnected));
    /// ```
    pub fn downgrade(&self) -> WeakSender<T> {
        WeakSender {
            row: Arc::downgrade(&self.row),
        }
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.row.state.lock().senders += 1;
        Sender {
            row: Arc::clone(&self.row),
        }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        point(Operation::Close, self.known_at());
        let mut state = self.row.state.lock();
        state.senders -= 1;
        let last = state.senders == 0;
        drop(state);
        if last {
            self.row.close();
        }
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

/// A handle to a broadcast channel that does not keep it open; see [`Sender::downgrade`].
///
/// # Examples
/// ```
/// use pirn::channel::broadcast;
///
/// let (tx, mut rx) = broadcast::channel(8);
/// let weak = tx.downgrade();
/// // Ends when `tx` is dropped, although `weak` still exists.
/// let listener = pirn::spawn(move || std::iter::from_fn(|| rx.recv().ok()).sum::<i32>());
/// tx.send(3).unwrap();
/// drop(tx);
/// assert_eq!(listener.join().unwrap(), 3);
/// assert!(weak.upgrade().is_none());
/// ```
pub struct WeakSender<T> {
    row: Weak<Row<T>>,
}

impl<T> WeakSender<T> {
    /// Returns a sender, unless the last one has been dropped.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::broadcast;
    ///
    /// let (tx, mut rx) = broadcast::channel(8);
    /// let weak = tx.downgrade();
    /// if let Some(tx) = weak.upgrade() {
    ///     tx.send("still open").unwrap();
    /// }
    /// assert_eq!(rx.recv(), Ok("still open"));
    /// drop(tx);
    /// assert!(weak.upgrade().is_none());
    /// ```
    pub fn upgrade(&self) -> Option<Sender<T>> {
        point(Operation::Look, 0);
        let row = self.row.upgrade()?;
        row.revive_sender().then(|| Sender { row })
    }
}

impl<T> Clone for WeakSender<T> {
    fn clone(&self) -> Self {
        WeakSender {
            row: Weak::clone(&self.row),
        }
    }
}

impl<T> fmt::Debug for WeakSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakSender").finish_non_exhaustive()
    }
}
