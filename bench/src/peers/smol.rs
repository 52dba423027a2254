//! smol: tasks on one shared `Executor` that as many threads run as there are workers.

use std::future::Future;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use smol::future::yield_now;
use smol::{Executor, Task};

use crate::case::Kind;
use crate::child::{
    Footprint, Job, Laps, Latency, Outcome, Skip, Stamp, peak_mib, report_parked, sample,
    spin_for,
};

use super::talk;

/// A note on the use of smol.
pub(super) const NOTE: &str = "one `Executor`, a thread for each worker; stackless";

static EXECUTOR: Executor<'static> = Executor::new();

pub(super) fn run(job: &Job) -> Outcome {
    let job = *job;
    match job.kind {
        Kind::Yield(fibers) => root(job, yields(job, fibers)),
        Kind::SpawnJoin => root(job, spawn_join(job)),
        Kind::SpawnJoinYield => root(job, spawn_join_yield(job)),
        Kind::SpawnMany => root(job, spawn_many(job)),
        Kind::Skynet => root(job, skynet(job)),
        Kind::Parked => root(job, parked(job)),
        Kind::BusyChild => root(job, busy_child(job)),
        Kind::HandOver => root(job, hand_over(job)),
        Kind::Wake => wake(&job),
        Kind::Throughput => root(job, throughput(job)),
        Kind::Steal => return Err(Skip("its queue cannot be had by itself")),
        Kind::Talk(work) => return talk::smol::run(job, work, &EXECUTOR),
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

fn start_workers(count: usize) {
    for _ in 0..count {
        std::thread::spawn(|| {
            smol::block_on(EXECUTOR.run(smol::future::pending::<()>()))
        });
    }
}

pub(super) fn root(job: Job, work: impl Future<Output = ()> + Send + 'static) {
    start_workers(job.workers);
    smol::block_on(EXECUTOR.spawn(work));
}

async fn join_all<T>(tasks: impl IntoIterator<Item = Task<T>>) {
    for task in tasks {
        task.await;
    }
}

async fn yields(job: Job, fibers: u64) {
    let each = job.n / fibers;
    let mut laps = Laps::new(&job);
    while laps.begin() {
        let work = || async move {
            for _ in 0..each {
                yield_now().await;
            }
        };
        let tasks: Vec<_> = (0..fibers).map(|_| EXECUTOR.spawn(work())).collect();
        join_all(tasks).await;
        laps.end();
    }
    laps.per_operation(each * fibers);
}

async fn spawn_join(job: Job) {
    let mut laps = Laps::new(&job);
    while laps.begin() {
        for _ in 0..job.n {
            EXECUTOR.spawn(async {}).await;
        }
        laps.end();
    }
    laps.per_operation(job.n);
}

async fn spawn_join_yield(job: Job) {
    let mut laps = Laps::new(&job);
    while laps.begin() {
        for _ in 0..job.n {
            EXECUTOR.spawn(yield_now()).await;
        }
        laps.end();
    }
    laps.per_operation(job.n);
}

async fn spawn_many(job: Job) {
    let mut laps = Laps::new(&job);
    while laps.begin() {
        let mut tasks = Vec::with_capacity(job.n as usize);
        for index in 0..job.n {
            let captured = [index; 4];
            tasks.push(EXECUTOR.spawn(async move {
                black_box(captured);
            }));
        }
        join_all(tasks).await;
        laps.end();
    }
    laps.cold_and_warm(job.n);
    sample("peak", peak_mib());
}

async fn skynet(job: Job) {
    let mut laps = Laps::new(&job);
    while laps.begin() {
        let sum = node(0, job.n).await;
        laps.end();
        assert_eq!(sum, job.n * (job.n - 1) / 2);
    }
    laps.milliseconds(1.0);
}

fn node(number: u64, leaves: u64) -> Task<u64> {
    EXECUTOR.spawn(async move {
        if leaves == 1 {
            return number;
        }
        let below = leaves / 10;
        let children: [_; 10] =
            std::array::from_fn(|index| node(number + index as u64 * below, below));
        let mut sum = 0;
        for child in children {
            sum += child.await;
        }
        sum
    })
}

async fn parked(job: Job) {
    let gate = Arc::new(smol::lock::Semaphore::new(0));
    let started = Arc::new(AtomicU64::new(0));
    let before = Footprint::now();
    for _ in 0..job.n {
        let (gate, started) = (gate.clone(), started.clone());
        let waiting = async move {
            started.fetch_add(1, Ordering::Relaxed);
            gate.acquire().await;
        };
        EXECUTOR.spawn(waiting).detach();
    }
    while started.load(Ordering::Relaxed) < job.n {
        yield_now().await;
    }
    report_parked(before, job.n);
}

async fn busy_child(job: Job) {
    let mut latency = Latency::new(&job);
    while latency.more() {
        let stamp = Arc::new(Stamp::new());
        let child = stamp.clone();
        let from = Latency::now();
        let task = EXECUTOR.spawn(async move { child.mark() });
        latency.push(stamp.spin(from, 10_000_000));
        spin_for(Duration::from_micros(300));
        task.await;
    }
    latency.print();
}

async fn hand_over(job: Job) {
    let mut latency = Latency::new(&job);
    while latency.more() {
        let stamp = Arc::new(Stamp::new());
        let child = stamp.clone();
        let from = Latency::now();
        let task = EXECUTOR.spawn(async move { child.mark() });
        latency.push(stamp.spin(from, 1_000_000));
        task.await;
    }
    latency.print();
}

fn wake(job: &Job) {
    start_workers(1);
    let mut latency = Latency::new(job);
    while latency.more() {
        let stamp = Arc::new(Stamp::new());
        let child = stamp.clone();
        spin_for(Duration::from_micros(300));
        let from = Latency::now();
        EXECUTOR.spawn(async move { child.mark() }).detach();
        latency.push(stamp.spin(from, 10_000_000));
    }
    latency.print();
}

async fn throughput(job: Job) {
    const BATCH: u64 = 1000;
    let batches = job.n / BATCH / job.workers as u64;
    let mut laps = Laps::new(&job);
    while laps.begin() {
        let spawner = || async move {
            let mut batch = Vec::with_capacity(BATCH as usize);
            for _ in 0..batches {
                batch.extend((0..BATCH).map(|_| EXECUTOR.spawn(async {})));
                join_all(batch.drain(..)).await;
            }
        };
        let spawners: Vec<_> = (0..job.workers)
            .map(|_| EXECUTOR.spawn(spawner()))
            .collect();
        join_all(spawners).await;
        laps.end();
    }
    laps.rate(batches * BATCH * job.workers as u64);
}
