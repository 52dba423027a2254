//! When a worker polls the system for events outside of the process that its fibers wait for.
//!
//! Does not own: what a poll reports (`sched::io`), the meaning of an event (`readiness`), nor how
//! the system is polled (`sys::poller`).
//!
//! A worker polls every round, when its queues are empty, and instead of sleeping. One without
//! sources never polls. If it is stuck, the monitor polls in its place, so that fibers elsewhere
//! that wait for a source of its driver are not delayed. When its thread ends, the sources move to
//! the common driver.

use std::fs::File;

use crate::fiber::current;
use crate::readiness;
use crate::sched::io::driver::QUEUES;
use crate::sched::worker::run::Worker;
use crate::sys::poller::Driver;

/// Reads from a place of a file, for a fiber, for as long as that takes. `None` if nothing was
/// read: it cannot be done here, or has failed; the caller finds out by a call that may block.
#[track_caller]
pub(crate) fn read_queued(file: &File, into: &mut [u8], at: u64) -> Option<usize> {
    if !QUEUES {
        return None;
    }
    let local = current::local();
    if local.fiber().is_none() || local.is_free() {
        return None;
    }
    let worker = Worker::of(local).filter(|worker| worker.seeded.is_none())?;
    worker.io.read(worker.driver()?, file, into, at)
}

impl Worker {
    /// Returns the worker's own driver; `None` if the thread belongs to a caller that drives the
    /// pool, and may not return.
    pub(in crate::sched) fn driver(&self) -> Option<&'static Driver> {
        match self.pool.is_by_hand() {
            true => None,
            false => Some(self.remote().inbox.driver()),
        }
    }

    /// Polls the driver, and wakes the fibers with ready sources.
    #[inline(always)]
    pub(in crate::sched) fn ask_driver(&self) {
        let driver = self.remote().inbox.driver();
        if driver.is_used() {
            self.io.poll(driver);
        }
    }

    /// Reports the events that ended the last sleep.
    pub(in crate::sched) fn deliver_events(&self) {
        self.io.deliver_events(self.remote().inbox.driver());
    }

    /// Leaves the driver: the worker's thread will not poll any more.
    pub(in crate::sched) fn leave_driver(&self) {
        readiness::evacuate(self.remote().inbox.driver());
    }

    /// True if the system will end a wait of one of this worker's fibers.
    #[inline(always)]
    pub(in crate::sched) fn has_queued(&self) -> bool {
        self.io.has_queued()
    }
}
