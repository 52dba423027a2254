//! pirn itself, with either scheduler, with fibers that may migrate, and with more workers.

use std::ops::DerefMut;
use std::sync::LazyLock;
use std::thread;
use std::time::{Duration, Instant};

use pirn::channel::{Receiver, bounded};
use pirn::dev::{Item, StealRing};
use pirn::runtime::{Runtime, Scheduler};
use pirn::sync::Mutex;
use pirn::{JoinHandle, select, spawn};

use crate::case::{Kind, Talk};
use crate::child::{Job, Latency, Outcome, Skip, Stamp, sample};

use super::blocking::{self, Blocking};
use super::channel::{PirnChannel, any_of, choose};
use super::fork;
use super::sleepers::{PAUSE, Sleepers};
use super::tail;
use super::threads::Threads;

/// A note on the use of pirn.
pub(super) const NOTE: &str = "`spawn` and `join` on a fiber of a runtime of its own; \
     `scope` where many are awaited; for fork-join `par::join`; for gzip the program pgz";

/// A runtime of pirn: one of the following.
pub(super) struct Pirn<const VARIANT: u8>;

/// The default one.
pub(super) const PLAIN: u8 = 0;
/// With `Scheduler::SingleQueue`.
pub(super) const SINGLE_QUEUE: u8 = 1;
/// With fibers that may migrate.
pub(super) const FREE: u8 = 2;
/// With four workers for each one asked for.
pub(super) const EIGHT: u8 = 3;

fn runtime<const VARIANT: u8>(job: &Job) -> Runtime {
    let workers = match job.kind {
        Kind::Wake => 1,
        _ if VARIANT == EIGHT => 4 * job.workers,
        _ => job.workers,
    };
    let mut builder = Runtime::builder().workers(workers);
    if VARIANT == SINGLE_QUEUE {
        builder = builder.scheduler(Scheduler::SingleQueue);
    }
    if VARIANT == FREE {
        // SAFETY: the programs hold nothing of a thread over a call that may switch: a
        // lock of std is released before the next one.
        builder = unsafe { builder.free_migration() };
    }
    if job.stack != 0 {
        builder = builder.stack_size(job.stack);
    }
    builder.build().expect("a runtime starts")
}

impl<const VARIANT: u8> Blocking for Pirn<VARIANT> {
    type Handle<T: Send + 'static> = JoinHandle<T>;
    type Channel = PirnChannel;
    type Mutex = Mutex<u64>;

    fn run<T: Send + 'static>(job: &Job, root: impl FnOnce() -> T + Send + 'static) -> T {
        runtime::<VARIANT>(job).run(root)
    }

    #[track_caller]
    fn spawn<T: Send + 'static>(
        work: impl FnOnce() -> T + Send + 'static,
    ) -> JoinHandle<T> {
        spawn(work)
    }

    fn join<T: Send + 'static>(handle: JoinHandle<T>) -> T {
        match handle.join() {
            Ok(value) => value,
            Err(_) => panic!("no fiber panics"),
        }
    }

    fn start(_job: &Job, work: impl FnOnce() + Send + 'static) {
        spawn(work).detach();
    }

    fn all<W: FnOnce() + Send + 'static>(count: u64, work: impl Fn(u64) -> W) {
        pirn::scope(|scope| {
            for index in 0..count {
                scope.spawn(work(index));
            }
        });
    }

    fn pause() {
        pirn::yield_now();
    }

    fn park() {
        pirn::park();
    }

    fn sleep(time: Duration) {
        pirn::sleep(time).expect("no fiber is cancelled");
    }

    fn lock(mutex: &Mutex<u64>) -> impl DerefMut<Target = u64> {
        mutex.lock()
    }
}

/// Runs a case with this variant.
pub(super) fn run<const VARIANT: u8>(job: &Job) -> Outcome {
    match job.kind {
        Kind::Talk(work) if work.on_threads() => match (VARIANT, work) {
            (PLAIN, Talk::PingPong(place)) => {
                blocking::ping_pong::<PirnChannel, Threads>(job, place)
            }
            (PLAIN, Talk::Messages(shape)) => {
                blocking::messages::<PirnChannel, Threads>(job, shape)
            }
            _ => Err(Skip("there is no scheduler between plain threads")),
        },
        Kind::Fork(work) if VARIANT == PLAIN => {
            fork::run::<fork::Free>(job, work);
            Ok(())
        }
        Kind::Tail(work) => tail::run::<Pirn<VARIANT>>(job, work),
        Kind::Steal => {
            steal(job);
            Ok(())
        }
        Kind::Wake => {
            let runtime = runtime::<VARIANT>(job);
            Latency::of_starts(job, |stamp| {
                runtime.spawn(move || stamp.mark()).detach();
                || {}
            });
            Ok(())
        }
        _ => {
            let job = *job;
            Pirn::<VARIANT>::run(&job, move || on_fiber::<Pirn<VARIANT>>(&job))
        }
    }
}

