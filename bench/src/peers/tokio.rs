//! tokio: tasks. Stackless, so a parked task keeps only what its future captured.

use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::error::SendError;
use tokio::sync::mpsc::{Receiver, Sender};
use tokio::sync::{Mutex, MutexGuard, Notify, mpsc};
use tokio::task::{JoinError, JoinHandle, spawn_blocking, unconstrained, yield_now};

use crate::case::{Kind, Talk};
use crate::child::{Job, Laps, Latency, Outcome, Skip};

use super::stock::Stock;
use super::tail;
use super::tasks::{self, Tasks};

/// A note on the use of tokio.
pub(super) const NOTE: &str = "multi-thread runtime, the driving task on a worker; \
     join handles awaited one by one; stackless";

/// A runtime of tokio: one of the following.
pub(super) struct Tokio<const VARIANT: u8>;

/// With a thread for each worker.
pub(super) const MULTI_THREAD: u8 = 0;
/// With one thread.
pub(super) const CURRENT_THREAD: u8 = 1;
/// As the first one, with `spawn_blocking` for code that computes or blocks.
pub(super) const ASIDE: u8 = 2;

/// With a clock only for the cases that need one: it changes how a worker sleeps.
fn runtime<const VARIANT: u8>(job: &Job) -> Runtime {
    let mut builder = match VARIANT {
        CURRENT_THREAD => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    builder.worker_threads(match job.kind {
        Kind::Wake => 1,
        _ => job.workers,
    });
    if let Kind::Talk(Talk::Timer | Talk::Sleepers) | Kind::Tail(_) = job.kind {
        builder.enable_time();
    }
    builder.build().expect("a runtime starts")
}

pub(super) fn run<const VARIANT: u8>(job: &Job) -> Outcome {
    if VARIANT == CURRENT_THREAD && job.workers > 1 {
        return Err(Skip("has one thread only"));
    }
    match job.kind {
        Kind::Tail(work) => return tail::run::<Tokio<VARIANT>>(job, work),
        Kind::Wake => {
            let runtime = runtime::<VARIANT>(job);
            Latency::of_starts(job, |stamp| {
                runtime.spawn(async move { stamp.mark() });
                || {}
            });
        }
        Kind::Talk(Talk::Select(2)) => Tokio::<VARIANT>::run(job, choose_of_two(*job)),
        Kind::Talk(Talk::Select(_)) => Tokio::<VARIANT>::run(job, choose_of_eight(*job)),
        _ => return tasks::run::<Tokio<VARIANT>>(job),
    }
    Ok(())
}

impl<const VARIANT: u8> Tasks for Tokio<VARIANT> {
    type Handle<T: Send + 'static> = JoinHandle<T>;
    type Ended<T: Send + 'static> = Result<T, JoinError>;
    type Sender = Sender<u64>;
    type Receiver = Receiver<u64>;
    type Unsent = SendError<u64>;
    type Received = Option<u64>;
    type Mutex = Mutex<u64>;
    type Guard<'a> = MutexGuard<'a, u64>;
    type Shut = Notify;

    /// On a worker: the thread that blocks on a runtime is not one. A timer is polled without a
    /// budget: a poll beyond it would not arm it.
    fn run(job: &Job, work: impl Future<Output = ()> + Send + 'static) {
        let runtime = runtime::<VARIANT>(job);
        let task = match job.kind {
            Kind::Talk(Talk::Timer) => runtime.spawn(unconstrained(work)),
            _ => runtime.spawn(work),
        };
        runtime.block_on(task).expect("the case does not panic");
    }

    fn spawn<T: Send + 'static>(
        work: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        tokio::spawn(work)
    }

    fn value<T: Send + 'static>(ended: Result<T, JoinError>) -> T {
        ended.expect("no task panics")
    }

    fn detach<T: Send + 'static>(handle: JoinHandle<T>) {
        drop(handle);
    }

    fn pause() -> impl Future<Output = ()> + Send + 'static {
        yield_now()
    }

    fn sleep(time: Duration) -> impl Future<Output: Send> + Send {
        tokio::time::sleep(time)
    }

    fn sleep_until(time: Instant) -> impl Future<Output: Send> + Send {
        tokio::time::sleep_until(time.into())
    }

    fn shut() -> Notify {
        Notify::new()
    }

    fn wait(shut: &Notify) -> impl Future<Output: Send> + Send {
        shut.notified()
    }

    fn channel(capacity: usize) -> (Sender<u64>, Receiver<u64>) {
        mpsc::channel(capacity)
    }

    fn clone_receiver(_receiver: &Receiver<u64>) -> Option<Receiver<u64>> {
        None
    }

    fn send(
        sender: &Sender<u64>,
        value: u64,
    ) -> impl Future<Output = Result<(), SendError<u64>>> + Send {
        sender.send(value)
    }

    fn recv(receiver: &mut Receiver<u64>) -> impl Future<Output = Option<u64>> + Send {
        receiver.recv()
    }

    fn received(received: Option<u64>) -> Option<u64> {
        received
    }

    fn lock(mutex: &Mutex<u64>) -> impl Future<Output = MutexGuard<'_, u64>> + Send {
        mutex.lock()
    }
}

/// tokio has no channel with several receivers; async-channel is the usual one.
type Shared = (smol::channel::Sender<u64>, smol::channel::Receiver<u64>);

impl<const VARIANT: u8> tail::Library for Tokio<VARIANT> {
    type Handle = JoinHandle<u64>;
    type Channel = Shared;

    fn run(job: &Job, root: impl Future<Output = ()> + Send + 'static) {
        <Self as Tasks>::run(job, root);
    }

    fn spawn(work: impl Future<Output = u64> + Send + 'static) -> JoinHandle<u64> {
        tokio::spawn(work)
    }

    async fn join(handle: JoinHandle<u64>) -> u64 {
        handle.await.expect("no task panics")
    }

    async fn sleep(time: Duration) {
        tokio::time::sleep(time).await;
    }

    async fn pause() {
        yield_now().await;
    }

    async fn heavy(work: impl FnOnce() + Send + 'static) {
        if VARIANT == ASIDE {
            spawn_blocking(work).await.expect("no job panics");
        } else {
            work();
        }
    }

    fn channel() -> Shared {
        smol::channel::unbounded()
    }

    fn send(channel: &Shared, value: u64) {
        channel.0.try_send(value).expect("it is open");
    }

    async fn receive(channel: &Shared) -> u64 {
        channel.1.recv().await.expect("it is open")
    }
}

/// Expands to a case with its arms in the code.
macro_rules! choose {
    ($name:ident, $ways:literal, $($receiver:ident),*) => {
        async fn $name(job: Job) {
            let mut stock = Stock::new(&job, $ways);
            let mut senders = Vec::new();
            $(
                let (sender, mut $receiver) = mpsc::channel(stock.each());
                senders.push(sender);
            )*
            let mut laps = Laps::new(&job);
            loop {
                stock.fill(|way, value| senders[way].try_send(value).expect("there is room"));
                if !laps.begin() {
                    break;
                }
                let mut sum = 0u64;
                for _ in 0..job.n {
                    let value: Option<u64> = tokio::select! {
                        $(value = $receiver.recv() => value,)*
                    };
                    sum += value.expect("there are values");
                }
                laps.end();
                let mut left = [$(&mut $receiver),*];
                stock.taken(sum, |way| left[way].try_recv().ok());
            }
            laps.per_operation(job.n);
        }
    };
}

choose!(choose_of_two, 2, a, b);
choose!(choose_of_eight, 8, a, b, c, d, e, f, g, h);
