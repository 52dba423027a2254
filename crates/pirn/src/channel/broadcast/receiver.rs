//! The receiving end of a broadcast channel.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::buffer::{Found, Row};
use super::case::RecvCase;
use super::error::{RecvError, RecvTimeoutError, TryRecvError};
use super::future::RecvFuture;
use crate::base::choice::Operation;
use crate::wait::object::Nameable;
use crate::wait::{
    Attempt, How, Reason, Spec, Waited, consume_budget, deadline_in, interrupted, point,
    wait_in,
};

/// The receiving end of a broadcast channel, which gets every value that is sent while it exists.
///
/// A clone starts at the position of the original; both receive all later values.
///
/// # Examples
/// ```
/// use pirn::channel::broadcast;
///
/// let (tx, mut rx) = broadcast::channel(8);
/// tx.send(1).unwrap();
/// let mut clone = rx.clone();
/// assert_eq!(rx.recv(), Ok(1));
/// assert_eq!(clone.recv(), Ok(1));
/// ```
pub struct Receiver<T> {
    row: Arc<Row<T>>,
    /// BR2.
    at: u64,
}

impl<T> Nameable for Receiver<T> {
    fn known_at(&self) -> usize {
        (&raw const self.row.state).addr()
    }
}

impl<T> Receiver<T> {
    pub(super) fn new(row: Arc<Row<T>>, at: u64) -> Self {
        Receiver { row, at }
    }

    /// Returns the number of values that were sent since this receiver's position: those that it
    /// can receive, and those that it has missed and not yet been notified of.
    ///
    /// The channel keeps its capacity of them. If there are more, the next receive returns `Lagged`
    /// with the excess, which then no longer counts.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::broadcast::{self, RecvError};
    ///
    /// let (tx, mut rx) = broadcast::channel(2);
    /// tx.send('a').unwrap();
    /// assert_eq!(rx.len(), 1);
    /// tx.send('b').unwrap();
    /// tx.send('c').unwrap(); // evicts 'a'
    /// assert_eq!(rx.len(), 3);
    /// assert_eq!(rx.recv(), Err(RecvError::Lagged(1)));
    /// assert_eq!(rx.len(), 2);
    /// assert_eq!(rx.recv(), Ok('b'));
    /// assert_eq!(rx.len(), 1);
    /// ```
    pub fn len(&self) -> usize {
        point(Operation::Look, self.known_at());
        self.row.state.lock().ahead_of(self.at)
    }

    /// Returns true if no value can be received now, and none was missed.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::broadcast;
    ///
    /// let (tx, rx) = broadcast::channel(8);
    /// assert!(rx.is_empty());
    /// tx.send(1).unwrap();
    /// assert!(!rx.is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns true once nothing can be sent any more, since all senders have been dropped or the
    /// channel is closed; there may still be values to receive.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::broadcast;
    ///
    /// let (tx, mut rx) = broadcast::channel(8);
    /// tx.send(7).unwrap();
    /// assert!(!rx.is_closed());
    /// drop(tx);
    /// assert!(rx.is_closed());
    /// assert_eq!(rx.recv(), Ok(7));
    /// ```
    pub fn is_closed(&self) -> bool {
        point(Operation::Look, self.known_at());
        self.row.state.lock().closed
    }

    /// Returns another receiver of all values sent from now on. A clone, in contrast, starts at the
    /// position of this receiver.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::broadcast;
    ///
    /// let (tx, mut rx) = broadcast::channel(8);
    /// tx.send(1).unwrap();
    /// let mut late = rx.resubscribe();
    /// tx.send(2).unwrap();
    /// assert_eq!(late.recv(), Ok(2));
    /// assert_eq!(rx.recv(), Ok(1));
    /// ```
    pub fn resubscribe(&self) -> Receiver<T> {
        point(Operation::Receive, self.known_at());
        let at = self.row.subscribe(None);
        Receiver::new(Arc::clone(&self.row), at)
    }
}

impl<T: Clone> Receiver<T> {
    /// Receives the next value, waiting until there is one.
    ///
    /// # Errors
    /// [`RecvError`] says why there is none.
    ///
    /// # Panics
    /// If the value's `clone` panics; the value counts as received. Inside the
    /// [poll](crate::future#inside-a-poll) of a future on a fiber, if it has to wait.
    ///
    /// # Cancellation
    /// An interruption point; an interrupted receive has taken nothing. Parks a fiber, blocks
    /// a plain thread.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::broadcast::{self, RecvError};
    ///
    /// let (tx, mut rx) = broadcast::channel(1);
    /// tx.send(1).unwrap();
    /// tx.send(2).unwrap();
    /// assert_eq!(rx.recv(), Err(RecvError::Lagged(1)));
    /// assert_eq!(rx.recv(), Ok(2));
    /// drop(tx);
    /// assert_eq!(rx.recv(), Err(RecvError::Disconnected));
    /// ```
    #[doc(alias = "blocking_recv")]
    #[track_caller]
    pub fn recv(&mut self) -> Result<T, RecvError> {
        self.wait(None).map_err(RecvTimeoutError::unlimited)
    }

