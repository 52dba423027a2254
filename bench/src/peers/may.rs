//! may: stackful coroutines on work-stealing threads.

use std::ops::DerefMut;
use std::time::Duration;

use may::coroutine::{self, JoinHandle};
use may::go;
use may::sync::Mutex;

use crate::case::{Kind, Talk};
use crate::child::{Job, Outcome, Skip};

use super::blocking::{self, Blocking};
use super::channel::{MayChannel, MaySharedChannel};
use super::tail;

/// A note on the use of may.
pub(super) const NOTE: &str = "`go!` and `join`, its own default stacks of 32 KiB, \
     a pool of 16,384 coroutines except for parked ones; skynet a \
     hundredth, times a hundred: a tenth may need more mappings than a process can have; \
     throughput in rounds a twentieth of the others'; \
     30,000 parked at most: more need a raised `vm.max_map_count`";

/// Coroutines of may.
pub(super) struct May;

/// Arbitrary: 128 KiB for tails, enough for a build without optimization.
const TAIL_STACK: usize = 128 << 10;

/// The stacks of the pool where many coroutines are alive; one beyond it gets a new stack.
/// Arbitrary, above the 11,111 of skynet. Few coroutines would cycle through that many cold
/// stacks.
const POOL: usize = 16_384;

fn configure(job: &Job) {
    let (workers, stack) = match job.kind {
        Kind::Wake => (1, job.stack),
        Kind::Tail(_) => (job.workers, TAIL_STACK),
        _ => (job.workers, job.stack),
    };
    may::config().set_workers(workers);
    if matches!(job.kind, Kind::Skynet | Kind::Throughput) {
        may::config().set_pool_capacity(POOL);
    }
    if stack != 0 {
        may::config().set_stack_size(stack / size_of::<usize>());
    }
}

impl Blocking for May {
    type Handle<T: Send + 'static> = JoinHandle<T>;
    type Channel = MaySharedChannel;
    type Mutex = Mutex<u64>;
    const SKYNET: f64 = 100.0;

    fn run<T: Send + 'static>(job: &Job, root: impl FnOnce() -> T + Send + 'static) -> T {
        configure(job);
        May::join(May::spawn(root))
    }

    fn spawn<T: Send + 'static>(
        work: impl FnOnce() -> T + Send + 'static,
    ) -> JoinHandle<T> {
        go!(work)
    }

    fn join<T: Send + 'static>(handle: JoinHandle<T>) -> T {
        handle.join().expect("no coroutine panics")
    }

    fn start(_job: &Job, work: impl FnOnce() + Send + 'static) {
        drop(May::spawn(work));
    }

    fn pause() {
        coroutine::yield_now();
    }

    fn park() {
        coroutine::park();
    }

    fn sleep(time: Duration) {
        coroutine::sleep(time);
    }

    fn lock(mutex: &Mutex<u64>) -> impl DerefMut<Target = u64> {
        mutex.lock().expect("no coroutine panics")
    }
}

pub(super) fn run(job: &Job) -> Outcome {
    let job = *job;
    match job.kind {
        Kind::Tail(work) => tail::run::<May>(&job, work),
        Kind::Wake => {
            configure(&job);
            blocking::run::<May>(&job)
        }
        Kind::Steal => Err(Skip("its queue cannot be had by itself")),
        Kind::Talk(work) if work.on_threads() => Err(Skip("not made for plain threads")),
        _ => May::run(&job, move || on_coroutine(&job)),
    }
}

fn on_coroutine(job: &Job) -> Outcome {
    match job.kind {
        Kind::Skynet => blocking::run::<May>(&job.smaller(May::SKYNET as u64)),
        Kind::Parked => blocking::run::<May>(&job.at_most(30_000)),
        Kind::Throughput => blocking::run::<May>(&job.smaller(20)),
        Kind::Talk(Talk::PingPong(place)) => {
            blocking::ping_pong::<MayChannel, May>(job, place)
        }
        Kind::Talk(Talk::Messages(_)) => Err(Skip("no bounded channel")),
        Kind::Talk(Talk::Select(_)) => {
            Err(Skip("its select starts a coroutine for each arm"))
        }
        Kind::Talk(Talk::Timer) => Err(Skip("no timer by itself")),
        Kind::Talk(Talk::Sleepers) => Err(Skip("no room for so many coroutines")),
        _ => blocking::run::<May>(job),
    }
}
