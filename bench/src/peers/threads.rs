//! std threads: the cost of a thread for each operation.

use std::ops::DerefMut;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::thread::{self, JoinHandle, park, yield_now};
use std::time::Duration;

use crate::case::{Kind, Talk};
use crate::child::{Job, Laps, Latency, Outcome, Skip, Stamp};

use super::blocking::{self, Blocking};
use super::channel::{Crossbeam, Std};
use super::tail;

/// A note on the use of std threads.
pub(super) const NOTE: &str =
    "a thread for each fiber; rounds a hundredth of the others', 10,000 parked at most";

/// As many threads as there are fibers would measure the starting of threads.
const CROWD: u64 = 4;

/// Plain threads; in tails with crossbeam's channel.
pub(super) struct Threads;

impl Blocking for Threads {
    type Handle<T: Send + 'static> = JoinHandle<T>;
    type Channel = Crossbeam;
    type Mutex = Mutex<u64>;

    fn run<T: Send + 'static>(
        _job: &Job,
        root: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        root()
    }

    fn spawn<T: Send + 'static>(
        work: impl FnOnce() -> T + Send + 'static,
    ) -> JoinHandle<T> {
        thread::spawn(work)
    }

    fn join<T: Send + 'static>(handle: JoinHandle<T>) -> T {
        handle.join().expect("no thread panics")
    }

    fn start(job: &Job, work: impl FnOnce() + Send + 'static) {
        let builder = thread::Builder::new().stack_size(job.stack);
        let started = builder.spawn(work);
        started.expect("there is room for this many threads");
    }

    fn pause() {
        yield_now();
    }

    fn park() {
        loop {
            park();
        }
    }

    fn sleep(time: Duration) {
        thread::sleep(time);
    }

    fn lock(mutex: &Mutex<u64>) -> impl DerefMut<Target = u64> {
        mutex.lock().expect("no thread panics")
    }
}

pub(super) fn run(job: &Job) -> Outcome {
    match job.kind {
        Kind::Yield(fibers) => yields(&job.smaller(10), fibers),
        Kind::SpawnJoin | Kind::SpawnJoinYield => {
            return blocking::run::<Threads>(&job.smaller(100));
        }
        Kind::Parked => return blocking::run::<Threads>(&job.at_most(10_000)),
        Kind::Wake => wake(job),
        Kind::Throughput => throughput(&job.smaller(100)),
        Kind::SpawnMany | Kind::Skynet => return Err(Skip("too many threads")),
        Kind::Steal | Kind::HandOver => return Err(Skip("nothing to steal")),
        Kind::Tail(work) => return tail::run::<Threads>(job, work),
        Kind::Talk(Talk::PingPong(place)) => {
            return blocking::ping_pong::<Std, Threads>(&job.smaller(5), place);
        }
        Kind::Talk(Talk::Messages(shape)) => {
            return blocking::messages::<Std, Threads>(job, shape);
        }
        Kind::Talk(Talk::Crowd(_)) => blocking::crowd::<Threads>(job, CROWD),
        Kind::Talk(Talk::Select(_)) => return Err(Skip("no select")),
        Kind::Talk(Talk::Timer) => return Err(Skip("no timers")),
        Kind::Talk(Talk::Sleepers) => return Err(Skip("too many threads")),
        _ => return blocking::run::<Threads>(job),
    }
    Ok(())
}

/// The start of the threads is not timed.
fn yields(job: &Job, fibers: u64) {
    let each = job.n / fibers;
    let mut laps = Laps::new(job);
    loop {
        let barrier = Arc::new(Barrier::new(fibers as usize + 1));
        let start = |barrier: Arc<Barrier>| {
            thread::spawn(move || {
                barrier.wait();
                (0..each).for_each(|_| yield_now());
            })
        };
        let threads: Vec<_> = (0..fibers).map(|_| start(barrier.clone())).collect();
        let more = laps.begin();
        barrier.wait();
        threads.into_iter().for_each(Threads::join);
        if !more {
            break;
        }
        laps.end();
    }
    laps.per_operation(each * fibers);
}

/// One thread that parks until there is work, like a worker.
fn wake(job: &Job) {
    static STAMP: Stamp = Stamp::new();
    static WORK: AtomicBool = AtomicBool::new(false);
    let sleeper = thread::spawn(|| {
        loop {
            while !WORK.swap(false, Ordering::Acquire) {
                park();
            }
            STAMP.mark();
        }
    });
    Latency::of_events(job, &STAMP, || {
        WORK.store(true, Ordering::Release);
        sleeper.thread().unpark();
    });
}

fn throughput(job: &Job) {
    let each = job.n / job.workers as u64;
    let laps = Laps::of(job, || {
        thread::scope(|scope| {
            for _ in 0..job.workers {
                scope.spawn(|| {
                    (0..each).for_each(|_| Threads::join(thread::spawn(|| {})));
                });
            }
        });
    });
    laps.rate(each * job.workers as u64);
}
