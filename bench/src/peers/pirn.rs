//! pirn itself, with either scheduler.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::Duration;

use pirn::dev::{Item, StealRing};
use pirn::runtime::{Runtime, Scheduler};
use pirn::spawn::JoinHandle;
use pirn::{spawn, yield_now};

use crate::case::Kind;
use crate::child::{
    Footprint, Job, Laps, Latency, Outcome, Skip, Stamp, peak_mib, report_parked, sample,
    spin_for,
};

use super::fork;
use super::tail;
use super::talk;

/// A note on the use of pirn.
pub(super) const NOTE: &str = "`spawn` and `join` on a fiber of a runtime of its own; \
     `scope` where many are awaited; for fork-join `par::join`; for gzip the program pgz";

pub(super) fn run_work_stealing(job: &Job) -> Outcome {
    run(job, Scheduler::WorkStealing)
}

pub(super) fn run_single_queue(job: &Job) -> Outcome {
    run(job, Scheduler::SingleQueue)
}

pub(super) fn run_with_scope(job: &Job) -> Outcome {
    match job.kind {
        Kind::Fork(work) => fork::run::<fork::Scoped>(job, work),
        _ => return Err(Skip("fork-join only")),
    }
    Ok(())
}

fn run(job: &Job, scheduler: Scheduler) -> Outcome {
    if let Kind::Talk(work) = job.kind
        && work.on_threads()
    {
        return match scheduler {
            Scheduler::WorkStealing => talk::pirn::run_on_threads(job, work),
            _ => Err(Skip("there is no scheduler between plain threads")),
        };
    }
    if let Kind::Fork(work) = job.kind {
        return match scheduler {
            Scheduler::WorkStealing => {
                fork::run::<fork::Free>(job, work);
                Ok(())
            }
            _ => Err(Skip("no such case")),
        };
    }
    if let Kind::Tail(work) = job.kind {
        return tail::run::<tail::Pirn<false, 1>>(job, work);
    }
    let workers = if job.kind == Kind::Wake {
        1
    } else {
        job.workers
    };
    let mut builder = Runtime::builder().workers(workers).scheduler(scheduler);
    if job.stack != 0 {
        builder = builder.stack_size(job.stack);
    }
    let runtime = builder.build().expect("a runtime starts");
    match job.kind {
        Kind::Yield(fibers) => runtime.run(|| yields(job, fibers)),
        Kind::SpawnJoin => runtime.run(|| spawn_join(job)),
        Kind::SpawnJoinYield => runtime.run(|| spawn_join_yield(job)),
        Kind::SpawnMany => runtime.run(|| spawn_many(job)),
        Kind::Skynet => runtime.run(|| skynet(job)),
        Kind::Parked => runtime.run(|| parked(job)),
        Kind::BusyChild => runtime.run(|| busy_child(job)),
        Kind::Steal => steal(job),
        Kind::HandOver => runtime.run(|| hand_over(job)),
        Kind::Wake => wake(job, &runtime),
        Kind::Throughput => runtime.run(|| throughput(job)),
        Kind::Talk(work) => return talk::pirn::run(job, work, &runtime),
        Kind::Fork(_)
        | Kind::Tail(_)
        | Kind::Net(_)
        | Kind::Pgz { .. }
        | Kind::Gunzip { .. } => {
            return Err(Skip("no such case"));
        }
    }
    Ok(())
}

fn join<T>(handle: JoinHandle<T>) -> T {
    match handle.join() {
        Ok(value) => value,
        Err(_) => panic!("no fiber panics"),
    }
}

fn yields(job: &Job, fibers: u64) {
    let each = job.n / fibers;
    let mut laps = Laps::new(job);
    while laps.begin() {
        let work = move || (0..each).for_each(|_| yield_now());
        let fibers: Vec<_> = (0..fibers).map(|_| spawn(work)).collect();
        fibers.into_iter().for_each(join);
        laps.end();
    }
    laps.per_operation(each * fibers);
}

fn spawn_join(job: &Job) {
    let mut laps = Laps::new(job);
    while laps.begin() {
        for _ in 0..job.n {
            join(spawn(|| {}));
        }
        laps.end();
    }
    laps.per_operation(job.n);
}

