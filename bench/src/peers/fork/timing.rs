//! Measures the time of the work. With more than one worker every round is done twice, once by a
//! pool of a single worker: so disturbances of the machine affect both.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::child::{Job, each_due, processor_time, sample, spin_for, thread_time};

use super::library::Library;
use super::work::{Counted, Frame, Work};

/// Prints each round: `total`, `op` if the number of joins is known, and `speed-up` if there is
/// more than one worker.
pub(super) fn rounds<L: Library>(job: &Job, mut work: impl Work) {
    let alone = (job.workers > 1).then(|| L::start(1));
    let pool = L::start(job.workers);
    for round in 0..job.warmups + job.rounds {
        let single = alone.as_ref().map(|pool| once(pool, &mut work));
        let nanos = once(&pool, &mut work);
        if round < job.warmups {
            continue;
        }
        sample("total", nanos * 1e-6);
        if let Some(joins) = work.joins() {
            sample("op", nanos / joins as f64);
        }
        if let Some(single) = single {
            sample("speed-up", single / nanos);
        }
    }
}

/// Prints `job.n` frames in both ways: one right after another, and apart, with work of one thread
/// between two frames.
pub(super) fn frames<L: Library>(job: &Job, mut work: Counted<Frame>) {
    let pool = L::start(job.workers);
    let ways = [
        ("frame", "frame-cpu", Duration::ZERO),
        ("apart", "apart-cpu", Duration::from_micros(300)),
    ];
    for (frame, cpu, between) in ways {
        let mut times = Vec::with_capacity(job.n as usize);
        let used = pool.enter(|scope| {
            for _ in 0..job.warmups {
                inside::<L>(scope, &mut work);
            }
            let mut alone = Duration::ZERO;
            let before = processor_time();
            for _ in 0..job.n {
                if !between.is_zero() {
                    // No join: it stays on its thread.
                    let before = thread_time();
                    spin_for(between);
                    alone += thread_time() - before;
                }
                times.push(inside::<L>(scope, &mut work));
            }
            (processor_time() - before).saturating_sub(alone)
        });
        for nanos in times {
            sample(frame, nanos * 1e-3);
        }
        sample(cpu, used.as_secs_f64() * 1e6 / job.n as f64);
    }
}

/// Prints the delay of each of `job.n` sleeps, and of those that fell due within a long delay.
pub(super) fn late<L: Library + Sync>(job: &Job) {
    let pool = L::start(job.workers);
    let over = AtomicBool::new(false);
    let compute = |scope: &mut L::Scope<'_>| {
        let mut work = Counted::new(Frame::new(JOB_MICROS));
        while !over.load(Ordering::Relaxed) {
            work.prepare();
            work.run::<L>(scope);
            work.check();
        }
    };
    pool.beside(JOBS, compute, |sleep| {
        for round in 0..job.warmups + job.n {
            let due = Instant::now() + SLEEP;
            sleep(SLEEP);
            let late = due.elapsed().as_nanos() as u64;
            if round < job.warmups {
                continue;
            }
            for nanos in each_due(late, SLEEP.as_nanos() as u64) {
                sample("late", nanos as f64 * 1e-6);
            }
        }
        over.store(true, Ordering::Relaxed);
    });
}

/// Nanoseconds of one round, without entering the pool.
fn once<L: Library>(pool: &L, work: &mut impl Work) -> f64 {
    pool.enter(|scope| inside::<L>(scope, work))
}

fn inside<L: Library>(scope: &mut L::Scope<'_>, work: &mut impl Work) -> f64 {
    work.prepare();
    let began = Instant::now();
    work.run::<L>(scope);
    let nanos = began.elapsed().as_nanos() as f64;
    work.check();
    nanos
}

const JOBS: usize = 8;
/// Of each job: 64 pieces of 100 µs.
const JOB_MICROS: u64 = 6_400;
/// Arbitrary: long enough to be asleep, short enough for many.
const SLEEP: Duration = Duration::from_millis(1);
