//! No reads by the system itself: it has none, or they are not enabled.

use std::fs::File;

use crate::sched::worker::run::Worker;
use crate::sys::poller::Events;

/// Nothing.
pub(in crate::sched) struct Queued;

impl Queued {
    pub(in crate::sched) fn new(_: bool) -> Queued {
        Queued
    }
}

/// Reads nothing.
pub(crate) fn read_queued(_: &File, _: &mut [u8], _: u64) -> Option<usize> {
    None
}

impl Worker {
    #[inline(always)]
    pub(super) fn reap(&self, _: &Events) {}

    #[inline(always)]
    pub(in crate::sched) fn has_queued(&self) -> bool {
        let Queued = &self.io.queued;
        false
    }
}
