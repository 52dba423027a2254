//! How a scenario is explored.
//!
//! Each runs on both schedulers, under random schedules and under PCT's (which is good at
//! bugs that take few, well-placed preemptions), with a clock that runs and with one that
//! stands still. Seeds are fixed, so a run is repeatable; `PIRN_MODEL_EFFORT` multiplies the
//! number of schedules. A failing schedule is printed by shuttle, for `shuttle::replay`.

use std::sync::{Arc, Mutex, PoisonError};

use pirn::runtime::{Builder, Runtime, Scheduler};
use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::{Config, MaxSteps, Runner};

/// Schedules of each kind, for each scheduler and clock, at an effort of 1.
const SCHEDULES: usize = 100;

/// Preemptions that PCT places.
const DEPTH: usize = 4;

/// Far more than any scenario takes: a scenario that exceeds it spins indefinitely.
const STEPS: usize = 300_000;

const SEED: u64 = 0x7069_726e;

/// The library's process-wide stores are modelled too, and belong to one exploration at a
/// time.
static ALONE: Mutex<()> = Mutex::new(());

/// Configuration of the runtimes of a scenario.
#[derive(Debug, Copy, Clone)]
pub(crate) struct World {
    scheduler: Scheduler,
    workers: usize,
    clock: Clock,
}

/// Whether waits with a time limit end by themselves.
#[derive(Debug, Copy, Clone)]
enum Clock {
    /// As soon as every other thread had a chance to run.
    Runs,
    /// Never: neither the workers' naps nor the monitor compensate for a lost wake.
    Stands,
}

impl World {
    pub(crate) fn builder(self) -> Builder {
        // The clock identifies its threads by their names.
        let name = match self.clock {
            Clock::Runs => "model",
            Clock::Stands => "timeless",
        };
        let builder = Runtime::builder().name(name).max_threads(self.workers);
        builder.scheduler(self.scheduler).workers(self.workers)
    }

    pub(crate) fn runtime(self) -> Runtime {
        self.builder().build().expect("a runtime")
    }
}

/// Explores `scenario` with two workers.
pub(crate) fn explore(scenario: impl Fn(World) + Send + Sync + 'static) {
    explore_with(&[2], scenario);
}

/// Explores `scenario` with each of these numbers of workers.
pub(crate) fn explore_with(
    workers: &[usize],
    scenario: impl Fn(World) + Send + Sync + 'static,
) {
    explore_in(workers, &[Clock::Runs, Clock::Stands], scenario);
}

/// Explores a `scenario` that waits for time to pass.
pub(crate) fn explore_in_time(scenario: impl Fn(World) + Send + Sync + 'static) {
    explore_in(&[2], &[Clock::Runs], scenario);
}

/// Like [`explore_in_time`], with each of these numbers of workers.
pub(crate) fn explore_in_time_with(
    workers: &[usize],
    scenario: impl Fn(World) + Send + Sync + 'static,
) {
    explore_in(workers, &[Clock::Runs], scenario);
}

fn explore_in(
    workers: &[usize],
    clocks: &[Clock],
    scenario: impl Fn(World) + Send + Sync + 'static,
) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let scenario = Arc::new(scenario);
    for &workers in workers {
        for scheduler in [Scheduler::WorkStealing, Scheduler::SingleQueue] {
            for &clock in clocks {
                explore_world(
                    World {
                        scheduler,
                        workers,
                        clock,
                    },
                    &scenario,
                );
            }
        }
    }
}

fn explore_world<S>(world: World, scenario: &Arc<S>)
where
    S: Fn(World) + Send + Sync + 'static,
{
    let schedules = SCHEDULES * effort();
    let run = Arc::clone(scenario);
    let random = RandomScheduler::new_from_seed(SEED, schedules);
    Runner::new(random, config()).run(move || run(world));
    let run = Arc::clone(scenario);
    let pct = PctScheduler::new_from_seed(SEED, DEPTH, schedules);
    Runner::new(pct, config()).run(move || run(world));
}

/// Runs `body` on a plain thread of the model.
pub(crate) fn thread<T: Send + 'static>(
    body: impl FnOnce() -> T + Send + 'static,
) -> shuttle::thread::JoinHandle<T> {
    shuttle::thread::spawn(body)
}

fn effort() -> usize {
    let effort = std::env::var("PIRN_MODEL_EFFORT").unwrap_or_default();
    effort.parse().unwrap_or(1)
}

fn config() -> Config {
    let mut config = Config::new();
    config.stack_size = 256 << 10;
    config.max_steps = MaxSteps::FailAfter(STEPS);
    config.silence_warnings = true;
    config
}
