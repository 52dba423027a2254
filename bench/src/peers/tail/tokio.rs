//! tokio's part, with and without `spawn_blocking` for code that holds a thread.
//!
//! tokio has no channel with several receivers; async-channel is the usual one.

use std::time::Duration;

use smol::channel::{Receiver, Sender, unbounded};
use tokio::runtime::Builder;
use tokio::task::{JoinHandle, spawn_blocking, yield_now};

use super::library::Library;

/// Tasks, which compute and block in place, or by `spawn_blocking` if `ASIDE`.
pub(in crate::peers) struct Tokio<const ASIDE: bool>;

impl<const ASIDE: bool> Library for Tokio<ASIDE> {
    type Handle = JoinHandle<u64>;
    type Channel = (Sender<u64>, Receiver<u64>);

    fn run(workers: usize, root: impl Future<Output = ()> + Send + 'static) {
        let mut builder = Builder::new_multi_thread();
        let runtime = builder.worker_threads(workers).enable_time().build();
        runtime
            .expect("a runtime starts")
            .block_on(async { tokio::spawn(root).await.expect("no task panics") });
    }

    fn spawn(work: impl Future<Output = u64> + Send + 'static) -> Self::Handle {
        tokio::spawn(work)
    }

    async fn join(handle: Self::Handle) -> u64 {
        handle.await.expect("no task panics")
    }

    async fn sleep(time: Duration) {
        tokio::time::sleep(time).await;
    }

    async fn pause() {
        yield_now().await;
    }

    async fn heavy(work: impl FnOnce() + Send + 'static) {
        if ASIDE {
            spawn_blocking(work).await.expect("no job panics");
        } else {
            work();
        }
    }

    fn channel() -> Self::Channel {
        unbounded()
    }

    fn send(channel: &Self::Channel, value: u64) {
        channel.0.try_send(value).expect("it is open");
    }

    async fn receive(channel: &Self::Channel) -> u64 {
        channel.1.recv().await.expect("it is open")
    }
}
