//! may: stackful coroutines on work-stealing threads.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use may::coroutine::{self, JoinHandle, yield_now};
use may::go;

use crate::case::Kind;
use crate::child::{
    Footprint, Job, Laps, Latency, Outcome, Skip, Stamp, peak_mib, report_parked, sample,
    spin_for,
};

use super::tail;
use super::talk;

/// A note on the use of may.
pub(super) const NOTE: &str = "`go!` and `join`, its own default stacks of 32 KiB; skynet a tenth, times \
     ten; throughput in rounds a twentieth of the others'; \
     30,000 parked at most: more need a raised `vm.max_map_count`";

pub(super) fn run(job: &Job) -> Outcome {
    let job = *job;
    may::config().set_workers(if job.kind == Kind::Wake {
        1
    } else {
        job.workers
    });
    if job.stack != 0 {
        may::config().set_stack_size(job.stack / size_of::<usize>());
    }
    match job.kind {
        Kind::Yield(fibers) => root(move || yields(&job, fibers)),
        Kind::SpawnJoin => root(move || spawn_join(&job)),
        Kind::SpawnJoinYield => root(move || spawn_join_yield(&job)),
        Kind::SpawnMany => root(move || spawn_many(&job)),
        Kind::Skynet => root(move || skynet(&job.smaller(10))),
        Kind::Parked => root(move || {
            parked(&Job {
                n: job.n.min(30_000),
                ..job
            })
        }),
        Kind::BusyChild => root(move || busy_child(&job)),
        Kind::HandOver => root(move || hand_over(&job)),
        Kind::Wake => wake(&job),
        Kind::Throughput => root(move || throughput(&job.smaller(20))),
        Kind::Steal => return Err(Skip("its queue cannot be had by itself")),
        Kind::Tail(work) => return tail::run::<tail::May>(&job, work),
        Kind::Talk(work) => return talk::may::run(&job, work),
        Kind::Fork(_) | Kind::Net(_) | Kind::Pgz { .. } | Kind::Gunzip { .. } => {
            return Err(Skip("no such case"));
        }
    }
    Ok(())
}

fn root(work: impl FnOnce() + Send + 'static) {
    join(go!(work));
}

fn join<T>(handle: JoinHandle<T>) -> T {
    handle.join().expect("no coroutine panics")
}

fn yields(job: &Job, fibers: u64) {
    let each = job.n / fibers;
    let mut laps = Laps::new(job);
    while laps.begin() {
        let work = move || (0..each).for_each(|_| yield_now());
        let coroutines: Vec<_> = (0..fibers).map(|_| go!(work)).collect();
        coroutines.into_iter().for_each(join);
        laps.end();
    }
    laps.per_operation(each * fibers);
}

fn spawn_join(job: &Job) {
    let mut laps = Laps::new(job);
    while laps.begin() {
        for _ in 0..job.n {
            join(go!(|| {}));
        }
        laps.end();
    }
    laps.per_operation(job.n);
}

fn spawn_join_yield(job: &Job) {
    let mut laps = Laps::new(job);
    while laps.begin() {
        for _ in 0..job.n {
            join(go!(yield_now));
        }
        laps.end();
    }
    laps.per_operation(job.n);
}

fn spawn_many(job: &Job) {
    let mut laps = Laps::new(job);
    while laps.begin() {
        let mut coroutines = Vec::with_capacity(job.n as usize);
        for index in 0..job.n {
            let captured = [index; 4];
            coroutines.push(go!(move || {
                black_box(captured);
            }));
        }
        coroutines.into_iter().for_each(join);
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
    laps.milliseconds(10.0);
}

fn node(number: u64, leaves: u64) -> JoinHandle<u64> {
    go!(move || {
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
    let mut coroutines = Vec::with_capacity(job.n as usize);
    for _ in 0..job.n {
        let started = started.clone();
        coroutines.push(go!(move || {
            started.fetch_add(1, Ordering::Relaxed);
            coroutine::park();
        }));
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
        let coroutine = go!(move || child.mark());
        latency.push(stamp.spin(from, 10_000_000));
        spin_for(Duration::from_micros(300));
        join(coroutine);
    }
    latency.print();
}

fn hand_over(job: &Job) {
    let mut latency = Latency::new(job);
    while latency.more() {
        let stamp = Arc::new(Stamp::new());
        let child = stamp.clone();
        let from = Latency::now();
        let coroutine = go!(move || child.mark());
        latency.push(stamp.spin(from, 1_000_000));
        join(coroutine);
    }
    latency.print();
}

fn wake(job: &Job) {
    let mut latency = Latency::new(job);
    while latency.more() {
        let stamp = Arc::new(Stamp::new());
        let child = stamp.clone();
        spin_for(Duration::from_micros(300));
        let from = Latency::now();
        let coroutine = go!(move || child.mark());
        latency.push(stamp.spin(from, 10_000_000));
        join(coroutine);
    }
    latency.print();
}

fn throughput(job: &Job) {
    const BATCH: u64 = 1000;
    let batches = job.n / BATCH / job.workers as u64;
    let mut laps = Laps::new(job);
    while laps.begin() {
        let spawner = move || {
            let mut batch = Vec::with_capacity(BATCH as usize);
            for _ in 0..batches {
                batch.extend((0..BATCH).map(|_| go!(|| {})));
                batch.drain(..).for_each(join);
            }
        };
        let spawners: Vec<_> = (0..job.workers).map(|_| go!(spawner)).collect();
        spawners.into_iter().for_each(join);
        laps.end();
    }
    laps.rate(batches * BATCH * job.workers as u64);
}
