//! The fibers that threads outside of a pool spawn on it: their number, the events of these spawns, and
//! the turn by which fibers from outside are spread over the shards of the injector.

use crate::events::{Event, Outside, Watch};
use crate::fiber::Header;
use crate::sched::pool::counters::Counter;
use crate::shim::atomic::{AtomicUsize, Ordering};

/// The fibers from outside of one pool.
pub(in crate::sched) struct Arrivals {
    /// All of them, including those that were rejected.
    spawned: Counter,
    rejected_spawns: Counter,
    /// Grows by one with each use; modulo their number it selects a shard of the injector, or the first
    /// worker to wake.
    turn: AtomicUsize,
    events: Outside,
}

impl Arrivals {
    pub(in crate::sched) fn new(watch: &Watch) -> Arrivals {
        Arrivals {
            spawned: Counter::default(),
            rejected_spawns: Counter::default(),
            turn: AtomicUsize::new(0),
            events: Outside::new(watch),
        }
    }

    /// Counts a fiber from outside, before the caller reads whether the pool takes it.
    pub(in crate::sched) fn admit(&self) {
        self.spawned.increment_shared();
    }

    /// Counts a fiber that was counted and that the pool has rejected. Both counters only grow.
    pub(in crate::sched) fn reject(&self) {
        self.rejected_spawns.increment_shared();
    }

    /// Returns the counter of all fibers, including those that were rejected.
    pub(in crate::sched) fn spawned(&self) -> &Counter {
        &self.spawned
    }

    /// Returns the counter of rejected fibers.
    pub(in crate::sched) fn rejected_spawns(&self) -> &Counter {
        &self.rejected_spawns
    }

    /// Returns the next number by which a shard or a worker is selected.
    pub(in crate::sched) fn next_turn(&self) -> usize {
        // ORDERING: Relaxed: spreads the load; nothing depends on the value.
        self.turn.fetch_add(1, Ordering::Relaxed)
    }

    /// Records the spawn of a fiber by a thread outside. Called before the fiber is queued.
    #[inline]
    pub(in crate::sched) fn record_spawn(&self, header: &Header) {
        self.events.record_spawn(header);
    }

    /// Returns the events of threads outside, oldest first, and the number of lost ones.
    /// Empty if no events are kept.
    pub(in crate::sched) fn events(&self) -> (Vec<Event>, u64) {
        self.events.read()
    }
}
