//! A worker and what its fibers wait for outside of the process.
//!
//! Owns: when a worker asks its driver. Does not own: what an event means (`readiness`), nor
//! how the system is asked (`sys::poller`).
//!
//! A worker asks every round, when it runs out of what is queued, and instead of sleeping. One
//! without sources does none of it. If it is stuck the monitor asks in its place, so that
//! those who wait elsewhere for a source of its driver are not held up. When its thread ends,
//! the sources go to the common driver.

use super::remote::Remote;
use super::worker::Worker;
use crate::readiness;
use crate::sys::poller::{Driver, Events};

impl Worker {
    /// The worker's own driver; none if its thread is somebody else's, who may not come back.
    pub(super) fn driver(&self) -> Option<&'static Driver> {
        match self.pool.is_by_hand() {
            true => None,
            false => Some(self.remote().mailbox.driver()),
        }
    }

    /// Wakes the fibers whose sources are ready by now.
    #[inline(always)]
    pub(super) fn ask_driver(&self) {
        if self.remote().mailbox.driver().is_used() {
            self.ask_now();
        }
    }

    #[cold]
    #[inline(never)]
    fn ask_now(&self) {
        // SAFETY: K1: telling claims tickets, fills queues and calls wakers, which must not wait; none of it
        // comes back here.
        let events = unsafe { &mut *self.events.get() };
        self.remote().mailbox.driver().poll(events);
        self.reap(events);
        readiness::tell_all(events);
        events.clear();
    }

    /// Tells what the last sleep was ended by.
    pub(super) fn tell_events(&self) {
        // SAFETY: as above.
        let events = unsafe { &mut *self.events.get() };
        self.reap(events);
        readiness::tell_all(events);
        events.clear();
    }

    /// The worker's thread will not ask any more.
    pub(super) fn leave_driver(&self) {
        readiness::evacuate(self.remote().mailbox.driver());
    }
}

/// Asks in place of a worker that does not come to it.
pub(super) fn ask_for(remote: &Remote, events: &mut Events) {
    let driver = remote.mailbox.driver();
    if driver.is_used() {
        driver.poll_for_owner(events);
        readiness::tell_all(events);
    }
}
