//! The fibers that threads outside of a pool spawn on it: how many, and where they are queued.

use crate::events::{Event, Outside, Watch};
use crate::fiber::Header;
use crate::sched::pool::counters::Counter;
use crate::shim::atomic::{AtomicUsize, Ordering};

/// The fibers from outside of one pool.
pub(in crate::sched) struct Arrivals {
    /// All of them, including those that were refused.
    spawned: Counter,
    refused: Counter,
    /// The shard of the injector for the next one.
    turn: AtomicUsize,
    events: Outside,
}

impl Arrivals {
    pub(in crate::sched) fn new(watch: &Watch) -> Arrivals {
        Arrivals {
            spawned: Counter::default(),
            refused: Counter::default(),
            turn: AtomicUsize::new(0),
            events: Outside::new(watch),
        }
    }

    /// Counts a fiber in.
    pub(in crate::sched) fn admit(&self) {
        self.spawned.increment_shared();
    }

    /// Counts a fiber out again that was counted in: the pool takes none any more.
    pub(in crate::sched) fn refuse(&self) {
        self.refused.increment_shared();
    }

    /// Returns the counter of all fibers, including those that were refused.
    pub(in crate::sched) fn spawned(&self) -> &Counter {
        &self.spawned
    }

    /// Returns the counter of refused fibers.
    pub(in crate::sched) fn refused(&self) -> &Counter {
        &self.refused
    }

    /// Returns a number, which selects the shard of the injector for the next fiber.
    pub(in crate::sched) fn next_turn(&self) -> usize {
        // ORDERING: Relaxed: spreads the load; nothing depends on the value.
        self.turn.fetch_add(1, Ordering::Relaxed)
    }

    /// Records that a thread outside has spawned a fiber, which no other thread has yet.
    #[inline]
    pub(in crate::sched) fn record_spawn(&self, header: &Header) {
        self.events.record_spawn(header);
    }

    /// Returns the events of threads outside, oldest first, and the number of lost ones.
    pub(in crate::sched) fn events(&self) -> (Vec<Event>, u64) {
        self.events.read()
    }
}
