//! Gain: what jobs of others have been worth to a worker that had nothing to do.
//!
//! A worker that is woken for a job costs some 50 µs of other people's time, and so does one that watches for the
//! next job as long as that. Whether it pays is told by what it has got: not by its last job, since work that
//! is divided finely ends with small ones.

use std::cell::Cell;

use super::pace::{EXPECT, WORTH};

/// The account of one worker.
pub(super) struct Gain {
    /// When the last job ended, as `base::clock` counts.
    ended: Cell<u64>,
    /// Nanoseconds of jobs since it last slept.
    since_sleep: Cell<u64>,
    /// The same, but of late: with each job what was before loses a quarter.
    of_late: Cell<u64>,
    /// The last time it was awake and got jobs, they were worth the wake-up.
    pays: Cell<bool>,
}

impl Gain {
    /// Nothing yet, and the first wake-up is worth a try.
    pub(super) fn new() -> Gain {
        Gain {
            ended: Cell::new(0),
            since_sleep: Cell::new(0),
            of_late: Cell::new(0),
            pays: Cell::new(true),
        }
    }

    /// A job of another worker's fiber has run here.
    pub(super) fn add(&self, began: u64, ended: u64) {
        let took = ended.saturating_sub(began);
        self.ended.set(ended);
        self.since_sleep.set(self.since_sleep.get() + took);
        self.of_late.set(self.of_late.get() / 4 * 3 + took);
    }

    /// Whether the next job is worth watching for.
    pub(super) fn promises_more(&self, now: u64) -> bool {
        self.of_late.get() >= WORTH && now.saturating_sub(self.ended.get()) < EXPECT
    }

    /// The worker goes to sleep: whether it is worth being woken for a job.
    pub(super) fn settle(&self) -> bool {
        let gained = self.since_sleep.replace(0);
        self.of_late.set(0);
        if gained > 0 {
            self.pays.set(gained >= WORTH);
        }
        self.pays.get()
    }
}
