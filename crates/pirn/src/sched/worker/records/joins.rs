//! A worker's record of joins: when it asked other workers for jobs, and how many of its own jobs
//! were not taken.
//!
//! Does not own: the decisions that follow from it (`heartbeat`).

use std::cell::Cell;

use crate::sched::worker::records::intervals::ASK;
use crate::sched::worker::records::steal_payoff::StealPayoff;

/// The number of jobs promoted for one question until a worker takes one. Arbitrary:
/// short joins come in rows, and the worker that has asked needs some microseconds to
/// come.
const KEPT: u32 = 2;

/// A worker's record of the joins of other workers, and of its own.
pub(in crate::sched) struct Joins {
    /// When this worker last asked others for their jobs, as `base::clock` counts.
    asked: Cell<u64>,
    /// The worth of jobs of other workers.
    pub(in crate::sched) payoff: StealPayoff,
    /// Jobs that were promoted here since the last request, and were not taken.
    kept: Cell<u32>,
    /// The run of a fiber, counted in dispatches, that may promote what is left of the
    /// last beat; if none, the next that joins.
    credit_of: Cell<Option<u64>>,
}

impl Joins {
    pub(in crate::sched) fn new() -> Joins {
        Joins {
            asked: Cell::new(0),
            payoff: StealPayoff::new(),
            kept: Cell::new(0),
            credit_of: Cell::new(None),
        }
    }

    /// True if the last question to others was [`ASK`] ago or more.
    pub(in crate::sched) fn is_ask_due(&self, now: u64) -> bool {
        now - self.asked.get() >= ASK
    }

    /// Records that this worker asks others for their jobs now.
    pub(in crate::sched) fn set_asked(&self, now: u64) {
        self.asked.set(now);
    }

    /// Gives what is left of the last beat to `run`, a run of a fiber. False if it was another
    /// one's: credit that one fiber has not used does not pass to the next one.
    pub(in crate::sched) fn claim_credit(&self, run: u64) -> bool {
        let before = self.credit_of.replace(Some(run));
        before.is_none_or(|before| before == run)
    }

    /// Begins to count the jobs that are promoted and not taken, for a new request.
    pub(in crate::sched) fn begin_kept(&self) {
        self.kept.set(0);
    }

    /// True if one more job may be promoted that was not taken before.
    pub(in crate::sched) fn may_keep(&self) -> bool {
        self.kept.get() + 1 < KEPT
    }

    /// Counts a job that was promoted and not taken; the next fiber that joins promotes another.
    pub(in crate::sched) fn keep(&self) {
        self.kept.set(self.kept.get() + 1);
        self.credit_of.set(None);
    }
}
