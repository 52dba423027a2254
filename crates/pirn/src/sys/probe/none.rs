//! Nothing is known of threads.

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
}
