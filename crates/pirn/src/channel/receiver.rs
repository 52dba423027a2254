//! The receiving end of a channel.

use std::error::Error;
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::case::{ReadyCase, RecvCase};
use super::error::{RecvError, RecvTimeoutError, TryRecvError};
use super::futures::RecvFuture;
use super::iter::{IntoIter, Iter, TryIter};
use super::pipe::Pipe;
use super::state::Side;
use crate::wait::deadline_in;
use crate::wait::object::Nameable;

/// The receiving end of a channel; each value goes to one of its clones.
///
/// Every method works on a fiber and on a plain thread. When the last receiver has been
/// dropped the channel closes, values that are still in it are dropped, and waiting senders
/// get theirs back.
pub struct Receiver<T> {
    pub(super) channel: Arc<Pipe<T>>,
}

impl<T> Nameable for Receiver<T> {
    fn known_at(&self) -> usize {
        (&raw const self.channel.state).addr()
    }
}

impl<T> Receiver<T> {
    pub(super) fn new(channel: Arc<Pipe<T>>) -> Self {
        Receiver { channel }
    }

    /// Receives the next value, waiting for one if need be.
    ///
    /// # Errors
    /// `Disconnected` if the channel is closed and everything in it has been received,
    /// `Interrupted` if the caller is interrupted.
    ///
    /// # Cancellation
    /// An interruption point; an interrupted receive has taken nothing. Parks a fiber,
    /// blocks a plain thread.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        self.channel.recv(None).map_err(RecvTimeoutError::unlimited)
    }

    /// Receives the next value if there is one, or a sender that waits with one.
    ///
    /// # Errors
    /// `Empty` if there is none, `Disconnected` if there will never be one.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.channel.try_recv()
    }

    /// Receives the next value, waiting no longer than `timeout`.
    ///
    /// # Errors
    /// As [`recv`](Receiver::recv), and `Timeout` if the time was up first.
    ///
    /// # Cancellation
    /// As [`recv`](Receiver::recv).
    #[track_caller]
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.channel.recv(deadline_in(timeout))
    }

    /// Receives the next value, waiting no longer than until `deadline`.
    ///
    /// # Errors
    /// As [`recv`](Receiver::recv), and `Timeout` if the deadline came first.
    ///
    /// # Cancellation
    /// As [`recv`](Receiver::recv).
    #[track_caller]
    pub fn recv_deadline(&self, deadline: Instant) -> Result<T, RecvTimeoutError> {
        self.channel.recv(Some(deadline))
    }

    /// Receives at least one value, waiting for it, and as many more as there are, but no
    /// more than `max`; appends them to `out`. Returns how many.
    ///
    /// With a `max` of 0 it returns 0 at once.
    ///
    /// # Errors
    /// As [`recv`](Receiver::recv); nothing has been received then.
    ///
    /// # Cancellation
    /// As [`recv`](Receiver::recv).
    #[track_caller]
    pub fn recv_many(&self, out: &mut Vec<T>, max: usize) -> Result<usize, RecvError> {
        self.channel.recv_many(out, max)
    }

    /// Returns a case for a select that receives; see [`RecvCase`].
    pub fn recv_case(&self) -> RecvCase<'_, T> {
        RecvCase::new(&self.channel)
    }

    /// Returns a future that receives the next value, polled by whatever there is: a fiber in
    /// [`future::wait`](crate::future::wait()), another library's runtime.
    ///
    /// It takes its place among those who wait at the first poll that finds no value, and keeps it from poll
    /// to poll. Dropped before it has yielded, it has received nothing: a value that has just been handed
    /// over to it goes to the next receiver, or back to the front of the channel, whose
    /// [`len`](Receiver::len) may exceed the capacity by it; others may have been told
    /// `Disconnected` before that. A receiver of what time
    /// sends ([`after`](super::after), [`tick`](super::tick)) has a fiber wait for that, on the runtime of whoever polls.
    ///
    /// It yields `Disconnected` as [`recv`](Receiver::recv) does, and is never `Interrupted`.
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

    /// Returns a case for a select that wins when a receive would not wait, and receives
    /// nothing. Somebody else may be faster afterwards.
    pub fn ready_case(&self) -> ReadyCase<'_> {
        ReadyCase::new(&*self.channel, Side::Receive)
    }

    /// Returns why the channel was closed, if whoever closed it said so.
    pub fn close_reason(&self) -> Option<Arc<dyn Error + Send + Sync>> {
        self.channel.close_reason()
    }

    /// Closes the channel as [`close`](Receiver::close) does, and leaves word why, for
    /// [`close_reason`](crate::channel::Sender::close_reason) on either side. False if the
    /// channel was closed before; the word that was left then stays.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    pub fn close_with(&self, reason: impl Into<Box<dyn Error + Send + Sync>>) -> bool {
        self.channel.close(Some(Arc::from(reason.into())))
    }

    /// Receives again and again, waiting as [`recv`](Receiver::recv) does.
    ///
    /// The iteration ends when the channel is closed and drained, *or* when the caller is
    /// interrupted; [`Iter::interrupted`] tells which.
    ///
    /// # Cancellation
    /// Each step is an interruption point. Parks a fiber, blocks a plain thread.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter::new(self)
    }

    /// Receives again and again while that is possible without waiting.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter::new(self)
    }

    /// Closes the channel for all senders and receivers; true for the one call that did it.
    ///
    /// Later sends fail. What was sent before is still received, and so are the values of
    /// senders that are waiting for room, whose sends succeed. On a channel of capacity 0
    /// waiting senders get their values back. Waiting receivers are told.
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
        self.channel.close(None)
    }

    /// True once nothing can be sent any more; there may still be values to receive.
    pub fn is_closed(&self) -> bool {
        self.channel.is_closed()
    }

    /// Returns how many values are in the buffer.
    ///
    /// After a close this may exceed the capacity, by the values of senders that were
    /// waiting; and by values that were [given back](Receiver::recv_async).
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

    /// True if `other` receives from the same channel.
    pub fn same_channel(&self, other: &Receiver<T>) -> bool {
        Arc::ptr_eq(&self.channel, &other.channel)
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
        self.channel.remove_receiver();
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter::new(self)
    }
}

impl<'a, T> IntoIterator for &'a Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T> UnwindSafe for Receiver<T> {}
impl<T> RefUnwindSafe for Receiver<T> {}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Receiver").field(&self.channel).finish()
    }
}