fn spawn_join_yield(job: &Job) {
    let mut laps = Laps::new(job);
    while laps.begin() {
        for _ in 0..job.n {
            join(spawn(yield_now));
        }
        laps.end();
    }
    laps.per_operation(job.n);
}

fn spawn_many(job: &Job) {
    let mut laps = Laps::new(job);
    while laps.begin() {
        pirn::scope(|scope| {
            for index in 0..job.n {
                let captured = [index; 4];
                scope.spawn(move || {
                    black_box(captured);
                });
            }
        });
        laps.end();
    }
    laps.cold_and_warm(job.n);
    sample("peak", peak_mib());
}

fn skynet(job: &Job) {
    let mut laps = Laps::new(job);
    while laps.begin() {
        let sum = join(node(0, job.n));
        laps.end();
        assert_eq!(sum, job.n * (job.n - 1) / 2);
    }
    laps.milliseconds(1.0);
}

fn node(number: u64, leaves: u64) -> JoinHandle<u64> {
    spawn(move || {
        if leaves == 1 {
            return number;
        }
        let below = leaves / 10;
        let children: [_; 10] =
            std::array::from_fn(|index| node(number + index as u64 * below, below));
        children.into_iter().map(join).sum()
    })
}

fn parked(job: &Job) {
    let started = Arc::new(AtomicU64::new(0));
    let before = Footprint::now();
    for _ in 0..job.n {
        let started = started.clone();
        let waiting = move || {
            started.fetch_add(1, Ordering::Relaxed);
            pirn::park();
        };
        spawn(waiting).detach();
    }
    while started.load(Ordering::Relaxed) < job.n {
        yield_now();
    }
    report_parked(before, job.n);
}

fn busy_child(job: &Job) {
    let mut latency = Latency::new(job);
    while latency.more() {
        let stamp = Arc::new(Stamp::new());
        let child = stamp.clone();
        let from = Latency::now();
        let fiber = spawn(move || child.mark());
        latency.push(stamp.spin(from, 10_000_000));
        spin_for(Duration::from_micros(300));
        join(fiber);
    }
    latency.print();
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
    let mut latency = Latency::new(job);
    while latency.more() {
        STAMP.clear();
        let from = Latency::now();
        // SAFETY: this thread owns the victim's ring.
        let pushed = unsafe { VICTIM.push(&ITEM) };
        assert!(pushed, "the thief keeps the ring empty");
        latency.push(STAMP.spin(from, 1_000_000));
    }
    latency.print();
}

/// Two fibers at a time, as with every peer that keeps the newest in a slot of its own.
fn hand_over(job: &Job) {
    let mut latency = Latency::new(job);
    while latency.more() {
        let stamp = Arc::new(Stamp::new());
        let child = stamp.clone();
        let before = Latency::now();
        let first = spawn(move || child.mark());
        let between = Latency::now();
        let second = spawn(|| {});
        latency.push(stamp.spin_pair(before, between, 1_000_000));
        join(first);
        join(second);
    }
    latency.print();
}

fn wake(job: &Job, runtime: &Runtime) {
    let mut latency = Latency::new(job);
    while latency.more() {
        let stamp = Arc::new(Stamp::new());
        let child = stamp.clone();
        spin_for(Duration::from_micros(300));
        let from = Latency::now();
        runtime.spawn(move || child.mark()).detach();
        latency.push(stamp.spin(from, 10_000_000));
    }
    latency.print();
}

fn throughput(job: &Job) {
    const BATCH: u64 = 1000;
    let batches = job.n / BATCH / job.workers as u64;
    let mut laps = Laps::new(job);
    while laps.begin() {
        let spawner = move || {
            for _ in 0..batches {
                pirn::scope(|scope| {
                    for _ in 0..BATCH {
                        scope.spawn(|| {});
                    }
                });
            }
        };
        let spawners: Vec<_> = (0..job.workers).map(|_| spawn(spawner)).collect();
        spawners.into_iter().for_each(join);
        laps.end();
    }
    laps.rate(batches * BATCH * job.workers as u64);
}
