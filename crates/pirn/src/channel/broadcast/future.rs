//! Receiving from a broadcast channel as a future.

// A waker hands nothing over: the poll that yields takes the value (BR3), so a dropped future has
// nothing to give back. Does not own: the wait (`wait::awaiting`).

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use super::buffer::Row;
use super::case::RecvCase;
use super::error::RecvError;
use crate::channel::futures::Once;

pin_project! {
    /// A future that receives from a broadcast channel; made by
    /// [`recv_async`](super::Receiver::recv_async).
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::broadcast;
    ///
    /// let (tx, mut rx) = broadcast::channel(8);
    /// tx.send(7).unwrap();
    /// assert_eq!(pirn::future::block_on(rx.recv_async()), Ok(7));
    /// ```
    #[must_use = "a future does nothing unless it is polled"]
    pub struct RecvFuture<'a, T> {
        #[pin]
        once: Once<RecvCase<'a, T>>,
    }
}

impl<'a, T> RecvFuture<'a, T> {
    pub(super) fn new(row: &'a Row<T>, at: &'a mut u64) -> Self {
        RecvFuture {
            once: Once::new(RecvCase::new(row, at)),
        }
    }
}

impl<T: Clone> Future for RecvFuture<'_, T> {
    type Output = Result<T, RecvError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let once = self.into_ref().project_ref().once;
        Poll::Ready(ready!(once.poll(context)).collect())
    }
}

impl<T> fmt::Debug for RecvFuture<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecvFuture").finish_non_exhaustive()
    }
}
