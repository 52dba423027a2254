//! Whether fork-join work of other workers pays for a worker that had nothing to do.
//!
//! A worker that is woken for a job costs others some 50 µs, and so does one that watches for the
//! next job as long as that. Whether it pays is judged by the jobs it has had: not by the last one
//! alone, since work that is divided finely ends with small jobs.

use std::cell::Cell;

use crate::sched::worker::records::intervals::{EXPECT, JOB, WORTH};

/// The account of one worker.
pub(in crate::sched) struct StealPayoff {
    /// Nanoseconds of jobs since it last slept.
    since_sleep: Cell<u64>,
    /// A decaying sum of the same: each new job takes a quarter off the earlier ones.
    of_late: Cell<u64>,
    /// Until when to expect something to run, as `base::clock` counts.
    watch_until: Cell<u64>,
    /// How many times in a row it has been awake for jobs that were not worth it.
    in_vain: Cell<u32>,
}

/// After this many wake-ups in vain, only the monitor requests jobs. Arbitrary: work that is
/// occasionally large should not be done alone for lack of a few wake-ups.
const PATIENCE: u32 = 4;

impl StealPayoff {
    /// Returns an empty account.
    pub(in crate::sched) fn new() -> StealPayoff {
        StealPayoff {
            since_sleep: Cell::new(0),
            of_late: Cell::new(0),
            watch_until: Cell::new(0),
            in_vain: Cell::new(0),
        }
    }

    /// Records that a job of another worker's fiber has run here.
    pub(in crate::sched) fn add(&self, began: u64, ended: u64) {
        let took = ended.saturating_sub(began);
        self.since_sleep.set(self.since_sleep.get() + took);
        self.of_late.set(self.of_late.get() / 4 * 3 + took);
        if self.is_good() {
            self.expect(ended);
        }
    }

    /// True if the recent jobs were so long, on average, that one may be asked for right after
    /// another.
    pub(in crate::sched) fn is_good(&self) -> bool {
        // A sum that loses a quarter each time approaches four times the average.
        self.of_late.get() / 4 >= JOB
    }

    /// Records that something is expected soon: the next job, or the end of one that a fiber of
    /// this worker waits for.
    pub(in crate::sched) fn expect(&self, now: u64) {
        self.watch_until.set(now + EXPECT);
    }

    /// Returns for how many more nanoseconds it is worth watching for that.
    pub(in crate::sched) fn worth_watching(&self, now: u64) -> u64 {
        self.watch_until.get().saturating_sub(now)
    }

    /// True if this worker is worth waking for a job.
    pub(in crate::sched) fn is_worth_a_wake(&self) -> bool {
        self.in_vain.get() < PATIENCE
    }

    /// Records that the worker goes to sleep.
    pub(in crate::sched) fn settle(&self) {
        let gained = self.since_sleep.replace(0);
        self.of_late.set(0);
        if gained >= WORTH {
            self.in_vain.set(0);
        } else if gained > 0 {
            self.in_vain.set(self.in_vain.get().saturating_add(1));
        }
    }
}
