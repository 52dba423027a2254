//! Receiving the one value as a future.

// Owns: a value that was handed over and not collected: it returns to the slot (OS1), where the
// receiver finds it. Does not own: the wait (`wait::awaiting`).

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use super::case::RecvCase;
use super::slot::Slot;
use crate::base::mutant::mutant;
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
    /// let (tx, mut rx) = oneshot::channel();
    /// tx.send(7).unwrap();
    /// assert_eq!(pirn::future::block_on(rx.recv_async()), Ok(7));
    /// ```
    #[must_use = "a future does nothing unless it is polled"]
    pub struct RecvFuture<'a, T> {
        slot: &'a Slot<T>,
        #[pin]
        once: Once<RecvCase<'a, T>>,
    }

    impl<T> PinnedDrop for RecvFuture<'_, T> {
        fn drop(this: Pin<&mut Self>) {
            this.as_ref().give_back();
        }
    }
}

impl<'a, T> RecvFuture<'a, T> {
    pub(super) fn new(slot: &'a Slot<T>) -> Self {
        RecvFuture {
            slot,
            once: Once::new(RecvCase::new(slot)),
        }
    }
}

impl<T> Future for RecvFuture<'_, T> {
    type Output = Result<T, RecvError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let once = self.into_ref().project_ref().once;
        Poll::Ready(ready!(once.poll(context)).collect())
    }
}

impl<T> RecvFuture<'_, T> {
    /// Returns a value that was handed over and not collected to the slot.
    fn give_back(self: Pin<&Self>) {
        let this = self.project_ref();
        if let Some(value) = this.once.retract().give_up()
            && !mutant!("oneshot_drops_what_came")
        {
            this.slot.put_back(value);
        }
    }
}

impl<T> fmt::Debug for RecvFuture<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecvFuture").finish_non_exhaustive()
    }
}
