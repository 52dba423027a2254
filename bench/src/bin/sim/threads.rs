//! The programs on the threads of shuttle.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, FailurePersistence, Runner};

#[path = "prelude.rs"]
mod prelude;
#[path = "../../../../crates/pirn-sim/tests/known/programs/mod.rs"]
mod programs;

use programs::{ALL, Program};

/// # Panics
/// If there is no such program.
fn program(name: &str) -> &'static Program {
    let found = ALL.iter().find(|program| program.name == name);
    found.expect("the program is in the list")
}

/// How shuttle chooses.
#[derive(Clone, Copy)]
pub(crate) enum Strategy {
    Random,
    Pct(usize),
}

/// Returns in which run the program fails, of so many times the runs within which it is to fail.
pub(crate) fn first_failure(
    strategy: Strategy,
    name: &str,
    seed: u64,
    times: u64,
) -> Option<u64> {
    let Program { body, most, .. } = *program(name);
    let runs = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&runs);
    let counting = move || {
        counted.fetch_add(1, Ordering::Relaxed);
        body(false);
    };
    let run = || run(strategy, seed, most * times, counting);
    let failed = catch_unwind(AssertUnwindSafe(run)).is_err();
    failed.then(|| runs.load(Ordering::Relaxed))
}

/// Makes runs of the fixed program.
///
/// # Panics
/// If it fails.
pub(crate) fn pass(strategy: Strategy, name: &str, seed: u64, runs: u64) {
    let body = program(name).body;
    run(strategy, seed, runs, move || body(true));
}

fn run(
    strategy: Strategy,
    seed: u64,
    runs: u64,
    body: impl Fn() + Send + Sync + 'static,
) {
    let runs = usize::try_from(runs).expect("an iteration is counted by usize");
    match strategy {
        Strategy::Random => run_by(RandomScheduler::new_from_seed(seed, runs), body),
        Strategy::Pct(depth) => {
            run_by(PctScheduler::new_from_seed(seed, depth, runs), body);
        }
    }
}

fn run_by(scheduler: impl Scheduler + 'static, body: impl Fn() + Send + Sync + 'static) {
    let mut config = Config::new();
    config.failure_persistence = FailurePersistence::None;
    config.silence_warnings = true;
    Runner::new(scheduler, config).run(body);
}
