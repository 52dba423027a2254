//! The sending end of a channel.

use std::collections::VecDeque;
use std::error::Error;
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use super::case::{ReadyCase, SendCase};
use super::error::{SendError, SendTimeoutError, TrySendError};
use super::futures::SendFuture;
use super::shared::Shared;
use super::state::Side;
use crate::base::choice::Operation;
use crate::wait::object::Nameable;
use crate::wait::{deadline_in, point};

/// The sending end of a channel; clones send to the same channel.
///
/// Every method works on a fiber and on a plain thread. The channel closes when the last
/// sender has been dropped.
///
/// # Examples
/// ```
/// let (tx, rx) = pirn::channel::bounded(1);
/// let sender = pirn::spawn(move || {
///     for i in 0..3 {
///         tx.send(i).unwrap();
///     }
/// });
/// assert_eq!(rx.into_iter().sum::<i32>(), 3);
/// sender.join().unwrap();
/// ```
#[doc(alias = "SyncSender")]
#[doc(alias = "UnboundedSender")]
#[doc(alias = "chan")]
pub struct Sender<T> {
    channel: Arc<Shared<T>>,
}

impl<T> Nameable for Sender<T> {
    fn known_at(&self) -> usize {
        (&raw const self.channel.state).addr()
    }
}

impl<T> Sender<T> {
    pub(super) fn new(channel: Arc<Shared<T>>) -> Self {
        Sender { channel }
    }

    /// Returns true if nothing more can be sent. Never suspends, not even under a strategy.
    pub(crate) fn has_closed(&self) -> bool {
        self.channel.is_closed()
    }

    pub(super) fn shared(&self) -> &Shared<T> {
        &self.channel
    }

    /// Returns a closure that reports whether a receiver is waiting. It does not keep the channel
    /// open.
    pub(crate) fn awaited(&self) -> impl Fn() -> bool + Send + Sync + 'static
    where
        T: Send + 'static,
    {
        let channel = Arc::downgrade(&self.channel);
        move || channel.upgrade().is_some_and(|shared| shared.is_awaited())
    }

    /// Returns whether the channel holds a value for which `sought` returns true. `sought` is
    /// called with a lock held.
    pub(crate) fn holds(&self, sought: impl Fn(&T) -> bool) -> bool {
        self.channel.holds(sought)
    }

