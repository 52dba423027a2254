//! The receiving end of a channel.

use std::error::Error;
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use super::case::{ReadyCase, RecvCase};
use super::error::{RecvError, RecvTimeoutError, TryRecvError};
use super::futures::RecvFuture;
use super::shared::Shared;
use super::state::Side;
use crate::base::choice::Operation;
use crate::wait::object::Nameable;
use crate::wait::{deadline_in, point};

/// The receiving end of a channel; each value is received by one of its clones.
///
/// Every method works on a fiber and on a plain thread. When the last receiver is dropped, the
/// channel closes. Values in the buffer are dropped, and waiting senders get theirs back.
///
/// # Examples
/// ```
/// let (tx, rx) = pirn::channel::bounded(4);
/// let workers: Vec<_> = (0..2)
///     .map(|_| {
///         let rx = rx.clone();
///         pirn::spawn(move || rx.iter().count())
///     })
///     .collect();
/// (0..100).for_each(|n| tx.send(n).unwrap());
/// drop(tx);
/// let received: usize = workers.into_iter().map(|worker| worker.join().unwrap()).sum();
/// assert_eq!(received, 100);
/// ```
#[doc(alias = "UnboundedReceiver")]
#[doc(alias = "chan")]
pub struct Receiver<T> {
    pub(super) channel: Arc<Shared<T>>,
}

impl<T> Nameable for Receiver<T> {
    fn known_at(&self) -> usize {
        (&raw const self.channel.state).addr()
    }
}

impl<T> Receiver<T> {
    pub(super) fn new(channel: Arc<Shared<T>>) -> Self {
        Receiver { channel }
    }

