//! Where fibers start that one started fiber spawns one by one, as others of them end.
#![cfg(not(any(pirn_free, pirn_tsan)))]

use std::collections::HashMap;
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use pirn::channel::ordered;
use pirn::{Runtime, spawn};

use crate::executor_kind::runtime;

const JOBS: usize = 100;
const JOB: Duration = Duration::from_millis(1);

/// Returns the number of jobs that the worker with the fewest has run.
fn fewest(runtime: &Runtime, workers: usize) -> usize {
    let (work, results) = ordered(16);
    let job = || {
        let start = Instant::now();
        while start.elapsed() < JOB {
            std::hint::spin_loop();
        }
        thread::current().id()
    };
    let mut ran: HashMap<ThreadId, usize> = HashMap::new();
    runtime.run(|| {
        spawn(move || (0..JOBS).for_each(|_| work.spawn(job).unwrap()));
        for worker in &results {
            *ran.entry(worker.unwrap()).or_default() += 1;
        }
    });
    assert_eq!(ran.values().sum::<usize>(), JOBS);
    let mut counts: Vec<_> = ran.into_values().collect();
    counts.resize(workers.max(counts.len()), 0);
    counts.into_iter().min().unwrap()
}

/// The receiver of an ordered channel and the fiber that submits the jobs are on one worker. They
/// run before the next job starts there, so that there are jobs for the other worker, too.
// Proves: B20-pools.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_jobs_in_order_are_shared() {
    let mut shares: Vec<_> = (0..10).map(|_| fewest(&runtime(2), 2)).collect();
    shares.sort_unstable();
    // In one run of ten the system may delay a worker.
    assert!(shares[1] >= JOBS / 3, "{shares:?} of {JOBS} jobs");
}
