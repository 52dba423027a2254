//! Receiving the one value as a future.

// Owns: the receiver, while the future exists. Does not own: the wait (`wait::awaiting`), which
// withdraws the case before the receiver is dropped. A value that was handed over and not collected
// is then dropped with the case (OS1).

use std::borrow::Borrow;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use super::case::ValueCase;
use super::receiver::Receiver;
use super::slot::Slot;
use crate::channel::error::RecvError;
use crate::channel::futures::Once;

pin_project! {
    /// A future that receives the value of a oneshot channel; made by
    /// [`recv_async`](super::Receiver::recv_async).
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::oneshot;
    ///
    /// let (tx, rx) = oneshot::channel();
    /// tx.send(7).unwrap();
    /// assert_eq!(pirn::future::block_on(rx.recv_async()), Ok(7));
    /// ```
    #[must_use = "a future does nothing unless it is polled"]
    pub struct RecvFuture<T> {
        #[pin]
        once: Once<ValueCase<Owned<T>, T>>,
    }
}

/// A slot borrowed through an owned receiver.
struct Owned<T>(Receiver<T>);

impl<T> Borrow<Slot<T>> for Owned<T> {
    fn borrow(&self) -> &Slot<T> {
        &self.0.slot
    }
}

impl<T> Receiver<T> {
    /// Returns a future that receives the value, and owns the receiver. Any executor may poll it.
    ///
    /// If it is dropped before it is ready, the receiver is dropped with it: a later send returns
    /// its value, and a value that was sent already is dropped. Code that stops waiting for a
    /// while, for example after a time limit, polls the pinned future again.
    ///
    /// It yields `Disconnected` if the sender was dropped without sending, or if the value has been
    /// taken. It never yields `Interrupted`.
    ///
    /// # Panics
    /// A poll panics after the future was ready.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::oneshot;
    ///
    /// async fn answer(rx: oneshot::Receiver<u32>) -> Option<u32> {
    ///     rx.recv_async().await.ok()
    /// }
    ///
    /// let (tx, rx) = oneshot::channel();
    /// pirn::spawn(move || tx.send(6 * 7));
    /// assert_eq!(pirn::future::block_on(answer(rx)), Some(42));
    /// ```
    pub fn recv_async(self) -> RecvFuture<T> {
        RecvFuture::new(self)
    }
}

impl<T> RecvFuture<T> {
    fn new(receiver: Receiver<T>) -> Self {
        RecvFuture {
            once: Once::new(ValueCase::new(Owned(receiver))),
        }
    }
}

impl<T> Future for RecvFuture<T> {
    type Output = Result<T, RecvError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let once = self.into_ref().project_ref().once;
        Poll::Ready(ready!(once.poll(context)).collect())
    }
}

impl<T> fmt::Debug for RecvFuture<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecvFuture").finish_non_exhaustive()
    }
}
