//! When the work that a worker does every round is due again, in dispatches.
//!
//! Does not own: that work (`next_fiber`), nor the length of runs (`intervals`).

use std::cell::Cell;

use crate::sched::worker::records::intervals::{
    Intervals, MAINTENANCE_AFTER_SLEEP, MAINTENANCE_INTERVAL,
};

/// Nanoseconds between two looks out of turn, by a worker with work of its own: at the oldest fiber
/// that spilled from the ring, and every other time at another shard of the injector. In a tree of
/// fibers each such step starts one more subtree near the root. When done at every look at the
/// injector (24,000 in a tree of a million leaves), 8,600 stacks were in use at a time instead of
/// 600, and the tree took 1.6 times as long.
const OLDEST: u64 = 1_000_000;

/// When the work that is due every round is due again.
pub(in crate::sched) struct Maintenance {
    /// How long fibers run here.
    pub(in crate::sched) intervals: Intervals,
    /// Dispatches until the next maintenance.
    ticks_to_maintenance: Cell<u32>,
    /// The value of `ticks_to_maintenance` when the intervals were last measured.
    measured_at: Cell<u32>,
    /// Dispatches in the next round, at most.
    round: Cell<u32>,
    /// Dispatches since the last look at the injector.
    since_injector: Cell<u32>,
    /// When the oldest fiber that spilled here is due to run.
    oldest_due: Cell<u64>,
    /// How often it was due.
    oldest_turns: Cell<usize>,
}

impl Maintenance {
    pub(in crate::sched) fn new(now: u64) -> Maintenance {
        Maintenance {
            intervals: Intervals::new(now),
            ticks_to_maintenance: Cell::new(0),
            measured_at: Cell::new(0),
            round: Cell::new(MAINTENANCE_AFTER_SLEEP),
            since_injector: Cell::new(0),
            oldest_due: Cell::new(now),
            oldest_turns: Cell::new(0),
        }
    }

    /// Returns true if maintenance is due before another fiber runs.
    #[inline(always)]
    pub(in crate::sched) fn is_due(&self) -> bool {
        self.ticks_to_maintenance.get() == 0
    }

    /// Makes maintenance due, and returns the dispatches that were left.
    #[inline(always)]
    pub(in crate::sched) fn make_due(&self) -> u32 {
        self.ticks_to_maintenance.replace(0)
    }

    /// Sets the dispatches until the next maintenance.
    #[inline(always)]
    pub(in crate::sched) fn set_left(&self, dispatches: u32) {
        self.ticks_to_maintenance.set(dispatches);
    }

    /// Counts a dispatch; false if maintenance is due before it.
    #[inline(always)]
    pub(in crate::sched) fn count_dispatch(&self) -> bool {
        let left = self.ticks_to_maintenance.get();
        if left == 0 {
            return false;
        }
        self.ticks_to_maintenance.set(left - 1);
        true
    }

    /// Begins a round, of at most `interval` dispatches; returns how many it has.
    pub(in crate::sched) fn begin_round(&self, interval: u32) -> u32 {
        let round = self.round.get().min(interval);
        self.round
            .set(MAINTENANCE_INTERVAL.min(2 * self.round.get()));
        self.ticks_to_maintenance.set(round);
        self.measured_at.set(round);
        round
    }

    /// Counts a round of dispatches; true if there were `interval` since the last look at the
    /// injector, which is due now.
    pub(in crate::sched) fn is_injector_due(&self, round: u32, interval: u32) -> bool {
        let since = self.since_injector.get() + round;
        let due = since >= interval;
        self.since_injector.set(if due { 0 } else { since });
        due
    }

    /// Returns the number of the look out of turn that is due now, if one is. The next one is due
    /// later.
    pub(in crate::sched) fn oldest_turn(&self, now: u64) -> Option<usize> {
        if now < self.oldest_due.get() {
            return None;
        }
        self.oldest_due.set(now + OLDEST);
        let turn = self.oldest_turns.get();
        self.oldest_turns.set(turn.wrapping_add(1));
        Some(turn)
    }

    /// Measures the runs since the last call; false if there were none.
    pub(in crate::sched) fn measure(&self, now: u64) -> bool {
        let left = self.ticks_to_maintenance.get();
        let runs = self.measured_at.replace(left).saturating_sub(left);
        if runs == 0 {
            self.intervals.resume(now);
            return false;
        }
        self.intervals.round(runs, now);
        true
    }

    /// Resumes measuring after the worker has not run fibers. The rounds after a sleep are short,
    /// so that it soon notices that its fibers compute for long.
    pub(in crate::sched) fn resume(&self, now: u64) {
        self.intervals.resume(now);
        self.round.set(MAINTENANCE_AFTER_SLEEP);
        let left = self.ticks_to_maintenance.get().min(MAINTENANCE_AFTER_SLEEP);
        self.ticks_to_maintenance.set(left);
        self.measured_at.set(left);
    }
}

#[cfg(test)]
impl Maintenance {
    /// Pretends that `dispatches` dispatches have passed without a look at the injector.
    pub(in crate::sched) fn pretend_injector(&self, dispatches: u32) {
        self.since_injector.set(dispatches);
    }

    /// Measures no run that came before.
    pub(in crate::sched) fn forget_runs(&self) {
        self.measured_at.set(0);
    }

    pub(in crate::sched) fn set_oldest_due(&self, at: u64) {
        self.oldest_due.set(at);
    }

    pub(in crate::sched) fn oldest_due(&self) -> u64 {
        self.oldest_due.get()
    }
}
