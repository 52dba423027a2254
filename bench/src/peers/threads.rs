//! std threads: the cost of a thread for each operation.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::thread::{self, JoinHandle, park, yield_now};
use std::time::Duration;

use crate::case::Kind;
use crate::child::{
    Footprint, Job, Laps, Latency, Outcome, Skip, Stamp, report_parked, spin_for,
};

use super::tail;
use super::talk;

/// A note on the use of std threads.
pub(super) const NOTE: &str =
    "a thread for each fiber; rounds a hundredth of the others', 10,000 parked at most";

pub(super) fn run(job: &Job) -> Outcome {
    match job.kind {
        Kind::Yield(fibers) => yields(&job.smaller(10), fibers),
        Kind::SpawnJoin => spawn_join(&job.smaller(100)),
        Kind::SpawnJoinYield => spawn_join_yield(&job.smaller(100)),
        Kind::Parked => parked(&Job {
            n: job.n.min(10_000),
            ..*job
        }),
        Kind::BusyChild => busy_child(job),
        Kind::Wake => wake(job),
        Kind::SpawnMany | Kind::Skynet => return Err(Skip("too many threads")),
        Kind::Throughput => throughput(&job.smaller(100)),
        Kind::Steal | Kind::HandOver => return Err(Skip("nothing to steal")),
        Kind::Tail(work) => return tail::run::<tail::Threads>(job, work),
        Kind::Talk(work) => return talk::threads::run(job, work),
        Kind::Fork(_) | Kind::Net(_) | Kind::Pgz { .. } | Kind::Gunzip { .. } => {
            return Err(Skip("no such case"));
        }
    }
    Ok(())
}

fn join<T>(handle: JoinHandle<T>) -> T {
    handle.join().expect("no thread panics")
}

fn yields(job: &Job, fibers: u64) {
    let each = job.n / fibers;
    let mut laps = Laps::new(job);
    loop {
        let barrier = Arc::new(Barrier::new(fibers as usize + 1));
        let threads: Vec<_> = (0..fibers)
            .map(|_| {
                let barrier = barrier.clone();
                thread::spawn(move || {
                    barrier.wait();
                    for _ in 0..each {
                        yield_now();
                    }
                })
            })
            .collect();
        let more = laps.begin();
        barrier.wait();
        threads.into_iter().for_each(join);
        if !more {
            break;
        }
        laps.end();
    }
    laps.per_operation(each * fibers);
}

fn spawn_join(job: &Job) {
    let mut laps = Laps::new(job);
    while laps.begin() {
        for _ in 0..job.n {
            join(thread::spawn(|| {}));
        }
        laps.end();
    }
    laps.per_operation(job.n);
}

fn spawn_join_yield(job: &Job) {
    let mut laps = Laps::new(job);
    while laps.begin() {
        for _ in 0..job.n {
            join(thread::spawn(yield_now));
        }
        laps.end();
    }
    laps.per_operation(job.n);
}

fn parked(job: &Job) {
    let started = Arc::new(AtomicU64::new(0));
    let before = Footprint::now();
    for _ in 0..job.n {
        let started = started.clone();
        let waiting = move || {
            started.fetch_add(1, Ordering::Relaxed);
            loop {
                park();
            }
        };
        let builder = thread::Builder::new().stack_size(job.stack);
        builder
            .spawn(waiting)
            .expect("there is room for this many threads");
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
        let thread = thread::spawn(move || child.mark());
        latency.push(stamp.spin(from, 10_000_000));
        spin_for(Duration::from_micros(300));
        join(thread);
    }
    latency.print();
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
    let mut latency = Latency::new(job);
    while latency.more() {
        STAMP.clear();
        spin_for(Duration::from_micros(300));
        let from = Latency::now();
        WORK.store(true, Ordering::Release);
        sleeper.thread().unpark();
        latency.push(STAMP.spin(from, 10_000_000));
    }
    latency.print();
}

fn throughput(job: &Job) {
    let each = job.n / job.workers as u64;
    let mut laps = Laps::new(job);
    while laps.begin() {
        thread::scope(|scope| {
            for _ in 0..job.workers {
                scope.spawn(|| (0..each).for_each(|_| join(thread::spawn(|| {}))));
            }
        });
        laps.end();
    }
    laps.rate(each * job.workers as u64);
}
