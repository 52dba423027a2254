//! No reads by the system itself: it has none, or they are not enabled.

use std::fs::File;

use crate::sys::poller::{Driver, Events};

/// Nothing.
pub(super) struct Queued;

impl Queued {
    pub(super) const SUPPORTED: bool = false;

    pub(super) fn new(_: bool) -> Queued {
        Queued
    }

    /// Reads nothing.
    pub(super) fn read(
        &self,
        _: &'static Driver,
        _: &File,
        _: &mut [u8],
        _: u64,
    ) -> Option<usize> {
        None
    }

    #[inline(always)]
    pub(super) fn reap(&self, _: &'static Driver, _: &Events) {}

    #[inline(always)]
    pub(super) fn has_queued(&self) -> bool {
        false
    }
}
