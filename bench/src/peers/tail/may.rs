//! may's part.

use std::sync::Arc;
use std::time::Duration;

use may::coroutine::{self, JoinHandle};
use may::go;
use may::sync::mpmc::{Receiver, Sender, channel};

use super::library::{Library, finish};

/// Coroutines of may.
pub(in crate::peers) struct May;

impl Library for May {
    type Handle = JoinHandle<u64>;
    type Channel = Arc<(Sender<u64>, Receiver<u64>)>;

    fn run(workers: usize, root: impl Future<Output = ()> + Send + 'static) {
        may::config()
            .set_workers(workers)
            .set_stack_size(STACK_WORDS);
        go!(|| finish(root)).join().expect("no coroutine panics");
    }

    fn spawn(work: impl Future<Output = u64> + Send + 'static) -> Self::Handle {
        go!(|| finish(work))
    }

    async fn join(handle: Self::Handle) -> u64 {
        handle.join().expect("no coroutine panics")
    }

    async fn sleep(time: Duration) {
        coroutine::sleep(time);
    }

    async fn pause() {
        coroutine::yield_now();
    }

    async fn heavy(work: impl FnOnce() + Send + 'static) {
        work();
    }

    fn channel() -> Self::Channel {
        Arc::new(channel())
    }

    fn send(channel: &Self::Channel, value: u64) {
        channel.0.send(value).expect("it is open");
    }

    async fn receive(channel: &Self::Channel) -> u64 {
        channel.1.recv().expect("it is open")
    }
}

/// Arbitrary: 128 KiB, enough for a build without optimization.
const STACK_WORDS: usize = (128 << 10) / size_of::<usize>();