    /// Receives the next value if there is one.
    ///
    /// # Errors
    /// [`TryRecvError`] says why there is none.
    ///
    /// # Panics
    /// As [`recv`](Self::recv).
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::broadcast::{self, TryRecvError};
    ///
    /// let (tx, mut rx) = broadcast::channel(8);
    /// assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    /// tx.send(7).unwrap();
    /// assert_eq!(rx.try_recv(), Ok(7));
    /// ```
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        point(Operation::TryReceive, self.known_at());
        match self.row.take(&mut self.at) {
            Found::Value(value) => Ok(Arc::unwrap_or_clone(value)),
            Found::Lagged(missed) => Err(TryRecvError::Lagged(missed)),
            Found::Empty => Err(TryRecvError::Empty),
            Found::Ended => Err(TryRecvError::Disconnected),
        }
    }

    /// Receives the next value, waiting for at most `timeout`. If the clock cannot express
    /// `timeout`, there is no limit.
    ///
    /// # Errors
    /// [`RecvTimeoutError`] says why there is none.
    ///
    /// # Panics
    /// As [`recv`](Self::recv).
    ///
    /// # Cancellation
    /// As [`recv`](Self::recv).
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::broadcast::{self, RecvTimeoutError};
    /// use std::time::Duration;
    ///
    /// let (tx, mut rx) = broadcast::channel(8);
    /// let limit = Duration::from_millis(1);
    /// assert_eq!(rx.recv_timeout(limit), Err(RecvTimeoutError::Timeout));
    /// tx.send(7).unwrap();
    /// assert_eq!(rx.recv_timeout(limit), Ok(7));
    /// ```
    #[track_caller]
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.wait(deadline_in(timeout))
    }

    /// Returns a select case that receives the next value.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::broadcast;
    ///
    /// let (tx, mut rx) = broadcast::channel(8);
    /// tx.send(7).unwrap();
    /// pirn::select! {
    ///     case(rx.recv_case()) -> value => assert_eq!(value, Ok(7)),
    ///     cancelled(interrupt) => panic!("{interrupt}"),
    /// }
    /// ```
    pub fn recv_case(&mut self) -> RecvCase<'_, T> {
        RecvCase::new(&self.row, &mut self.at)
    }

    /// Returns a future that receives the next value. Any executor may poll it.
    ///
    /// If it is dropped before it is ready, it has received nothing: the next receive returns the
    /// value.
    ///
    /// It yields [`RecvError`] as [`recv`](Self::recv) does, and never yields `Interrupted`.
    ///
    /// # Panics
    /// A poll panics if the value's `clone` panics, and the value then counts as received. It also
    /// panics after the future was ready.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::broadcast::{self, RecvError};
    ///
    /// async fn count(mut rx: broadcast::Receiver<&str>) -> u64 {
    ///     let mut count = 0;
    ///     loop {
    ///         match rx.recv_async().await {
    ///             Ok(_) => count += 1,
    ///             // More were sent meanwhile than there is room for; what is left comes next.
    ///             Err(RecvError::Lagged(missed)) => count += missed,
    ///             Err(_) => return count,
    ///         }
    ///     }
    /// }
    ///
    /// let (tx, rx) = broadcast::channel(2);
    /// pirn::spawn(move || (1..=9).for_each(|_| _ = tx.send("tick")));
    /// assert_eq!(pirn::future::block_on(count(rx)), 9);
    /// ```
    pub fn recv_async(&mut self) -> RecvFuture<'_, T> {
        RecvFuture::new(&self.row, &mut self.at)
    }

    #[track_caller]
    fn wait(&mut self, deadline: Option<Instant>) -> Result<T, RecvTimeoutError> {
        consume_budget(Operation::Receive, self.known_at());
        loop {
            if let Some(interrupt) = interrupted() {
                return Err(RecvTimeoutError::Interrupted(interrupt));
            }
            match self.try_recv() {
                Ok(value) => return Ok(value),
                Err(TryRecvError::Disconnected) => {
                    return Err(RecvTimeoutError::Disconnected);
                }
                Err(TryRecvError::Lagged(missed)) => {
                    return Err(RecvTimeoutError::Lagged(missed));
                }
                Err(TryRecvError::Empty) => {}
            }
            let at = self.at;
            let waited = wait_in(
                &self.row.state,
                |state| &mut state.waiting,
                &Spec::interruptible(Reason::Broadcast).until(deadline),
                |state| {
                    if state.next == at && !state.closed {
                        Attempt::Wait(at)
                    } else {
                        Attempt::Done(())
                    }
                },
            );
            match waited {
                Waited::Ended(How::TimedOut, _) => return Err(RecvTimeoutError::Timeout),
                Waited::Ended(How::Interrupted(interrupt), _) => {
                    return Err(RecvTimeoutError::Interrupted(interrupt));
                }
                Waited::Done(()) | Waited::Ended(..) => {}
            }
        }
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        point(Operation::Receive, self.known_at());
        let at = self.row.subscribe(Some(self.at));
        Receiver::new(Arc::clone(&self.row), at)
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        point(Operation::Close, self.known_at());
        self.row.unsubscribe(self.at);
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}
