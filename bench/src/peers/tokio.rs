//! tokio: tasks. Stackless, so a parked task keeps only what its future captured.

use std::future::Future;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;
use tokio::task::{JoinHandle, yield_now};

use crate::case::{Kind, Talk};
use crate::child::{
    Footprint, Job, Laps, Latency, Outcome, Skip, Stamp, peak_mib, report_parked, sample,
    spin_for,
};

use super::tail;
use super::talk;

/// A note on the use of tokio.
pub(super) const NOTE: &str = "multi-thread runtime, the driving task on a worker; \
     join handles awaited one by one; stackless";

pub(super) fn run_multi_thread(job: &Job) -> Outcome {
    if let Kind::Wake = job.kind {
        wake(job);
        return Ok(());
    }
    if let Kind::Tail(work) = job.kind {
        return tail::run::<tail::Tokio<false>>(job, work);
    }
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(job.workers);
    drive(&build(&mut builder, job), *job)
}

pub(super) fn run_current_thread(job: &Job) -> Outcome {
    if job.workers > 1 {
        return Err(Skip("has one thread only"));
    }
    drive(&build(&mut Builder::new_current_thread(), job), *job)
}

/// With a clock only for the cases that need one: it changes how a worker sleeps.
fn build(builder: &mut Builder, job: &Job) -> Runtime {
    if let Kind::Talk(Talk::Timer | Talk::Sleepers) = job.kind {
        builder.enable_time();
    }
    builder.build().expect("a runtime starts")
}

fn drive(runtime: &Runtime, job: Job) -> Outcome {
    match job.kind {
        Kind::Yield(fibers) => root(runtime, yields(job, fibers)),
        Kind::SpawnJoin => root(runtime, spawn_join(job)),
        Kind::SpawnJoinYield => root(runtime, spawn_join_yield(job)),
        Kind::SpawnMany => root(runtime, spawn_many(job)),
        Kind::Skynet => root(runtime, skynet(job)),
        Kind::Parked => root(runtime, parked(job)),
        Kind::BusyChild => root(runtime, busy_child(job)),
        Kind::HandOver => root(runtime, hand_over(job)),
        Kind::Throughput => root(runtime, throughput(job)),
        Kind::Talk(work) => return talk::tokio::run(runtime, job, work),
        Kind::Steal => return Err(Skip("its queue cannot be had by itself")),
        Kind::Wake
        | Kind::Fork(_)
        | Kind::Tail(_)
        | Kind::Net(_)
        | Kind::Pgz { .. }
        | Kind::Gunzip { .. } => {
            return Err(Skip("no such case"));
        }
    }
    Ok(())
}

/// Runs `work` on a worker: the thread that blocks on a runtime is not one.
fn root(runtime: &Runtime, work: impl Future<Output = ()> + Send + 'static) {
    runtime
        .block_on(async { tokio::spawn(work).await.expect("the case does not panic") });
}

async fn join_all<T>(handles: impl IntoIterator<Item = JoinHandle<T>>) {
    for handle in handles {
        handle.await.expect("no task panics");
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
        let tasks: Vec<_> = (0..fibers).map(|_| tokio::spawn(work())).collect();
        join_all(tasks).await;
        laps.end();
    }
    laps.per_operation(each * fibers);
}

async fn spawn_join(job: Job) {
    let mut laps = Laps::new(&job);
    while laps.begin() {
        for _ in 0..job.n {
            tokio::spawn(async {}).await.expect("no task panics");
        }
        laps.end();
    }
    laps.per_operation(job.n);
}

async fn spawn_join_yield(job: Job) {
    let mut laps = Laps::new(&job);
    while laps.begin() {
        for _ in 0..job.n {
            tokio::spawn(yield_now()).await.expect("no task panics");
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
            tasks.push(tokio::spawn(async move {
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
        let sum = node(0, job.n).await.expect("no task panics");
        laps.end();
        assert_eq!(sum, job.n * (job.n - 1) / 2);
    }
    laps.milliseconds(1.0);
}

fn node(number: u64, leaves: u64) -> JoinHandle<u64> {
    tokio::spawn(async move {
        if leaves == 1 {
            return number;
        }
        let below = leaves / 10;
        let children: [_; 10] =
            std::array::from_fn(|index| node(number + index as u64 * below, below));
        let mut sum = 0;
        for child in children {
            sum += child.await.expect("no task panics");
        }
        sum
    })
}

async fn parked(job: Job) {
    let gate = Arc::new(Notify::new());
    let started = Arc::new(AtomicU64::new(0));
    let before = Footprint::now();
    for _ in 0..job.n {
        let (gate, started) = (gate.clone(), started.clone());
        tokio::spawn(async move {
            started.fetch_add(1, Ordering::Relaxed);
            gate.notified().await;
        });
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
        let task = tokio::spawn(async move { child.mark() });
        latency.push(stamp.spin(from, 10_000_000));
        spin_for(Duration::from_micros(300));
        task.await.expect("no task panics");
    }
    latency.print();
}

/// Two tasks at a time: the newest stays in a slot that thieves cannot access at once.
async fn hand_over(job: Job) {
    let mut latency = Latency::new(&job);
    while latency.more() {
        let stamp = Arc::new(Stamp::new());
        let child = stamp.clone();
        let before = Latency::now();
        let first = tokio::spawn(async move { child.mark() });
        let between = Latency::now();
        let second = tokio::spawn(async {});
        latency.push(stamp.spin_pair(before, between, 1_000_000));
        first.await.expect("no task panics");
        second.await.expect("no task panics");
    }
    latency.print();
}

fn wake(job: &Job) {
    let mut builder = Builder::new_multi_thread();
    let runtime = build(builder.worker_threads(1), job);
    let mut latency = Latency::new(job);
    while latency.more() {
        let stamp = Arc::new(Stamp::new());
        let child = stamp.clone();
        spin_for(Duration::from_micros(300));
        let from = Latency::now();
        runtime.spawn(async move { child.mark() });
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
                batch.extend((0..BATCH).map(|_| tokio::spawn(async {})));
                join_all(batch.drain(..)).await;
            }
        };
        let spawners: Vec<_> =
            (0..job.workers).map(|_| tokio::spawn(spawner())).collect();
        join_all(spawners).await;
        laps.end();
    }
    laps.rate(batches * BATCH * job.workers as u64);
}
