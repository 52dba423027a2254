//! crossbeam: threads that wait on a channel for closures, and the bare deque.

use std::hint::black_box;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crossbeam::channel::{Sender, bounded, unbounded};
use crossbeam::deque::{Steal, Worker};
use crossbeam::sync::WaitGroup;

use crate::case::Kind;
use crate::child::{
    Job, Laps, Latency, Outcome, Skip, Stamp, peak_mib, sample, spin_for,
};

use super::talk;

/// A note on the use of crossbeam.
pub(super) const NOTE: &str = "threads fed with boxed closures by one channel; steal: the \
     bare deque with a spinning thief, no closure; messages: plain threads";

type Work = Box<dyn FnOnce() + Send>;

pub(super) fn run(job: &Job) -> Outcome {
    match job.kind {
        Kind::SpawnJoin => spawn_join(&job.smaller(10)),
        Kind::SpawnMany => spawn_many(job),
        Kind::BusyChild => busy_child(job),
        Kind::Steal => steal(job),
        Kind::Wake => wake(job),
        Kind::Throughput => throughput(job),
        Kind::Yield(_)
        | Kind::SpawnJoinYield
        | Kind::Parked
        | Kind::Skynet
        | Kind::HandOver => {
            return Err(Skip("a closure cannot wait"));
        }
        Kind::Talk(work) => return talk::crossbeam::run(job, work),
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

fn start_workers(count: usize) -> Sender<Work> {
    let (sender, receiver) = unbounded::<Work>();
    for _ in 0..count {
        let receiver = receiver.clone();
        thread::spawn(move || receiver.iter().for_each(|work| work()));
    }
    sender
}

fn send(pool: &Sender<Work>, work: impl FnOnce() + Send + 'static) {
    pool.send(Box::new(work)).expect("the workers run");
}

fn spawn_join(job: &Job) {
    let pool = start_workers(job.workers);
    let mut laps = Laps::new(job);
    while laps.begin() {
        for _ in 0..job.n {
            let (done, ended) = bounded(1);
            send(&pool, move || done.send(()).expect("the result is awaited"));
            ended.recv().expect("the work runs");
        }
        laps.end();
    }
    laps.per_operation(job.n);
}

fn spawn_many(job: &Job) {
    let pool = start_workers(job.workers);
    let mut laps = Laps::new(job);
    while laps.begin() {
        let group = WaitGroup::new();
        for index in 0..job.n {
            let captured = [index; 4];
            let member = group.clone();
            send(&pool, move || {
                black_box(captured);
                drop(member);
            });
        }
        group.wait();
        laps.end();
    }
    laps.cold_and_warm(job.n);
    sample("peak", peak_mib());
}

fn busy_child(job: &Job) {
    let pool = start_workers(job.workers);
    let mut latency = Latency::new(job);
    while latency.more() {
        let stamp = Arc::new(Stamp::new());
        let child = stamp.clone();
        let from = Latency::now();
        send(&pool, move || child.mark());
        latency.push(stamp.spin(from, 10_000_000));
        spin_for(Duration::from_micros(300));
    }
    latency.print();
}

fn steal(job: &Job) {
    static STAMP: Stamp = Stamp::new();
    let queue = Worker::<u64>::new_lifo();
    let stealer = queue.stealer();
    thread::spawn(move || {
        loop {
            if let Steal::Success(_) = stealer.steal() {
                STAMP.mark();
            }
        }
    });
    let mut latency = Latency::new(job);
    while latency.more() {
        STAMP.clear();
        let from = Latency::now();
        queue.push(1);
        latency.push(STAMP.spin(from, 1_000_000));
    }
    latency.print();
}

fn wake(job: &Job) {
    let pool = start_workers(1);
    let mut latency = Latency::new(job);
    while latency.more() {
        let stamp = Arc::new(Stamp::new());
        let child = stamp.clone();
        spin_for(Duration::from_micros(300));
        let from = Latency::now();
        send(&pool, move || child.mark());
        latency.push(stamp.spin(from, 10_000_000));
    }
    latency.print();
}

fn throughput(job: &Job) {
    const BATCH: u64 = 1000;
    let pool = start_workers(job.workers);
    let batches = job.n / BATCH;
    let mut laps = Laps::new(job);
    while laps.begin() {
        for _ in 0..batches {
            let group = WaitGroup::new();
            for _ in 0..BATCH {
                let member = group.clone();
                send(&pool, move || drop(member));
            }
            group.wait();
        }
        laps.end();
    }
    laps.rate(batches * BATCH);
}
