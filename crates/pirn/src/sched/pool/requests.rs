//! The number of requests of observers to the workers of one pool (`sched::observer`).

use crate::shim::atomic::{AtomicU64, Ordering};

/// Written by askers, read by workers.
pub(in crate::sched) struct Requests(AtomicU64);

impl Requests {
    pub(in crate::sched) fn new() -> Requests {
        Requests(AtomicU64::new(0))
    }

    /// Counts one more request.
    pub(in crate::sched) fn raise(&self) {
        // ORDERING: SeqCst: pairs with that in `number`; the wake-ups of the workers follow.
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    /// Returns the number of requests so far.
    #[inline]
    pub(in crate::sched) fn number(&self) -> u64 {
        // ORDERING: SeqCst: the worker that was woken by an asker sees its number. If the look
        // before a sleep comes first, the token of the wake ends the sleep.
        self.0.load(Ordering::SeqCst)
    }
}
