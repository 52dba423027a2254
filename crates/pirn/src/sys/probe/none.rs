//! Nothing is known of threads.

use super::Activity;

/// A probe that knows nothing of its thread.
#[derive(Debug)]
pub(crate) struct ThreadProbe;

impl ThreadProbe {
    pub(crate) const fn new() -> ThreadProbe {
        ThreadProbe
    }

    /// Does nothing.
    pub(crate) fn introduce(&self) {}

    /// Returns false: not known.
    pub(crate) fn waits(&self, _now: u64, _waited: bool) -> bool {
        false
    }

    /// Returns `None`: not known.
    pub(crate) fn processor_time(&self) -> Option<u64> {
        None
    }

    /// Returns `None`: not known.
    pub(crate) fn activity(&self) -> Option<Activity> {
        None
    }

    /// Returns `None`: not known.
    pub(crate) fn call(&self) -> Option<u64> {
        None
    }

    /// Returns `None`: not known.
    pub(crate) fn number(&self) -> Option<u32> {
        None
    }
}
