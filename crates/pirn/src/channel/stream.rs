//! Receiving as a `Stream`: the asynchronous counterpart of the iterator.

// Owns: the step from one value to the next. Does not own: the wait for it (`futures`). The wait
// is in an allocation of the stream, so that streams can be moved.

use std::borrow::Borrow;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use futures_core::stream::FusedStream;

use super::futures::Arrival;
use super::receiver::Receiver;
use super::shared::Shared;

/// A stream that receives values until the channel is closed and drained; made by
/// [`into_stream`](Receiver::into_stream).
///
/// # Examples
/// ```
/// use futures_util::StreamExt;
///
/// let (tx, rx) = pirn::channel::bounded(2);
/// tx.send(1).unwrap();
/// tx.send(2).unwrap();
/// drop(tx);
/// let doubled = rx.into_stream().map(|n| n * 2).collect::<Vec<_>>();
/// assert_eq!(pirn::future::block_on(doubled), [2, 4]);
/// ```
#[doc(alias = "ReceiverStream")]
#[doc(alias = "UnboundedReceiverStream")]
#[must_use = "a stream does nothing unless it is polled"]
pub struct RecvStream<T> {
    /// `None` once the stream has ended.
    arrival: Option<Pinned<T>>,
}

/// The pending receive. It stays at its address, as a waiter must.
type Pinned<T> = Pin<Box<Arrival<Owned<T>, T>>>;

/// A channel borrowed through an owned receiver.
struct Owned<T>(Receiver<T>);

impl<T> Borrow<Shared<T>> for Owned<T> {
    fn borrow(&self) -> &Shared<T> {
        &self.0.channel
    }
}

impl<T> Receiver<T> {
    /// Returns a stream of the received values for asynchronous code. It ends when the channel is
    /// closed and drained.
    ///
    /// While a poll has found no value, the stream is in the queue of waiting receivers, as with
    /// [`recv_async`](Receiver::recv_async). A value handed to it is kept until its next poll, and
    /// goes to the next receiver if the stream is dropped. After a poll that yielded a value, the
    /// stream is in no queue until the next poll.
    ///
    /// The stream may be moved. It costs one allocation, regardless of the number of values.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use futures_core::Stream;
    /// use std::future::poll_fn;
    /// use std::pin::Pin;
    ///
    /// // What a crate for streams does.
    /// async fn sum(mut numbers: impl Stream<Item = u32> + Unpin) -> u32 {
    ///     let mut sum = 0;
    ///     while let Some(n) = poll_fn(|cx| Pin::new(&mut numbers).poll_next(cx)).await {
    ///         sum += n;
    ///     }
    ///     sum
    /// }
    ///
    /// let (tx, rx) = pirn::channel::bounded(1);
    /// pirn::spawn(move || (1..=4).for_each(|n| tx.send(n).unwrap()));
    /// assert_eq!(pirn::future::block_on(sum(rx.into_stream())), 10);
    /// ```
    pub fn into_stream(self) -> RecvStream<T> {
        RecvStream::new(self)
    }
}

impl<T> RecvStream<T> {
    fn new(receiver: Receiver<T>) -> Self {
        RecvStream {
            arrival: Some(Box::pin(Arrival::new(Owned(receiver)))),
        }
    }
}

impl<T> Stream for RecvStream<T> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        let Some(arrival) = &self.arrival else {
            return Poll::Ready(None);
        };
        let received = ready!(arrival.as_ref().poll(context));
        if received.is_err() {
            self.arrival = None;
        }
        Poll::Ready(received.ok())
    }
}

impl<T> FusedStream for RecvStream<T> {
    fn is_terminated(&self) -> bool {
        self.arrival.is_none()
    }
}

impl<T> fmt::Debug for RecvStream<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ended = self.arrival.is_none();
        f.debug_struct("RecvStream")
            .field("ended", &ended)
            .finish_non_exhaustive()
    }
}