    /// Receives the next value, waiting until there is one.
    ///
    /// # Errors
    /// `Disconnected` if the channel is closed and all its values have been received, `Interrupted`
    /// if the caller is interrupted.
    ///
    /// # Panics
    /// Inside the [poll](crate::future#inside-a-poll) of a future on a fiber, if it has to wait.
    ///
    /// # Cancellation
    /// An interruption point; an interrupted receive has taken nothing. Parks a fiber,
    /// blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::{self, RecvError};
    ///
    /// let (tx, rx) = channel::bounded(1);
    /// pirn::spawn(move || tx.send(7).unwrap());
    /// assert_eq!(rx.recv(), Ok(7));
    /// // The only sender has been dropped.
    /// assert_eq!(rx.recv(), Err(RecvError::Disconnected));
    /// ```
    #[doc(alias = "blocking_recv")]
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        self.channel.recv(None).map_err(RecvTimeoutError::unlimited)
    }

    /// Receives the next value if one is buffered, or if a sender is waiting with one.
    ///
    /// # Errors
    /// `Empty` if there is no value now, `Disconnected` if there will never be one.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::{self, TryRecvError};
    ///
    /// let (tx, rx) = channel::bounded(1);
    /// assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    /// tx.send(7).unwrap();
    /// assert_eq!(rx.try_recv(), Ok(7));
    /// drop(tx);
    /// assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
    /// ```
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        point(Operation::TryReceive, self.known_at());
        self.channel.try_recv()
    }

    /// Receives the next value, waiting for at most `timeout`. If the clock cannot express
    /// `timeout`, there is no limit.
    ///
    /// # Errors
    /// As [`recv`](Receiver::recv), and `Timeout` if the time is up first.
    ///
    /// # Panics
    /// As [`recv`](Receiver::recv).
    ///
    /// # Cancellation
    /// As [`recv`](Receiver::recv).
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::{self, RecvTimeoutError};
    /// use std::time::Duration;
    ///
    /// let (tx, rx) = channel::bounded(1);
    /// let limit = Duration::from_millis(1);
    /// assert_eq!(rx.recv_timeout(limit), Err(RecvTimeoutError::Timeout));
    /// tx.send(7).unwrap();
    /// assert_eq!(rx.recv_timeout(limit), Ok(7));
    /// ```
    #[track_caller]
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.channel.recv(deadline_in(timeout))
    }

    /// Receives the next value, waiting until `deadline` at the latest.
    ///
    /// # Errors
    /// As [`recv`](Receiver::recv), and `Timeout` if the deadline passes first.
    ///
    /// # Panics
    /// As [`recv`](Receiver::recv).
    ///
    /// # Cancellation
    /// As [`recv`](Receiver::recv).
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::{self, RecvTimeoutError};
    /// use std::time::Duration;
    ///
    /// let (tx, rx) = channel::bounded(1);
    /// tx.send(7).unwrap();
    /// let deadline = pirn::time::now() + Duration::from_millis(1);
    /// assert_eq!(rx.recv_deadline(deadline), Ok(7));
    /// assert_eq!(rx.recv_deadline(deadline), Err(RecvTimeoutError::Timeout));
    /// ```
    #[track_caller]
    pub fn recv_deadline(&self, deadline: Instant) -> Result<T, RecvTimeoutError> {
        self.channel.recv(Some(deadline))
    }

    /// Waits for at least one value, appends the available values to `out`, at most `max`, and
    /// returns how many it appended.
    ///
    /// If `max` is 0, it returns 0 at once.
    ///
    /// # Errors
    /// As [`recv`](Receiver::recv); then nothing has been received.
    ///
    /// # Panics
    /// As [`recv`](Receiver::recv).
    ///
    /// # Cancellation
    /// As [`recv`](Receiver::recv).
    ///
    /// # Examples
    /// ```
    /// let (tx, rx) = pirn::channel::bounded(8);
    /// (1..=5).for_each(|n| tx.send(n).unwrap());
    /// let mut batch = Vec::new();
    /// assert_eq!(rx.recv_many(&mut batch, 3), Ok(3));
    /// assert_eq!(rx.recv_many(&mut batch, 3), Ok(2));
    /// assert_eq!(batch, [1, 2, 3, 4, 5]);
    /// ```
    #[doc(alias = "blocking_recv_many")]
    #[track_caller]
    pub fn recv_many(&self, out: &mut Vec<T>, max: usize) -> Result<usize, RecvError> {
        self.channel.recv_many(out, max)
    }

    /// Returns a select case that receives; see [`RecvCase`].
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// let (tx, rx) = pirn::channel::bounded(1);
    /// tx.send(7).unwrap();
    /// let mut case = rx.recv_case();
    /// pirn::select! {
    ///     case(case) -> value => assert_eq!(value, Ok(7)),
    ///     cancelled(interrupt) => panic!("{interrupt}"),
    /// }
    /// ```
    pub fn recv_case(&self) -> RecvCase<'_, T> {
        RecvCase::new(&self.channel)
    }

    /// Returns a future that receives the next value. Any executor may poll it: a fiber in
    /// [`future::wait`](crate::future::wait()), or another library's runtime.
    ///
    /// The first poll that finds no value puts the future into the queue of waiting receivers, and
    /// it keeps its place between polls. If it is dropped before it is ready, it has received
    /// nothing. A value already handed to it goes to the next receiver, or back to the front of the
    /// channel: of several futures that are dropped, the value of the last one comes first. Then
    /// [`len`](Receiver::len) may exceed the capacity by these values, and other receivers may
    /// already have returned `Disconnected`.
    ///
    /// For a receiver of [`after`](super::after) or [`tick`](super::tick), the future waits as a
    /// [`future::sleep`](crate::future::sleep()) does.
    ///
    /// It yields `Disconnected` as [`recv`](Receiver::recv) does, and never yields `Interrupted`.
    ///
    /// # Panics
    /// A poll panics after the future was ready.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel;
    ///
    /// let (tx, rx) = channel::bounded(0);
    /// pirn::spawn(move || tx.send(7));
    /// assert_eq!(pirn::future::wait(async { rx.recv_async().await }), Ok(Ok(7)));
    /// ```
    pub fn recv_async(&self) -> RecvFuture<'_, T> {
        RecvFuture::new(&self.channel)
    }

    /// Returns a select case that wins when a receive would not wait. It receives nothing, so
    /// another receiver may take the value first.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::select::Select;
    ///
    /// let (tx, rx) = pirn::channel::bounded(1);
    /// let mut ready = rx.ready_case();
    /// let mut select = Select::new();
    /// select.add(&mut ready);
    /// assert_eq!(select.try_wait(), None);
    /// tx.send(7).unwrap();
    /// assert_eq!(select.try_wait(), Some(0));
    /// assert_eq!(rx.try_recv(), Ok(7));
    /// ```
    pub fn ready_case(&self) -> ReadyCase<'_> {
        ReadyCase::new(&*self.channel, Side::Receive)
    }

    /// Returns the reason given to `close_with`, if the channel was closed with one.
    ///
    /// # Examples
    /// ```
    /// let (tx, rx) = pirn::channel::bounded::<u32>(1);
    /// tx.close_with("end of file");
    /// assert!(rx.recv().is_err());
    /// assert_eq!(rx.close_reason().unwrap().to_string(), "end of file");
    /// ```
    pub fn close_reason(&self) -> Option<Arc<dyn Error + Send + Sync>> {
        point(Operation::Look, self.known_at());
        self.channel.close_reason()
    }

    /// Closes the channel as [`close`](Receiver::close) does, and stores `reason` for
    /// [`close_reason`](crate::channel::Sender::close_reason) on either side. Returns false if the
    /// channel was closed before; the earlier reason is then kept.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::{self, SendError};
    ///
    /// let (tx, rx) = channel::bounded(1);
    /// assert!(rx.close_with("too many errors"));
    /// assert!(!rx.close_with("a later reason"));
    /// assert_eq!(tx.send(1), Err(SendError::Disconnected(1)));
    /// assert_eq!(tx.close_reason().unwrap().to_string(), "too many errors");
    /// ```
    pub fn close_with(&self, reason: impl Into<Box<dyn Error + Send + Sync>>) -> bool {
        point(Operation::Close, self.known_at());
        self.channel.close(Some(Arc::from(reason.into())))
    }

    /// Closes the channel for all senders and receivers. Returns true for the one call that closed
    /// it.
    ///
    /// Later sends fail. Values sent before are still received. So are the values of senders that
    /// are waiting for room; their sends succeed. With capacity 0, waiting senders get their values
    /// back. Waiting receivers are woken.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::{self, RecvError, SendError};
    ///
    /// let (tx, rx) = channel::bounded(1);
    /// tx.send(1).unwrap();
    /// assert!(rx.close());
    /// assert!(!tx.close());
    /// assert_eq!(tx.send(2), Err(SendError::Disconnected(2)));
    /// assert_eq!(rx.recv(), Ok(1));
    /// assert_eq!(rx.recv(), Err(RecvError::Disconnected));
    /// ```
    pub fn close(&self) -> bool {
        point(Operation::Close, self.known_at());
        self.channel.close(None)
    }

    /// Returns true once nothing can be sent any more; there may still be values to receive.
    ///
    /// # Examples
    /// ```
    /// let (tx, rx) = pirn::channel::bounded(1);
    /// tx.send(7).unwrap();
    /// drop(tx);
    /// assert!(rx.is_closed());
    /// assert_eq!(rx.recv(), Ok(7));
    /// ```
    pub fn is_closed(&self) -> bool {
        point(Operation::Look, self.known_at());
        self.channel.is_closed()
    }

    /// Returns the number of values in the buffer.
    ///
    /// It may exceed the capacity: after a close by the values of senders that were waiting, and by
    /// values that a dropped future [returned](Receiver::recv_async).
    ///
    /// # Examples
    /// ```
    /// let (tx, rx) = pirn::channel::bounded(4);
    /// tx.send('a').unwrap();
    /// tx.send('b').unwrap();
    /// assert_eq!(rx.len(), 2);
    /// rx.recv().unwrap();
    /// assert_eq!(rx.len(), 1);
    /// ```
    pub fn len(&self) -> usize {
        point(Operation::Look, self.known_at());
        self.channel.len()
    }

    /// Returns true if the buffer is empty; true with capacity 0, unless a dropped future has
    /// [returned](Receiver::recv_async) a value.
    ///
    /// # Examples
    /// ```
    /// let (tx, rx) = pirn::channel::bounded(4);
    /// assert!(rx.is_empty());
    /// tx.send(1).unwrap();
    /// assert!(!rx.is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        point(Operation::Look, self.known_at());
        self.channel.len() == 0
    }

    /// Returns true if the buffer is full; always true with capacity 0.
    ///
    /// # Examples
    /// ```
    /// let (tx, rx) = pirn::channel::bounded(1);
    /// assert!(!rx.is_full());
    /// tx.send(1).unwrap();
    /// assert!(rx.is_full());
    /// ```
    pub fn is_full(&self) -> bool {
        point(Operation::Look, self.known_at());
        self.channel.is_full()
    }

    /// Returns how many values the buffer can hold; `None` means that there is no limit.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel;
    ///
    /// assert_eq!(channel::bounded::<u8>(4).1.capacity(), Some(4));
    /// assert_eq!(channel::unbounded::<u8>().1.capacity(), None);
    /// ```
    #[doc(alias = "cap")]
    #[doc(alias = "max_capacity")]
    pub fn capacity(&self) -> Option<usize> {
        self.channel.limit()
    }

    /// Returns true if `other` receives from the same channel.
    ///
    /// # Examples
    /// ```
    /// let (_tx, rx) = pirn::channel::bounded::<u32>(1);
    /// let (_, other) = pirn::channel::bounded::<u32>(1);
    /// assert!(rx.same_channel(&rx.clone()));
    /// assert!(!rx.same_channel(&other));
    /// ```
    pub fn same_channel(&self, other: &Receiver<T>) -> bool {
        Arc::ptr_eq(&self.channel, &other.channel)
    }

    /// Returns a handle that does not keep the channel open.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// let (tx, rx) = pirn::channel::bounded(1);
    /// let weak = rx.downgrade();
    /// tx.send(7).unwrap();
    /// assert_eq!(weak.upgrade().unwrap().recv(), Ok(7));
    /// drop(rx);
    /// assert!(weak.upgrade().is_none() && tx.send(8).is_err());
    /// ```
    pub fn downgrade(&self) -> WeakReceiver<T> {
        WeakReceiver {
            channel: Arc::downgrade(&self.channel),
        }
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        self.channel.add_receiver();
        Receiver {
            channel: Arc::clone(&self.channel),
        }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        point(Operation::Close, self.known_at());
        self.channel.remove_receiver();
    }
}

