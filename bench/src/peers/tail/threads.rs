//! Plain threads, one for each fiber, with crossbeam's channel.

use std::thread::{self, JoinHandle};
use std::time::Duration;

use crossbeam::channel::{Receiver, Sender, unbounded};

use super::library::{Library, finish};

/// Plain threads.
pub(in crate::peers) struct Threads;

impl Library for Threads {
    type Handle = JoinHandle<u64>;
    type Channel = (Sender<u64>, Receiver<u64>);

    fn run(_workers: usize, root: impl Future<Output = ()> + Send + 'static) {
        finish(root);
    }

    fn spawn(work: impl Future<Output = u64> + Send + 'static) -> Self::Handle {
        thread::spawn(|| finish(work))
    }

    async fn join(handle: Self::Handle) -> u64 {
        handle.join().expect("no thread panics")
    }

    async fn sleep(time: Duration) {
        thread::sleep(time);
    }

    async fn pause() {
        thread::yield_now();
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
