//! rayon: jobs that never wait, so the cases without a yield or a parked fiber.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::case::Kind;
use crate::child::{
    Job, Laps, Latency, Outcome, Skip, Stamp, peak_mib, sample, spin_for,
};

use super::fork;

/// A note on the use of rayon.
pub(super) const NOTE: &str = "`scope` and `spawn` inside a pool; jobs run on the worker's own stack and cannot wait";

pub(super) fn run(job: &Job) -> Outcome {
    let job = *job;
    match job.kind {
        Kind::SpawnJoin => pool(job.workers).install(|| spawn_join(&job)),
        Kind::SpawnMany => pool(job.workers).install(|| spawn_many(&job)),
        Kind::Skynet => pool(job.workers).install(|| skynet(&job)),
        Kind::BusyChild => pool(job.workers).install(|| busy_child(&job)),
        Kind::HandOver => pool(job.workers).install(|| hand_over(&job)),
        Kind::Wake => wake(&job),
        Kind::Throughput => pool(job.workers).install(|| throughput(&job)),
        Kind::Fork(work) => fork::run::<ThreadPool>(&job, work),
        Kind::Yield(_) | Kind::SpawnJoinYield | Kind::Parked => {
            return Err(Skip("a job cannot wait"));
        }
        Kind::Steal => return Err(Skip("its queue cannot be had by itself")),
        Kind::Talk(_) => return Err(Skip("a job cannot wait")),
        Kind::Tail(_) | Kind::Net(_) | Kind::Pgz { .. } | Kind::Gunzip { .. } => {
            return Err(Skip("no such case"));
        }
    }
    Ok(())
}

pub(super) fn pool(workers: usize) -> ThreadPool {
    ThreadPoolBuilder::new()
        .num_threads(workers)
        .build()
        .expect("a pool starts")
}

fn spawn_join(job: &Job) {
    let mut laps = Laps::new(job);
    while laps.begin() {
        for _ in 0..job.n {
            rayon::scope(|scope| scope.spawn(|_| {}));
        }
        laps.end();
    }
    laps.per_operation(job.n);
}

fn spawn_many(job: &Job) {
    let mut laps = Laps::new(job);
    while laps.begin() {
        rayon::scope(|scope| {
            for index in 0..job.n {
                let captured = [index; 4];
                scope.spawn(move |_| {
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
        let sum = node(0, job.n);
        laps.end();
        assert_eq!(sum, job.n * (job.n - 1) / 2);
    }
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

fn busy_child(job: &Job) {
    let mut latency = Latency::new(job);
    while latency.more() {
        let stamp = Arc::new(Stamp::new());
        let child = stamp.clone();
        let from = Latency::now();
        rayon::spawn(move || child.mark());
        latency.push(stamp.spin(from, 10_000_000));
        spin_for(Duration::from_micros(300));
        while stamp.get().is_none() {
            rayon::yield_now();
        }
    }
    latency.print();
}

fn hand_over(job: &Job) {
    let mut latency = Latency::new(job);
    while latency.more() {
        let stamp = Arc::new(Stamp::new());
        let child = stamp.clone();
        let from = Latency::now();
        rayon::spawn(move || child.mark());
        latency.push(stamp.spin(from, 1_000_000));
        while stamp.get().is_none() {
            rayon::yield_now();
        }
    }
    latency.print();
}

fn wake(job: &Job) {
    let pool = pool(1);
    let mut latency = Latency::new(job);
    while latency.more() {
        let stamp = Arc::new(Stamp::new());
        let child = stamp.clone();
        spin_for(Duration::from_micros(300));
        let from = Latency::now();
        pool.spawn(move || child.mark());
        latency.push(stamp.spin(from, 10_000_000));
    }
    latency.print();
}

fn throughput(job: &Job) {
    const BATCH: u64 = 1000;
    let batches = job.n / BATCH / job.workers as u64;
    let mut laps = Laps::new(job);
    while laps.begin() {
        rayon::scope(|scope| {
            for _ in 0..job.workers {
                scope.spawn(|_| {
                    for _ in 0..batches {
                        rayon::scope(|scope| {
                            (0..BATCH).for_each(|_| scope.spawn(|_| {}))
                        });
                    }
                });
            }
        });
        laps.end();
    }
    laps.rate(batches * BATCH * job.workers as u64);
}
