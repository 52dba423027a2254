//! Receiving the one value as a future.

// Owns: a value that was handed over and not collected: it returns to the slot (OS1), where the
// receiver finds it. Does not own: the wait (`wait::awaiting`).

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use super::case::RecvCase;
use super::slot::Slot;
use crate::base::mutant::mutant;
use crate::channel::error::RecvError;
use crate::channel::futures::Once;

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
    once: Once<RecvCase<'a, T>>,
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
        // SAFETY: AW1: `once` is structurally pinned, and is not moved out of `self`.
        let case = ready!(unsafe { self.into_ref().get_ref().once.poll(context) });
        Poll::Ready(case.collect())
    }
}

impl<T> Drop for RecvFuture<'_, T> {
    fn drop(&mut self) {
        if let Some(value) = self.once.retract().give_up()
            && !mutant!("oneshot_drops_what_came")
        {
            self.slot.put_back(value);
        }
    }
}

impl<T> fmt::Debug for RecvFuture<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecvFuture").finish_non_exhaustive()
    }
}
