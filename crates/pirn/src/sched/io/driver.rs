//! A worker and the events outside of the process that its fibers wait for.
//!
//! Owns: when a worker polls its driver. Does not own: the meaning of an event (`readiness`), nor
//! how the system is polled (`sys::poller`).
//!
//! A worker polls every round, when its queues are empty, and instead of sleeping. One without
//! sources never polls. If it is stuck, the monitor polls in its place, so that fibers elsewhere
//! that wait for a source of its driver are not delayed. When its thread ends, the sources move to
//! the common driver.

use std::cell::UnsafeCell;

use crate::readiness;
use crate::sched::io::queued::Queued;
use crate::sched::pool::remote::Remote;
use crate::sched::worker::run::Worker;
use crate::sys::poller::{Driver, Events};

/// A worker's operations in the system.
pub(in crate::sched) struct Io {
    /// Reads that the system makes by itself.
    pub(super) queued: Queued,
    /// Buffer for the events of the driver.
    events: UnsafeCell<Events>,
}

impl Io {
    pub(in crate::sched) fn new(queues_reads: bool) -> Io {
        Io {
            queued: Queued::new(queues_reads),
            events: UnsafeCell::new(Events::new()),
        }
    }

    /// Returns the buffer.
    ///
    /// # Safety
    /// On the worker's thread, and no other reference to it is in use.
    #[expect(clippy::mut_from_ref, reason = "the contract excludes a second one")]
    pub(in crate::sched) unsafe fn events(&self) -> &mut Events {
        // SAFETY: the caller's promise.
        unsafe { &mut *self.events.get() }
    }
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
        if self.remote().inbox.driver().is_used() {
            self.ask_now();
        }
    }

    #[cold]
    #[inline(never)]
    fn ask_now(&self) {
        // SAFETY: K1: reporting events claims tickets, fills queues and calls wakers, which must
        // not wait; none of it comes back here.
        let events = unsafe { self.io.events() };
        self.remote().inbox.driver().poll(events);
        self.reap(events);
        readiness::tell_all(events);
        events.clear();
    }

    /// Reports the events that ended the last sleep.
    pub(in crate::sched) fn tell_events(&self) {
        // SAFETY: as above.
        let events = unsafe { self.io.events() };
        self.reap(events);
        readiness::tell_all(events);
        events.clear();
    }

    /// Leaves the driver: the worker's thread will not poll any more.
    pub(in crate::sched) fn leave_driver(&self) {
        readiness::evacuate(self.remote().inbox.driver());
    }
}

/// Polls in place of a worker that does not get to it.
pub(in crate::sched) fn ask_for(remote: &Remote, events: &mut Events) {
    let driver = remote.inbox.driver();
    if driver.is_used() {
        driver.poll_for_owner(events);
        readiness::tell_all(events);
    }
}
