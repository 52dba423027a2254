//! pirn's part, with its variants: free migration, and four times as many workers.

use std::time::Duration;

use pirn::JoinHandle;
use pirn::channel::{Receiver, Sender, unbounded};
use pirn::runtime::Runtime;

use super::library::{Library, finish};

/// pirn, with fibers that may migrate if `FREE`, with `FACTOR` workers for each one asked for.
pub(in crate::peers) struct Pirn<const FREE: bool, const FACTOR: usize>;

impl<const FREE: bool, const FACTOR: usize> Library for Pirn<FREE, FACTOR> {
    type Handle = JoinHandle<u64>;
    type Channel = (Sender<u64>, Receiver<u64>);

    fn run(workers: usize, root: impl Future<Output = ()> + Send + 'static) {
        let mut builder = Runtime::builder().workers(workers * FACTOR);
        if FREE {
            // SAFETY: the programs hold nothing of a thread over a call that may switch: a
            // lock of std is released before the next one.
            builder = unsafe { builder.free_migration() };
        }
        let runtime = builder.build().expect("a runtime starts");
        runtime.run(|| finish(root));
    }

    #[track_caller]
    fn spawn(work: impl Future<Output = u64> + Send + 'static) -> Self::Handle {
        pirn::spawn(|| finish(work))
    }

    async fn join(handle: Self::Handle) -> u64 {
        handle.join().expect("no fiber panics")
    }

    async fn sleep(time: Duration) {
        pirn::sleep(time).expect("no fiber is cancelled");
    }

    async fn pause() {
        pirn::yield_now();
    }

    async fn heavy(work: impl FnOnce() + Send + 'static) {
        work();
    }

    fn channel() -> Self::Channel {
        unbounded()
    }

    fn send(channel: &Self::Channel, value: u64) {
        channel.0.send(value).expect("it is open");
    }

    async fn receive(channel: &Self::Channel) -> u64 {
        channel.1.recv().expect("it is open")
    }
}
