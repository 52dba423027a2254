//! Opening channels.

use std::sync::Arc;

use super::receiver::Receiver;
use super::sender::Sender;
use super::shared::Shared;

/// Opens a channel that holds up to `capacity` values.
///
/// With capacity 0, a send ends when a receiver has taken the value (a rendezvous). Memory for
/// `capacity` values, at most 1024, is allocated at once. A larger buffer grows as it fills.
///
/// # Panics
/// If 1024 values of `T`, or `capacity` values if that is less, do not fit into the address space.
///
/// # Cancellation
/// Not an interruption point; never suspends.
///
/// # Examples
/// ```
/// let (tx, rx) = pirn::channel::bounded(2);
/// tx.send("a").unwrap();
/// tx.send("b").unwrap();
/// assert!(tx.try_send("c").is_err());
/// drop(tx);
/// assert_eq!(rx.iter().collect::<Vec<_>>(), ["a", "b"]);
/// ```
#[doc(alias = "make(chan)")]
#[doc(alias = "mpsc")]
#[doc(alias = "sync_channel")]
pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    open(Some(capacity))
}

/// Opens a channel that holds any number of values, so a send never waits.
///
/// Nothing slows a sender that is faster than the receivers. Memory grows in blocks of 1024 values,
/// and is freed as the channel drains.
///
/// # Cancellation
/// Not an interruption point; never suspends.
///
/// # Examples
/// ```
/// let (tx, rx) = pirn::channel::unbounded();
/// for i in 0..10_000 {
///     tx.send(i).unwrap();
/// }
/// drop(tx);
/// assert_eq!(rx.into_iter().count(), 10_000);
/// ```
#[doc(alias = "mpsc")]
#[doc(alias = "unbounded_channel")]
pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    open(None)
}

fn open<T>(capacity: Option<usize>) -> (Sender<T>, Receiver<T>) {
    let shared = Arc::new(Shared::new(capacity, None));
    (Sender::new(Arc::clone(&shared)), Receiver::new(shared))
}
