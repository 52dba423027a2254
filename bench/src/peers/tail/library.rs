//! The operations that each library supplies; the programs themselves are written once.
//!
//! Every program is `async`. A library that blocks does so within the first poll of a future, on
//! its own fiber or thread, which then completes: `finish` polls once. So one source serves
//! fibers, coroutines, threads and tasks.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use crate::child::Job;

use super::super::blocking::Blocking;
use super::super::channel::Channel;

/// A library on its workers.
pub(in crate::peers) trait Library: Send + Sync + 'static {
    /// A fiber, coroutine, thread or task that can be joined.
    type Handle: Send;
    /// Both ends of a channel without a bound, for any number of senders and receivers.
    type Channel: Clone + Send + Sync + 'static;

    /// Starts the library as the job asks and runs `root` on one of its workers.
    fn run(job: &Job, root: impl Future<Output = ()> + Send + 'static);

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
fn finish<T>(future: impl Future<Output = T>) -> T {
    let mut context = Context::from_waker(Waker::noop());
    match pin!(future).poll(&mut context) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("every wait of a blocking library blocks"),
    }
}

/// Joins all and returns the sum of their results.
pub(super) async fn join_all<L: Library>(all: Vec<L::Handle>) -> u64 {
    let mut sum = 0;
    for one in all {
        sum += L::join(one).await;
    }
    sum
}

/// Both ends of a library's channel.
type Ends<B> = Arc<(
    <<B as Blocking>::Channel as Channel>::Sender,
    <<B as Blocking>::Channel as Channel>::Receiver,
)>;

impl<B: Blocking> Library for B {
    type Handle = <B as Blocking>::Handle<u64>;
    type Channel = Ends<B>;

    fn run(job: &Job, root: impl Future<Output = ()> + Send + 'static) {
        <B as Blocking>::run(job, || finish(root));
    }

    #[track_caller]
    fn spawn(
        work: impl Future<Output = u64> + Send + 'static,
    ) -> <B as Blocking>::Handle<u64> {
        <B as Blocking>::spawn(|| finish(work))
    }

    async fn join(handle: <B as Blocking>::Handle<u64>) -> u64 {
        <B as Blocking>::join(handle)
    }

    async fn sleep(time: Duration) {
        <B as Blocking>::sleep(time);
    }

    async fn pause() {
        <B as Blocking>::pause();
    }

    async fn heavy(work: impl FnOnce() + Send + 'static) {
        work();
    }

    fn channel() -> Ends<B> {
        let ends = <B as Blocking>::Channel::open(None);
        Arc::new(ends.expect("it has one without a bound"))
    }

    fn send(channel: &Ends<B>, value: u64) {
        <B as Blocking>::Channel::send(&channel.0, value);
    }

    async fn receive(channel: &Ends<B>) -> u64 {
        <B as Blocking>::Channel::recv(&channel.1).expect("it is open")
    }
}