    /// Sends `value`, waiting while the channel is full. With capacity 0 it waits until a receiver
    /// takes the value.
    ///
    /// # Errors
    /// `Disconnected` if the channel is closed, `Interrupted` if the caller is interrupted. Both
    /// return the value.
    ///
    /// # Panics
    /// Inside the [poll](crate::future#inside-a-poll) of a future on a fiber, if it has to wait.
    ///
    /// # Cancellation
    /// An interruption point; an interrupted send has sent nothing. Parks a fiber, blocks a
    /// plain thread.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::{self, SendError};
    ///
    /// let (tx, rx) = channel::bounded(1);
    /// assert_eq!(tx.send(1), Ok(()));
    /// drop(rx);
    /// assert_eq!(tx.send(2), Err(SendError::Disconnected(2)));
    /// ```
    #[doc(alias = "blocking_send")]
    #[track_caller]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        self.channel
            .send(value, None)
            .map_err(SendTimeoutError::unlimited)
    }

    /// Sends `value` if this is possible without waiting.
    ///
    /// # Errors
    /// `Full` if the channel is full and no receiver waits, `Disconnected` if the channel is
    /// closed. Both return the value.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::{self, TrySendError};
    ///
    /// let (tx, rx) = channel::bounded(1);
    /// assert_eq!(tx.try_send(1), Ok(()));
    /// assert_eq!(tx.try_send(2), Err(TrySendError::Full(2)));
    /// drop(rx);
    /// assert_eq!(tx.try_send(3), Err(TrySendError::Disconnected(3)));
    /// ```
    pub fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        point(Operation::TrySend, self.known_at());
        self.channel.try_send(value)
    }

    /// Sends `value`, waiting for at most `timeout`. If the clock cannot express `timeout`, there
    /// is no limit.
    ///
    /// # Errors
    /// As [`send`](Sender::send), and `Timeout` if the time is up first.
    ///
    /// # Panics
    /// As [`send`](Sender::send).
    ///
    /// # Cancellation
    /// As [`send`](Sender::send).
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::{self, SendTimeoutError};
    /// use std::time::Duration;
    ///
    /// let (tx, _rx) = channel::bounded(1);
    /// let limit = Duration::from_millis(1);
    /// assert_eq!(tx.send_timeout("first", limit), Ok(()));
    /// assert_eq!(tx.send_timeout("second", limit), Err(SendTimeoutError::Timeout("second")));
    /// ```
    #[track_caller]
    pub fn send_timeout(
        &self,
        value: T,
        timeout: Duration,
    ) -> Result<(), SendTimeoutError<T>> {
        self.channel.send(value, deadline_in(timeout))
    }

    /// Sends `value`, waiting until `deadline` at the latest.
    ///
    /// # Errors
    /// As [`send`](Sender::send), and `Timeout` if the deadline passes first.
    ///
    /// # Panics
    /// As [`send`](Sender::send).
    ///
    /// # Cancellation
    /// As [`send`](Sender::send).
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::{self, SendTimeoutError};
    /// use std::time::Duration;
    ///
    /// let (tx, _rx) = channel::bounded(1);
    /// let deadline = pirn::time::now() + Duration::from_millis(1);
    /// assert_eq!(tx.send_deadline(1, deadline), Ok(()));
    /// assert_eq!(tx.send_deadline(2, deadline), Err(SendTimeoutError::Timeout(2)));
    /// ```
    #[track_caller]
    pub fn send_deadline(
        &self,
        value: T,
        deadline: Instant,
    ) -> Result<(), SendTimeoutError<T>> {
        self.channel.send(value, Some(deadline))
    }

    /// Sends `value` without waiting; if the channel is full, it evicts and returns the oldest
    /// value.
    ///
    /// On a full channel, [`try_send`](Sender::try_send) returns the newest value, and
    /// [`send`](Sender::send) waits. On a channel of capacity 0 without a waiting receiver,
    /// `force_send` returns `value` itself.
    ///
    /// # Errors
    /// `Disconnected` with the value if the channel is closed.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// // Keeps the two latest readings.
    /// let (tx, rx) = pirn::channel::bounded(2);
    /// assert_eq!(tx.force_send(20.5), Ok(None));
    /// assert_eq!(tx.force_send(21.0), Ok(None));
    /// assert_eq!(tx.force_send(21.5), Ok(Some(20.5)));
    /// assert_eq!(rx.try_iter().collect::<Vec<_>>(), [21.0, 21.5]);
    /// ```
    #[doc(alias = "force_push")]
    pub fn force_send(&self, value: T) -> Result<Option<T>, SendError<T>> {
        point(Operation::TrySend, self.known_at());
        self.channel.force_send(value)
    }

    /// Sends all of `values` in order, from the front, waiting while the channel is full. It is
    /// cheaper than separate sends when the channel has room.
    ///
    /// # Errors
    /// As [`send`](Sender::send). Values that have not been sent remain in `values`.
    ///
    /// # Panics
    /// As [`send`](Sender::send). The value at hand is dropped then; the others remain.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// use std::collections::VecDeque;
    ///
    /// let (tx, rx) = pirn::channel::bounded(8);
    /// let mut batch = VecDeque::from([1, 2, 3]);
    /// tx.send_many(&mut batch).unwrap();
    /// assert!(batch.is_empty());
    /// assert_eq!(rx.try_iter().collect::<Vec<_>>(), [1, 2, 3]);
    /// ```
    #[track_caller]
    pub fn send_many(&self, values: &mut VecDeque<T>) -> Result<(), SendError<()>> {
        self.channel.send_many(values)
    }

    /// Returns a future that sends `value`. Any executor may poll it: a fiber in
    /// [`future::wait`](crate::future::wait()), or another library's runtime.
    ///
    /// The first poll that finds no room puts the future into the queue of waiting senders, and it
    /// keeps its place between polls. If it is dropped before it is ready, it has either sent the
    /// value or drops it.
    ///
    /// It yields `Disconnected` as [`send`](Sender::send) does, and never yields `Interrupted`.
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
    /// let (tx, rx) = channel::bounded(1);
    /// pirn::future::block_on(tx.send_async(7)).unwrap();
    /// assert_eq!(rx.recv(), Ok(7));
    /// ```
    pub fn send_async(&self, value: T) -> SendFuture<'_, T> {
        SendFuture::new(&self.channel, value)
    }

    /// Returns a select case that sends `value`.
    ///
    /// The value stays in the case until the case wins; see [`SendCase`].
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// let (tx, rx) = pirn::channel::bounded(1);
    /// let mut case = tx.send_case("hello");
    /// pirn::select! {
    ///     case(case) -> sent => assert_eq!(sent, Ok(())),
    ///     cancelled(interrupt) => panic!("{interrupt}"),
    /// }
    /// assert_eq!(rx.recv(), Ok("hello"));
    /// ```
    pub fn send_case(&self, value: T) -> SendCase<'_, T> {
        SendCase::new(&self.channel, value)
    }

    /// Returns a select case that wins when a send would not wait. It sends nothing, so another
    /// sender may take the room first.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::select::Select;
    ///
    /// let (tx, rx) = pirn::channel::bounded(1);
    /// tx.send(1).unwrap();
    /// let mut ready = tx.ready_case();
    /// let mut select = Select::new();
    /// select.add(&mut ready);
    /// assert_eq!(select.try_wait(), None);
    /// rx.recv().unwrap();
    /// assert_eq!(select.try_wait(), Some(0));
    /// assert!(tx.is_empty()); // nothing has been sent
    /// ```
    pub fn ready_case(&self) -> ReadyCase<'_> {
        ReadyCase::new(&*self.channel, Side::Send)
    }

    /// Closes the channel as [`close`](Sender::close) does, and stores `reason` for
    /// [`close_reason`](crate::channel::Receiver::close_reason) on either side. Returns false if
    /// the channel was closed before; the earlier reason is then kept.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::{self, RecvError};
    ///
    /// let (tx, rx) = channel::bounded::<u32>(1);
    /// assert!(tx.close_with("the disk is full"));
    /// assert_eq!(rx.recv(), Err(RecvError::Disconnected));
    /// assert_eq!(rx.close_reason().unwrap().to_string(), "the disk is full");
    /// ```
    pub fn close_with(&self, reason: impl Into<Box<dyn Error + Send + Sync>>) -> bool {
        point(Operation::Close, self.known_at());
        self.channel.close(Some(Arc::from(reason.into())))
    }

    /// Returns the reason given to `close_with`, if the channel was closed with one.
    ///
    /// # Examples
    /// ```
    /// let (tx, rx) = pirn::channel::bounded::<u32>(1);
    /// assert!(tx.close_reason().is_none());
    /// rx.close_with("no more work");
    /// assert_eq!(tx.close_reason().unwrap().to_string(), "no more work");
    /// ```
    pub fn close_reason(&self) -> Option<Arc<dyn Error + Send + Sync>> {
        point(Operation::Look, self.known_at());
        self.channel.close_reason()
    }

    /// Returns a handle that does not keep the channel open.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// let (tx, rx) = pirn::channel::bounded(1);
    /// let weak = tx.downgrade();
    /// weak.upgrade().unwrap().send(7).unwrap();
    /// drop(tx);
    /// assert!(weak.upgrade().is_none());
    /// assert_eq!(rx.iter().collect::<Vec<_>>(), [7]);
    /// ```
    pub fn downgrade(&self) -> WeakSender<T> {
        WeakSender {
            channel: Arc::downgrade(&self.channel),
        }
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
    /// use pirn::channel::{self, SendError};
    ///
    /// let (tx, rx) = channel::bounded(1);
    /// tx.send(1).unwrap();
    /// assert!(tx.close());
    /// assert_eq!(tx.send(2), Err(SendError::Disconnected(2)));
    /// assert_eq!(rx.iter().collect::<Vec<_>>(), [1]);
    /// ```
    pub fn close(&self) -> bool {
        point(Operation::Close, self.known_at());
        self.channel.close(None)
    }

    /// Returns true once nothing can be sent any more.
    ///
    /// # Examples
    /// ```
    /// let (tx, rx) = pirn::channel::bounded::<u32>(1);
    /// assert!(!tx.is_closed());
    /// drop(rx);
    /// assert!(tx.is_closed());
    /// ```
    pub fn is_closed(&self) -> bool {
        point(Operation::Look, self.known_at());
        self.has_closed()
    }

    /// Returns the number of values in the buffer.
    ///
    /// It may exceed the capacity: after a close by the values of senders that were waiting, and by
    /// values that a dropped future [returned](super::Receiver::recv_async).
    ///
    /// # Examples
    /// ```
    /// let (tx, _rx) = pirn::channel::bounded(4);
    /// tx.send('a').unwrap();
    /// tx.send('b').unwrap();
    /// assert_eq!(tx.len(), 2);
    /// ```
    pub fn len(&self) -> usize {
        point(Operation::Look, self.known_at());
        self.channel.len()
    }

    /// Returns true if the buffer is empty; true with capacity 0, unless a dropped future has
    /// [returned](super::Receiver::recv_async) a value.
    ///
    /// # Examples
    /// ```
    /// let (tx, rx) = pirn::channel::bounded(4);
    /// assert!(tx.is_empty());
    /// tx.send(1).unwrap();
    /// assert!(!tx.is_empty());
    /// rx.recv().unwrap();
    /// assert!(tx.is_empty());
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
    /// tx.send(1).unwrap();
    /// assert!(tx.is_full());
    /// rx.recv().unwrap();
    /// assert!(!tx.is_full());
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
    /// assert_eq!(channel::bounded::<u8>(4).0.capacity(), Some(4));
    /// assert_eq!(channel::unbounded::<u8>().0.capacity(), None);
    /// ```
    #[doc(alias = "cap")]
    #[doc(alias = "max_capacity")]
    pub fn capacity(&self) -> Option<usize> {
        self.channel.limit()
    }

    /// Returns true if `other` sends to the same channel.
    ///
    /// # Examples
    /// ```
    /// let (tx, _rx) = pirn::channel::bounded::<u32>(1);
    /// let (other, _) = pirn::channel::bounded::<u32>(1);
    /// assert!(tx.same_channel(&tx.clone()));
    /// assert!(!tx.same_channel(&other));
    /// ```
    pub fn same_channel(&self, other: &Sender<T>) -> bool {
        Arc::ptr_eq(&self.channel, &other.channel)
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.channel.add_sender();
        Sender {
            channel: Arc::clone(&self.channel),
        }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        point(Operation::Close, self.known_at());
        self.channel.remove_sender();
    }
}

