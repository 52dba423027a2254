//! rayon: jobs that never wait, so the cases without a yield or a parked fiber.

use std::hint::black_box;

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::case::Kind;
use crate::child::{Job, Laps, Latency, Outcome, Skip, Stamp, peak_mib, sample};

use super::fork;

/// A note on the use of rayon.
pub(super) const NOTE: &str = "`scope` and `spawn` inside a pool; jobs run on the worker's own stack and cannot wait";

pub(super) fn run(job: &Job) -> Outcome {
    if let Kind::Fork(work) = job.kind {
        fork::run::<ThreadPool>(job, work);
        return Ok(());
    }
    let case = match job.kind {
        Kind::SpawnJoin => spawn_join,
        Kind::SpawnMany => spawn_many,
        Kind::Skynet => skynet,
        Kind::BusyChild => starts,
        Kind::HandOver => hand_over,
        Kind::Throughput => throughput,
        Kind::Wake => {
            wake(job);
            return Ok(());
        }
        Kind::Steal => return Err(Skip("its queue cannot be had by itself")),
        _ => return Err(Skip("a job cannot wait")),
    };
    pool(job.workers).install(|| case(job));
    Ok(())
}

pub(super) fn pool(workers: usize) -> ThreadPool {
    ThreadPoolBuilder::new()
        .num_threads(workers)
        .build()
        .expect("a pool starts")
}

fn spawn_join(job: &Job) {
    let laps = Laps::of(job, || {
        (0..job.n).for_each(|_| rayon::scope(|scope| scope.spawn(|_| {})));
    });
    laps.per_operation(job.n);
}

fn spawn_many(job: &Job) {
    let laps = Laps::of(job, || {
        rayon::scope(|scope| {
            for index in 0..job.n {
                let captured = [index; 4];
                scope.spawn(move |_| {
                    black_box(captured);
                });
            }
        });
    });
    laps.cold_and_warm(job.n);
    sample("peak", peak_mib());
}

fn skynet(job: &Job) {
    let laps = Laps::of(job, || {
        assert_eq!(node(0, job.n), job.n * (job.n - 1) / 2);
    });
    laps.milliseconds(1.0);
}

fn node(number: u64, leaves: u64) -> u64 {
    if leaves == 1 {
        return number;
    }
    let below = leaves / 10;
    let mut sums = [0; 10];
    rayon::scope(|scope| {
        for (index, sum) in sums.iter_mut().enumerate() {
            scope.spawn(move |_| *sum = node(number + index as u64 * below, below));
        }
    });
    sums.iter().sum()
}

fn starts(job: &Job) {
    Latency::of_starts(job, |stamp| {
        let child = stamp.clone();
        rayon::spawn(move || child.mark());
        move || {
            while stamp.get().is_none() {
                rayon::yield_now();
            }
        }
    });
}

/// Two jobs at a time, as with every peer. The scope waits for both.
fn hand_over(job: &Job) {
    let mut latency = Latency::new(job);
    while latency.more() {
        let stamp = Stamp::new();
        rayon::scope(|scope| {
            let before = Latency::now();
            scope.spawn(|_| stamp.mark());
            let between = Latency::now();
            scope.spawn(|_| {});
            latency.push(stamp.spin_pair(before, between));
        });
    }
    latency.print();
}

fn wake(job: &Job) {
    let pool = pool(1);
    Latency::of_starts(job, |stamp| {
        pool.spawn(move || stamp.mark());
        || {}
    });
}

fn throughput(job: &Job) {
    const BATCH: u64 = 1000;
    let batches = job.n / BATCH / job.workers as u64;
    let batch = || rayon::scope(|scope| (0..BATCH).for_each(|_| scope.spawn(|_| {})));
    let laps = Laps::of(job, || {
        rayon::scope(|scope| {
            for _ in 0..job.workers {
                scope.spawn(|_| (0..batches).for_each(|_| batch()));
            }
        });
    });
    laps.rate(batches * BATCH * job.workers as u64);
}
