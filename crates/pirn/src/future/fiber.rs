//! A fiber as a future.

use std::fmt;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::spawn::{JoinError, JoinHandle, spawn_at};

/// A future of a fiber's result, which starts the fiber when it is first polled; created by
/// [`fiber`].
///
/// # Examples
/// ```
/// use pirn::future::{FiberFuture, block_on, fiber};
///
/// let squares: Vec<FiberFuture<u32>> = (0..3).map(|n| fiber(move || n * n)).collect();
/// let mut sum = 0;
/// for square in squares {
///     sum += block_on(square).unwrap();
/// }
/// assert_eq!(sum, 5);
/// ```
#[must_use = "a future does nothing unless it is polled"]
pub struct FiberFuture<T>(Stage<T>);

enum Stage<T> {
    /// The closure, and the place that passed it.
    Fresh(Closure<T>, &'static Location<'static>),
    Started(JoinHandle<T>),
    /// The closure is being started, which may panic.
    Starting,
}

type Closure<T> = Box<dyn FnOnce() -> T + Send>;

/// Returns a future that runs `f` on a fiber and yields the result of [`JoinHandle::join`].
///
/// A future calls blocking code in this way: the fiber may wait, and the polling code does not. The
/// fiber starts at the first poll, on the runtime that [`spawn`](crate::spawn()) would use there.
/// Dropping the future before it has yielded cancels the fiber and does not wait for its end. `f`
/// is then dropped unrun, or its current and all later waits are interrupted.
///
/// The fiber inherits no token and no deadline of the code that polls. To limit it, call
/// [`timeout`](crate::timeout) in `f`.
///
/// The future never yields `JoinError::Interrupted`. It panics if it is polled after it has
/// yielded.
///
/// # Panics
/// The first poll panics if there is no runtime and the default one cannot be created.
///
/// # Cancellation
/// Not an interruption point; never suspends.
///
/// # Examples
/// ```
/// use pirn::channel;
///
/// async fn answer(rx: channel::Receiver<u32>) -> u32 {
///     // `recv` waits, so it must not be called here.
///     let received = pirn::future::fiber(move || rx.recv().unwrap());
///     received.await.unwrap() * 7
/// }
///
/// let (tx, rx) = channel::bounded(0);
/// pirn::spawn(move || tx.send(6));
/// assert_eq!(pirn::future::block_on(answer(rx)), 42);
/// ```
#[doc(alias = "spawn_blocking")]
#[track_caller]
pub fn fiber<F, T>(f: F) -> FiberFuture<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    FiberFuture(Stage::Fresh(Box::new(f), Location::caller()))
}

impl<T: Send + 'static> Future for FiberFuture<T> {
    type Output = Result<T, JoinError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let stage = &mut self.get_mut().0;
        if let Stage::Fresh(..) = stage
            && let Stage::Fresh(f, location) = std::mem::replace(stage, Stage::Starting)
        {
            *stage = Stage::Started(spawn_at(location, f));
        }
        match stage {
            Stage::Started(handle) => Pin::new(handle).poll(context),
            Stage::Fresh(..) | Stage::Starting => {
                panic!("this fiber could not be started")
            }
        }
    }
}

impl<T> Unpin for FiberFuture<T> {}

impl<T> Drop for FiberFuture<T> {
    fn drop(&mut self) {
        if let Stage::Started(handle) = &self.0
            && !handle.is_finished()
        {
            handle.cancel();
        }
    }
}

impl<T> fmt::Debug for FiberFuture<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let started = matches!(self.0, Stage::Started(_));
        f.debug_struct("FiberFuture")
            .field("started", &started)
            .finish_non_exhaustive()
    }
}
