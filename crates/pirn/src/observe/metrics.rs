//! Metrics: a snapshot of what a runtime has done.

use std::fmt;
use std::time::Duration;

use crate::sched::counters::Counters;
use crate::sched::pool::Pool;
use crate::sched::scale::ScaleReason;
use crate::sched::standing::WorkerState;

/// What a runtime has done since it started; not one moment in time while it runs.
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
    /// Stalls: how often a fiber kept its worker while others waited for it, for longer than the
    /// threshold of [`Builder::slow_fiber`](crate::runtime::Builder::slow_fiber). Few of them are
    /// reported.
    pub slow_fibers: u64,
    /// Histogram of stalls that have ended, by how long the fiber waited that waited longest. Each
    /// entry is the upper bound of a bucket and the number of stalls in it; the bound of the last
    /// bucket is [`Duration::MAX`].
    pub stall_delays: Vec<(Duration, u64)>,
    /// The sum of these times over all stalls that have ended.
    pub stalled: Duration,
    /// Fibers that wait for a stack at this moment.
    pub waiting_for_stack: usize,
    /// Fibers that have been spawned and have not started at this moment.
    pub pressure: u64,
    /// How often the number of threads was changed, or not, and why.
    pub scale: Vec<(ScaleReason, u64)>,
}

/// What one worker has done.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WorkerMetrics {
    /// The worker's number, from 0.
    pub index: usize,
    /// What it does at this moment, or did when it last rested.
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
            // One that has come since has no thread yet.
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
        total.wakes += pool.outside_wakes() + aged_wakes;
        Metrics {
            workers,
            total,
            aged_wakes,
            slow_fibers: pool.stalls(),
            stall_delays: pool.stall_delays(),
            stalled: pool.stalled(),
            waiting_for_stack: pool.starved(),
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
