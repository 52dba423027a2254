//! crossbeam: threads that wait on a channel for closures, the bare deque, and its channels between
//! plain threads.

use std::hint::black_box;
use std::thread;

use crossbeam::channel::{Receiver, Sender, bounded, select, unbounded};
use crossbeam::deque::{Steal, Worker};
use crossbeam::sync::WaitGroup;

use crate::case::{Kind, Talk};
use crate::child::{Job, Laps, Latency, Outcome, Skip, Stamp, peak_mib, sample};

use super::channel::{self, Crossbeam, any_of, choose};

/// A note on the use of crossbeam.
pub(super) const NOTE: &str = "threads fed with boxed closures by one channel; steal: the \
     bare deque with a spinning thief, no closure; messages: plain threads";

type Work = Box<dyn FnOnce() + Send>;

pub(super) fn run(job: &Job) -> Outcome {
    match job.kind {
        Kind::SpawnJoin => spawn_join(&job.smaller(10)),
        Kind::SpawnMany => spawn_many(job),
        Kind::BusyChild => starts(job, job.workers),
        Kind::Steal => steal(job),
        Kind::Wake => starts(job, 1),
        Kind::Throughput => throughput(job),
        Kind::Talk(work) => return talk(job, work),
        _ => return Err(Skip("a closure cannot wait")),
    }
    Ok(())
}

fn talk(job: &Job, work: Talk) -> Outcome {
    let rest = |receiver: &Receiver<u64>| receiver.try_recv().ok();
    match work {
        Talk::PingPong(_) | Talk::Messages(_) => channel::run::<Crossbeam>(job),
        Talk::Select(2) => choose::<Crossbeam, 2>(job, any_of!(a, b), rest),
        Talk::Select(_) => {
            choose::<Crossbeam, 8>(job, any_of!(a, b, c, d, e, f, g, h), rest)
        }
        Talk::Crowd(_) => Err(Skip("no mutex")),
        Talk::Timer | Talk::Sleepers => Err(Skip("no such case")),
    }
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
    let laps = Laps::of(job, || {
        for _ in 0..job.n {
            let (done, ended) = bounded(1);
            send(&pool, move || done.send(()).expect("the result is awaited"));
            ended.recv().expect("the work runs");
        }
    });
    laps.per_operation(job.n);
}

fn spawn_many(job: &Job) {
    let pool = start_workers(job.workers);
    let laps = Laps::of(job, || {
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
    });
    laps.cold_and_warm(job.n);
    sample("peak", peak_mib());
}

fn starts(job: &Job, workers: usize) {
    let pool = start_workers(workers);
    Latency::of_starts(job, |stamp| {
        send(&pool, move || stamp.mark());
        || {}
    });
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
    Latency::of_events(job, &STAMP, || queue.push(1));
}

fn throughput(job: &Job) {
    const BATCH: u64 = 1000;
    let pool = start_workers(job.workers);
    let batches = job.n / BATCH;
    let laps = Laps::of(job, || {
        for _ in 0..batches {
            let group = WaitGroup::new();
            for _ in 0..BATCH {
                let member = group.clone();
                send(&pool, move || drop(member));
            }
            group.wait();
        }
    });
    laps.rate(batches * BATCH);
}
