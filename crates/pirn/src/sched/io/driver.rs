//! A worker's operations in the system: its poll of events outside of the process, and its reads.
//!
//! Owns: the buffer of events, and what a poll reports. Does not own: when a worker polls
//! (`sched::worker::system`), the meaning of an event (`readiness`), nor how the system is polled
//! (`sys::poller`).

use std::cell::UnsafeCell;
use std::fs::File;

use crate::readiness;
use crate::sched::io::queued::Queued;
use crate::sys::poller::{Driver, Events};

/// A worker's operations in the system.
pub(in crate::sched) struct Io {
    /// Reads that the system makes by itself.
    queued: Queued,
    /// Buffer for the events of the driver.
    events: UnsafeCell<Events>,
}

/// True if the system may read files by itself.
pub(in crate::sched) const QUEUES: bool = Queued::SUPPORTED;

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

    /// Polls `driver`, the worker's own, and wakes the fibers with ready sources.
    #[cold]
    #[inline(never)]
    pub(in crate::sched) fn poll(&self, driver: &'static Driver) {
        // SAFETY: K1: reporting events claims tickets, fills queues and calls wakers, which must
        // not wait; none of it comes back here.
        let events = unsafe { self.events() };
        driver.poll(events);
        self.deliver(driver, events);
    }

    /// Reports the events that ended the last sleep.
    pub(in crate::sched) fn deliver_events(&self, driver: &'static Driver) {
        // SAFETY: as above.
        let events = unsafe { self.events() };
        self.deliver(driver, events);
    }

    #[inline]
    fn deliver(&self, driver: &'static Driver, events: &mut Events) {
        self.queued.reap(driver, events);
        readiness::notify_all(events);
        events.clear();
    }

    /// Reads from a place of a file, for the running fiber, which stays on this worker. `None` if
    /// nothing was read.
    #[track_caller]
    pub(in crate::sched) fn read(
        &self,
        driver: &'static Driver,
        file: &File,
        into: &mut [u8],
        at: u64,
    ) -> Option<usize> {
        self.queued.read(driver, file, into, at)
    }

    /// True if the system will end a wait of one of this worker's fibers.
    #[inline(always)]
    pub(in crate::sched) fn has_queued(&self) -> bool {
        self.queued.has_queued()
    }
}

/// Polls `driver` in place of its worker, which does not get to it.
pub(in crate::sched) fn ask_for(driver: &Driver, events: &mut Events) {
    if driver.is_used() {
        driver.poll_for_owner(events);
        readiness::notify_all(events);
    }
}
