//! Metrics: a snapshot of a runtime's counters.

use std::fmt;
use std::time::Duration;

use super::stall;
use crate::sched::pool::counters::Counters;
use crate::sched::pool::shared::Pool;
use crate::sched::pool::threads::decisions::ScaleReason;
use crate::sched::pool::worker_state::WorkerState;

/// The counters of a runtime since its start. Not consistent to one moment while it runs.
///
/// # Examples
/// ```
/// let runtime = pirn::Runtime::builder().workers(1).build()?;
/// drop(runtime.spawn(|| {}));
/// runtime.wait_idle().unwrap();
/// let metrics = runtime.metrics();
/// assert_eq!(metrics.total.spawned, metrics.total.completed);
/// assert_eq!(metrics.pressure, 0);
/// # Ok::<(), std::io::Error>(())
/// ```
#[doc(alias = "RuntimeMetrics")]
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Metrics {
    /// Each worker's part.
    pub workers: Vec<WorkerMetrics>,
    /// The sum over all workers, and for `run_nanos_max` the largest. `spawned` includes
    /// fibers that other threads spawned, `wakes` workers that other threads woke.
    pub total: Counters,
    /// Workers woken because work had waited without being taken; a part of `total.wakes`.
    pub aged_wakes: u64,
    /// Stalls: the number of times that a fiber kept its worker while others waited, for longer
    /// than the threshold of [`Builder::slow_fiber`](crate::runtime::Builder::slow_fiber). Few of
    /// them are reported.
    pub slow_fibers: u64,
    /// Histogram of ended stalls, by the longest wait of a fiber in each. Each entry is the upper
    /// bound of a bucket and the number of stalls in it; the bound of the last bucket is
    /// [`Duration::MAX`].
    pub stall_delays: Vec<(Duration, u64)>,
    /// The sum of these waits over all ended stalls.
    pub stalled: Duration,
    /// Fibers that currently wait for a stack.
    pub waiting_for_stack: usize,
    /// Fibers that have been spawned and have not started yet.
    pub pressure: u64,
    /// The number of decisions to change the number of threads, or not, by reason.
    pub scale: Vec<(ScaleReason, u64)>,
}

/// The counters of one worker.
///
/// # Examples
/// ```
/// let runtime = pirn::Runtime::builder().workers(1).build()?;
/// drop(runtime.spawn(|| {}));
/// runtime.wait_idle().unwrap();
/// let metrics = runtime.metrics();
/// assert_eq!(metrics.workers[0].index, 0);
/// assert_eq!(metrics.workers[0].counters.completed, 1);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WorkerMetrics {
    /// The worker's number, from 0.
    pub index: usize,
    /// The worker's current state, or its state when it last parked.
    pub state: WorkerState,
    /// Its counters.
    pub counters: Counters,
}

impl Metrics {
    pub(crate) fn of(pool: &Pool) -> Metrics {
        let mut total = Counters::default();
        let mut workers = Vec::new();
        let states = pool.worker_states();
        for (index, counters) in pool.counters().into_iter().enumerate() {
            total.merge(&counters);
            // A worker added since then has no thread yet.
            let state = states.get(index).copied().unwrap_or(WorkerState::Dead);
            workers.push(WorkerMetrics {
                index,
                state,
                counters,
            });
        }
        total.spawned += pool.spawned_outside();
        total.rescues += pool.rescues();
        let aged_wakes = pool.aged_wakes();
        let stalls = stall::counts(pool);
        total.wakes += pool.outside_wakes() + aged_wakes;
        Metrics {
            workers,
            total,
            aged_wakes,
            slow_fibers: stalls.found(),
            stall_delays: stalls.delays(),
            stalled: stalls.waited(),
            waiting_for_stack: pool.stack_waiters(),
            pressure: pool.pressure(),
            scale: pool.scale_decisions(),
        }
    }
}

impl fmt::Display for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<24}{}", "workers", self.workers.len())?;
        write!(f, "{}", self.total)?;
        writeln!(f, "{:<24}{}", "aged_wakes", self.aged_wakes)?;
        writeln!(f, "{:<24}{}", "slow_fibers", self.slow_fibers)?;
        for (bound, stalls) in &self.stall_delays {
            if *stalls > 0 {
                let name = match bound.as_millis() {
                    _ if *bound == Duration::MAX => "stalls_longer".to_owned(),
                    bound => format!("stalls_to_{bound}_ms"),
                };
                writeln!(f, "{name:<24}{stalls}")?;
            }
        }
        writeln!(f, "{:<24}{}", "waiting_for_stack", self.waiting_for_stack)?;
        writeln!(f, "{:<24}{}", "pressure", self.pressure)?;
        for (reason, times) in &self.scale {
            writeln!(f, "{:<24}{times}", format!("scale_{reason}"))?;
        }
        Ok(())
    }
}
