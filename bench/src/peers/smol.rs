//! smol: tasks on one shared `Executor` that as many threads run as there are workers.

use std::thread;
use std::time::{Duration, Instant};

use smol::channel::{Receiver, RecvError, SendError, Sender, bounded};
use smol::future::{pending, yield_now};
use smol::lock::{Mutex, MutexGuard, Semaphore};
use smol::{Executor, Task, Timer};

use crate::case::Kind;
use crate::child::{Job, Latency, Outcome};

use super::tasks::{self, Tasks};

/// A note on the use of smol.
pub(super) const NOTE: &str = "one `Executor`, a thread for each worker; stackless";

static EXECUTOR: Executor<'static> = Executor::new();

/// Tasks of the executor.
struct Smol;

fn start_workers(count: usize) {
    for _ in 0..count {
        thread::spawn(|| smol::block_on(EXECUTOR.run(pending::<()>())));
    }
}

pub(super) fn run(job: &Job) -> Outcome {
    if job.kind != Kind::Wake {
        return tasks::run::<Smol>(job);
    }
    start_workers(1);
    Latency::of_starts(job, |stamp| {
        EXECUTOR.spawn(async move { stamp.mark() }).detach();
        || {}
    });
    Ok(())
}

impl Tasks for Smol {
    type Handle<T: Send + 'static> = Task<T>;
    type Ended<T: Send + 'static> = T;
    type Sender = Sender<u64>;
    type Receiver = Receiver<u64>;
    type Unsent = SendError<u64>;
    type Received = Result<u64, RecvError>;
    type Mutex = Mutex<u64>;
    type Guard<'a> = MutexGuard<'a, u64>;
    type Shut = Semaphore;

    fn run(job: &Job, work: impl Future<Output = ()> + Send + 'static) {
        start_workers(job.workers);
        smol::block_on(EXECUTOR.spawn(work));
    }

    fn spawn<T: Send + 'static>(
        work: impl Future<Output = T> + Send + 'static,
    ) -> Task<T> {
        EXECUTOR.spawn(work)
    }

    fn value<T: Send + 'static>(ended: T) -> T {
        ended
    }

    fn detach<T: Send + 'static>(handle: Task<T>) {
        handle.detach();
    }

    fn pause() -> impl Future<Output = ()> + Send + 'static {
        yield_now()
    }

    fn sleep(time: Duration) -> impl Future<Output: Send> + Send {
        Timer::after(time)
    }

    fn sleep_until(time: Instant) -> impl Future<Output: Send> + Send {
        Timer::at(time)
    }

    fn shut() -> Semaphore {
        Semaphore::new(0)
    }

    fn wait(shut: &Semaphore) -> impl Future<Output: Send> + Send {
        shut.acquire()
    }

    fn channel(capacity: usize) -> (Sender<u64>, Receiver<u64>) {
        bounded(capacity)
    }

    fn clone_receiver(receiver: &Receiver<u64>) -> Option<Receiver<u64>> {
        Some(receiver.clone())
    }

    fn send(
        sender: &Sender<u64>,
        value: u64,
    ) -> impl Future<Output = Result<(), SendError<u64>>> + Send {
        sender.send(value)
    }

    fn recv(
        receiver: &mut Receiver<u64>,
    ) -> impl Future<Output = Result<u64, RecvError>> + Send {
        receiver.recv()
    }

    fn received(received: Result<u64, RecvError>) -> Option<u64> {
        received.ok()
    }

    fn lock(mutex: &Mutex<u64>) -> impl Future<Output = MutexGuard<'_, u64>> + Send {
        mutex.lock()
    }
}