/// Runs `compare child pirn-scope …`.
pub(super) fn run_with_scope(job: &Job) -> Outcome {
    match job.kind {
        Kind::Fork(work) => fork::run::<fork::Scoped>(job, work),
        _ => return Err(Skip("fork-join only")),
    }
    Ok(())
}

fn on_fiber<B: Blocking>(job: &Job) -> Outcome {
    match job.kind {
        Kind::Talk(work) => talk::<B>(job, work),
        _ => blocking::run::<B>(job),
    }
}

fn talk<B: Blocking>(job: &Job, work: Talk) -> Outcome {
    let rest = |receiver: &Receiver<u64>| receiver.try_recv().ok();
    match work {
        Talk::PingPong(place) => blocking::ping_pong::<PirnChannel, B>(job, place),
        Talk::Messages(shape) => blocking::messages::<PirnChannel, B>(job, shape),
        Talk::Select(2) => choose::<PirnChannel, 2>(job, any_of!(a, b), rest),
        Talk::Select(_) => {
            choose::<PirnChannel, 8>(job, any_of!(a, b, c, d, e, f, g, h), rest)
        }
        Talk::Crowd(_) => blocking::run::<B>(job),
        Talk::Timer => {
            timer(job);
            Ok(())
        }
        Talk::Sleepers => sleepers(job),
    }
}

/// A worker's ring without its worker.
fn steal(job: &Job) {
    static STAMP: Stamp = Stamp::new();
    static ITEM: Item = Item(1);
    static VICTIM: LazyLock<StealRing> = LazyLock::new(StealRing::new);
    LazyLock::force(&VICTIM);
    thread::spawn(|| {
        let own = StealRing::new();
        loop {
            // SAFETY: `own` is this thread's.
            if unsafe { VICTIM.steal_into(&own) }.is_some() {
                STAMP.mark();
                // SAFETY: as above.
                unsafe { own.clear() };
            }
        }
    });
    Latency::of_events(job, &STAMP, || {
        // SAFETY: this thread owns the victim's ring.
        let pushed = unsafe { VICTIM.push(&ITEM) };
        assert!(pushed, "the thief keeps the ring empty");
    });
}

/// Arming happens where a fiber parks, so two ping-pongs are timed in turn, in which every
/// receive parks: one with deadlines and one without. Both are halved, and their difference is the
/// cost of a deadline.
fn timer(job: &Job) {
    for round in 0..job.warmups + job.rounds {
        let plain = waits(job.n, |receiver| receiver.recv().expect("it is open"));
        let timed = waits(job.n, |receiver| {
            receiver
                .recv_timeout(Duration::from_secs(3600))
                .expect("it is open, and an hour is long")
        });
        if round >= job.warmups {
            sample("wait", plain);
            sample("timed", timed);
            sample("op", timed - plain);
        }
    }
}

/// Returns nanoseconds for a receive that parks, with the send that ends it.
fn waits(count: u64, receive: fn(&Receiver<u64>) -> u64) -> f64 {
    let trips = count / 2;
    let (there, far) = bounded(0);
    let (back, near) = bounded(0);
    let started = Instant::now();
    let echo = spawn(move || {
        for _ in 0..trips {
            back.send(receive(&far) + 1).expect("it is open");
        }
    });
    let mut ball = 0;
    for _ in 0..trips {
        there.send(ball).expect("it is open");
        ball = receive(&near);
    }
    echo.join().expect("no fiber panics");
    let nanos = started.elapsed().as_nanos() as f64 / (2 * trips) as f64;
    assert_eq!(ball, trips, "a message was lost or came twice");
    nanos
}

fn sleepers(job: &Job) -> Outcome {
    let all = Sleepers::new(job);
    let mut before = Duration::ZERO;
    pirn::scope(|scope| {
        for number in 0..job.n {
            scope.spawn(move || {
                all.begins();
                pirn::time::sleep_until(all.deadline(number))
                    .expect("no fiber is cancelled");
                all.woke(number);
            });
        }
        while all.more_to_begin() {
            pirn::sleep(PAUSE).expect("no fiber is cancelled");
        }
        before = all.all_begun();
    });
    all.report(before)
}
