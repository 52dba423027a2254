//! Metrics: a snapshot of what a runtime has done.

use std::fmt;

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
    /// Reports of fibers that others had to wait for, by the threshold of
    /// [`Builder::slow_fiber`](crate::runtime::Builder::slow_fiber).
    pub slow_fibers: u64,
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
            slow_fibers: pool.slow_fibers(),
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
        writeln!(f, "{:<24}{}", "waiting_for_stack", self.waiting_for_stack)?;
        writeln!(f, "{:<24}{}", "pressure", self.pressure)?;
        for (reason, times) in &self.scale {
            writeln!(f, "{:<24}{times}", format!("scale_{reason}"))?;
        }
        Ok(())
    }
}