impl<T> UnwindSafe for Sender<T> {}
impl<T> RefUnwindSafe for Sender<T> {}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Sender").field(&self.channel).finish()
    }
}

/// A handle to a channel that does not keep it open; see [`Sender::downgrade`].
///
/// # Examples
/// ```
/// let (tx, rx) = pirn::channel::bounded(1);
/// let weak = tx.downgrade();
/// // Ends when `tx` is dropped, although `weak` still exists.
/// let reader = pirn::spawn(move || rx.iter().sum::<i32>());
/// tx.send(3).unwrap();
/// drop(tx);
/// assert_eq!(reader.join().unwrap(), 3);
/// assert!(weak.upgrade().is_none());
/// ```
pub struct WeakSender<T> {
    channel: Weak<Shared<T>>,
}

impl<T> WeakSender<T> {
    /// Returns a sender, unless the last one has been dropped.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// let (tx, rx) = pirn::channel::bounded(1);
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
        let channel = self.channel.upgrade()?;
        channel.revive_sender().then(|| Sender { channel })
    }
}

impl<T> Clone for WeakSender<T> {
    fn clone(&self) -> Self {
        WeakSender {
            channel: Weak::clone(&self.channel),
        }
    }
}

impl<T> UnwindSafe for WeakSender<T> {}
impl<T> RefUnwindSafe for WeakSender<T> {}

impl<T> fmt::Debug for WeakSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakSender").finish_non_exhaustive()
    }
}
