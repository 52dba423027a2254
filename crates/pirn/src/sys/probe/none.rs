//! Nothing is known of threads.

use super::Activity;

/// How to ask about one thread: in vain.
#[derive(Debug)]
pub(crate) struct ThreadProbe;

impl ThreadProbe {
    pub(crate) const fn new() -> ThreadProbe {
        ThreadProbe
    }

    /// Has questions be about the calling thread.
    pub(crate) fn introduce(&self) {}

    /// Whether the thread waits for something. False: nothing is known.
    pub(crate) fn waits(&self, _now: u64) -> bool {
        false
    }

    /// Nanoseconds of processor time that the thread has used: not known.
    pub(crate) fn processor_time(&self) -> Option<u64> {
        None
    }

    /// What the system says of the thread: nothing.
    pub(crate) fn activity(&self) -> Option<Activity> {
        None
    }

    /// The system call that the thread waits in: not known.
    pub(crate) fn call(&self) -> Option<u64> {
        None
    }

    /// The number of the thread: not known.
    pub(crate) fn number(&self) -> Option<u32> {
        None
    }
}
