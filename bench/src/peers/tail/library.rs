//! The operations that each library supplies; the programs themselves are written once.
//!
//! Every program is `async`. A library that blocks does so within the first poll of a future, on
//! its own fiber or thread, which then completes: [`finish`] polls once. So one source serves
//! fibers, coroutines, threads and tasks.

use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// A library on its workers.
pub(in crate::peers) trait Library: Send + Sync + 'static {
    /// A fiber, coroutine, thread or task that can be joined.
    type Handle: Send;
    /// Both ends of a channel without a bound, for any number of senders and receivers.
    type Channel: Clone + Send + Sync + 'static;

    /// Starts the library with this number of workers and runs `root` on one of them.
    fn run(workers: usize, root: impl Future<Output = ()> + Send + 'static);

    /// Starts a fiber.
    #[track_caller]
    fn spawn(work: impl Future<Output = u64> + Send + 'static) -> Self::Handle;

    /// Waits for a fiber's result.
    fn join(handle: Self::Handle) -> impl Future<Output = u64> + Send;

    /// Sleeps for this time.
    fn sleep(time: Duration) -> impl Future<Output = ()> + Send;

    /// Yields to other fibers.
    fn pause() -> impl Future<Output = ()> + Send;

    /// Runs a closure that holds its thread for long, in this peer's place for such code.
    fn heavy(work: impl FnOnce() + Send + 'static) -> impl Future<Output = ()> + Send;

    /// Opens a channel.
    fn channel() -> Self::Channel;

    /// Sends from a fiber or from a plain thread. It never waits.
    fn send(channel: &Self::Channel, value: u64);

    /// Waits for a value.
    fn receive(channel: &Self::Channel) -> impl Future<Output = u64> + Send;
}

/// Polls a future once. Every wait in it blocks, so it completes.
pub(super) fn finish<T>(future: impl Future<Output = T>) -> T {
    let mut context = Context::from_waker(Waker::noop());
    match pin!(future).poll(&mut context) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("every wait of a blocking library blocks"),
    }
}
