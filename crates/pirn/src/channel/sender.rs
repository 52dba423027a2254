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
use super::pipe::Pipe;
use super::state::Side;
use crate::wait::deadline_in;
use crate::wait::object::Nameable;

/// The sending end of a channel; clones send to the same receivers.
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
pub struct Sender<T> {
    channel: Arc<Pipe<T>>,
}

impl<T> Nameable for Sender<T> {
    fn known_at(&self) -> usize {
        (&raw const self.channel.state).addr()
    }
}

impl<T> Sender<T> {
    pub(super) fn new(channel: Arc<Pipe<T>>) -> Self {
        Sender { channel }
    }

    pub(super) fn pipe(&self) -> &Pipe<T> {
        &self.channel
    }

    /// Tells, whenever it is asked, whether somebody waits to receive; does not keep the
    /// channel open.
    pub(crate) fn awaited(&self) -> impl Fn() -> bool + Send + Sync + 'static
    where
        T: Send + 'static,
    {
        let channel = Arc::downgrade(&self.channel);
        move || channel.upgrade().is_some_and(|pipe| pipe.is_awaited())
    }

    /// Whether a value that is `sought` has been sent and is with no receiver yet. It is asked with
    /// a lock held.
    pub(crate) fn holds(&self, sought: impl Fn(&T) -> bool) -> bool {
        self.channel.holds(sought)
    }

    /// Sends `value`, waiting while there is no room (on a channel of capacity 0: until a
    /// receiver takes it).
    ///
    /// # Errors
    /// `Disconnected` if the channel is closed, `Interrupted` if the caller is; both with
    /// the value.
    ///
    /// # Cancellation
    /// An interruption point; an interrupted send has sent nothing. Parks a fiber, blocks a
    /// plain thread.
    #[track_caller]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        self.channel
            .send(value, None)
            .map_err(SendTimeoutError::unlimited)
    }

    /// Sends `value` if that is possible without waiting.
    ///
    /// # Errors
    /// `Full` if there is neither room nor a waiting receiver, `Disconnected` if the channel
    /// is closed; both with the value.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    pub fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        self.channel.try_send(value)
    }

    /// Sends `value`, waiting no longer than `timeout`.
    ///
    /// # Errors
    /// As [`send`](Sender::send), and `Timeout` if the time was up first.
    ///
    /// # Cancellation
    /// As [`send`](Sender::send).
    #[track_caller]
    pub fn send_timeout(
        &self,
        value: T,
        timeout: Duration,
    ) -> Result<(), SendTimeoutError<T>> {
        self.channel.send(value, deadline_in(timeout))
    }

    /// Sends `value`, waiting no longer than until `deadline`.
    ///
    /// # Errors
    /// As [`send`](Sender::send), and `Timeout` if the deadline came first.
    ///
    /// # Cancellation
    /// As [`send`](Sender::send).
    #[track_caller]
    pub fn send_deadline(
        &self,
        value: T,
        deadline: Instant,
    ) -> Result<(), SendTimeoutError<T>> {
        self.channel.send(value, Some(deadline))
    }

    /// Sends `value` without waiting; if there is no room, the oldest value in the channel
    /// gives way and comes back.
    ///
    /// With [`try_send`](Sender::try_send), which gives the newest value back, and
    /// [`send`](Sender::send), which waits, these are the three things that one can do when
    /// a channel is full. On a channel of capacity 0 without a waiting receiver `value` itself
    /// comes back.
    ///
    /// # Errors
    /// `Disconnected` with the value if the channel is closed.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    pub fn force_send(&self, value: T) -> Result<Option<T>, SendError<T>> {
        self.channel.force_send(value)
    }

    /// Sends all of `values`, from the front, waiting while there is no room. Cheaper than as
    /// many sends where there is.
    ///
    /// # Errors
    /// As [`send`](Sender::send). What has not been sent is still in `values`.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    #[track_caller]
    pub fn send_many(&self, values: &mut VecDeque<T>) -> Result<(), SendError<()>> {
        self.channel.send_many(values)
    }

    /// Returns a future that sends `value`, polled by whatever there is: a fiber in
    /// [`future::wait`](crate::future::wait()), another library's runtime.
    ///
    /// It takes its place among those who wait at the first poll that finds no room, and keeps it from
    /// poll to poll. Dropped before it has yielded, it has either sent the value or drops it.
    ///
    /// It yields `Disconnected` as [`send`](Sender::send) does, and is never `Interrupted`.
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

    /// Returns a case for a select that sends `value`.
    ///
    /// The value stays in the case until the case has won; see [`SendCase`].
    pub fn send_case(&self, value: T) -> SendCase<'_, T> {
        SendCase::new(&self.channel, value)
    }

    /// Returns a case for a select that wins when a send would not wait, and sends nothing.
    /// Somebody else may be faster afterwards.
    pub fn ready_case(&self) -> ReadyCase<'_> {
        ReadyCase::new(&*self.channel, Side::Send)
    }

    /// Closes the channel as [`close`](Sender::close) does, and leaves word why, for
    /// [`close_reason`](crate::channel::Receiver::close_reason) on either side. False if the
    /// channel was closed before; the word that was left then stays.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    pub fn close_with(&self, reason: impl Into<Box<dyn Error + Send + Sync>>) -> bool {
        self.channel.close(Some(Arc::from(reason.into())))
    }

    /// Returns why the channel was closed, if whoever closed it said so.
    pub fn close_reason(&self) -> Option<Arc<dyn Error + Send + Sync>> {
        self.channel.close_reason()
    }

    /// Returns a handle that does not keep the channel open.
    pub fn downgrade(&self) -> WeakSender<T> {
        WeakSender {
            channel: Arc::downgrade(&self.channel),
        }
    }

    /// Closes the channel for all senders and receivers; true for the one call that did it.
    ///
    /// Later sends fail. What was sent before is still received, and so are the values of
    /// senders that are waiting for room, whose sends succeed. On a channel of capacity 0
    /// waiting senders get their values back. Waiting receivers are told.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    pub fn close(&self) -> bool {
        self.channel.close(None)
    }

    /// True once nothing can be sent any more.
    pub fn is_closed(&self) -> bool {
        self.channel.is_closed()
    }

    /// Returns how many values are in the buffer.
    ///
    /// After a close this may exceed the capacity, by the values of senders that were
    /// waiting.
    pub fn len(&self) -> usize {
        self.channel.len()
    }

    /// True if the buffer holds nothing; always, if it can hold nothing.
    pub fn is_empty(&self) -> bool {
        self.channel.len() == 0
    }

    /// True if the buffer has no room; always, if it can hold nothing.
    pub fn is_full(&self) -> bool {
        self.channel.is_full()
    }

    /// Returns how many values the buffer can hold; `None` means any number.
    pub fn capacity(&self) -> Option<usize> {
        self.channel.limit()
    }

    /// True if `other` sends to the same channel.
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

/// Names a channel without keeping it open; see [`Sender::downgrade`].
pub struct WeakSender<T> {
    channel: Weak<Pipe<T>>,
}

impl<T> WeakSender<T> {
    /// Returns a sender, unless the last one has gone.
    pub fn upgrade(&self) -> Option<Sender<T>> {
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

impl<T> fmt::Debug for WeakSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakSender").finish_non_exhaustive()
    }
}
