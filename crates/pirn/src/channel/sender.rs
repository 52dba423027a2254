//! The sending end of a channel.

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::bounded::Bounded;
use super::error::{SendError, SendTimeoutError, TrySendError};
use crate::wait::deadline_in;

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
    channel: Arc<Bounded<T>>,
}

impl<T> Sender<T> {
    pub(super) fn new(channel: Arc<Bounded<T>>) -> Self {
        Sender { channel }
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
        self.channel.send(value, None).map_err(|error| match error {
            SendTimeoutError::Disconnected(value) => SendError::Disconnected(value),
            SendTimeoutError::Interrupted(value, interrupt) => {
                SendError::Interrupted(value, interrupt)
            }
            SendTimeoutError::Timeout(_) => unreachable!("a send without a time limit"),
        })
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

    /// Closes the channel for all senders and receivers; true for the one call that did it.
    ///
    /// Later sends fail. What was sent before is still received, and so are the values of
    /// senders that are waiting for room, whose sends succeed. On a channel of capacity 0
    /// waiting senders get their values back. Waiting receivers are told.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    pub fn close(&self) -> bool {
        self.channel.close()
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

    /// Returns how many values the buffer can hold; `None` would mean any number.
    pub fn capacity(&self) -> Option<usize> {
        Some(self.channel.capacity())
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
