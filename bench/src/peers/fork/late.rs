//! The delay of a sleeper beside jobs that compute.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::child::{Job, sample};

use super::library::Library;
use super::work::{Frame, Work};

/// Prints the delay of each of `job.n` sleeps.
pub(super) fn late<L: Library + Sync>(job: &Job) {
    let pool = L::start(job.workers);
    let over = AtomicBool::new(false);
    let compute = |scope: &mut L::Scope<'_>| {
        let mut work = Frame::new(JOB_MICROS);
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
            let late = due.elapsed();
            if round >= job.warmups {
                sample("late", late.as_secs_f64() * 1e3);
            }
        }
        over.store(true, Ordering::Relaxed);
    });
}

const JOBS: usize = 8;
/// Of each job: 64 pieces of 100 µs.
const JOB_MICROS: u64 = 6_400;
/// Arbitrary: long enough to be asleep, short enough for many.
const SLEEP: Duration = Duration::from_millis(1);
