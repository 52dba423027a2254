//! A change of the value as a future.

// A change counts as seen only by the poll that yields, so a dropped future has nothing to give
// back. Does not own: the wait (`wait::awaiting`).

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use super::board::Board;
use super::case::ChangedCase;
use crate::channel::error::RecvError;
use crate::channel::futures::Once;

pin_project! {
    /// A future that waits for the value of a watch channel to change; made by
    /// [`changed_async`](super::Receiver::changed_async).
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::watch;
    ///
    /// let (tx, mut rx) = watch::channel(0);
    /// tx.send(1).unwrap();
    /// assert_eq!(pirn::future::block_on(rx.changed_async()), Ok(()));
    /// assert_eq!(*rx.borrow(), 1);
    /// ```
    #[must_use = "a future does nothing unless it is polled"]
    pub struct ChangedFuture<'a, T> {
        #[pin]
        once: Once<ChangedCase<'a, T>>,
    }
}

impl<'a, T> ChangedFuture<'a, T> {
    pub(super) fn new(board: &'a Board<T>, seen: &'a mut u64) -> Self {
        ChangedFuture {
            once: Once::new(ChangedCase::new(board, seen)),
        }
    }
}

impl<T> Future for ChangedFuture<'_, T> {
    type Output = Result<(), RecvError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let once = self.into_ref().project_ref().once;
        Poll::Ready(ready!(once.poll(context)).collect())
    }
}

impl<T> fmt::Debug for ChangedFuture<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChangedFuture").finish_non_exhaustive()
    }
}