impl<T> UnwindSafe for Receiver<T> {}
impl<T> RefUnwindSafe for Receiver<T> {}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Receiver").field(&self.channel).finish()
    }
}

/// A handle to a channel that does not keep it open; see [`Receiver::downgrade`].
///
/// # Examples
/// ```
/// let (tx, rx) = pirn::channel::bounded(1);
/// let weak = rx.downgrade();
/// // Ends when `rx` is dropped, although `weak` still exists.
/// let writer = pirn::spawn(move || (0..).take_while(|n| tx.send(*n).is_ok()).count());
/// assert_eq!(rx.recv(), Ok(0));
/// drop(rx);
/// assert!(writer.join().unwrap() >= 1);
/// assert!(weak.upgrade().is_none());
/// ```
pub struct WeakReceiver<T> {
    channel: Weak<Shared<T>>,
}

impl<T> WeakReceiver<T> {
    /// Returns a receiver, unless the last one has been dropped.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// let (tx, rx) = pirn::channel::bounded(1);
    /// let weak = rx.downgrade();
    /// tx.send("still open").unwrap();
    /// assert_eq!(weak.upgrade().unwrap().recv(), Ok("still open"));
    /// drop(rx);
    /// assert!(weak.upgrade().is_none());
    /// ```
    pub fn upgrade(&self) -> Option<Receiver<T>> {
        point(Operation::Look, 0);
        let channel = self.channel.upgrade()?;
        channel.revive_receiver().then(|| Receiver { channel })
    }
}

impl<T> Clone for WeakReceiver<T> {
    fn clone(&self) -> Self {
        WeakReceiver {
            channel: Weak::clone(&self.channel),
        }
    }
}

impl<T> UnwindSafe for WeakReceiver<T> {}
impl<T> RefUnwindSafe for WeakReceiver<T> {}

impl<T> fmt::Debug for WeakReceiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakReceiver").finish_non_exhaustive()
    }
}
