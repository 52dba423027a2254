//! The seam to what observes a pool: reports, and the searches for deadlocks and stalls.
//!
//! The scheduler knows the trait [`Observer`] only. A pool gets its observers with its
//! configuration. What an observer keeps for one pool is in its own value, which code above `sched`
//! finds by its type ([`Pool::observer`]). What it reads of the pool is in `pool::view`.

use std::any::Any;

use crate::sched::pool::shared::Pool;

/// One observer of one pool. It reads, and decides nothing.
pub(crate) trait Observer: Any + Send + Sync {
    /// Called once the threads of the pool may run fibers. Not called for a pool without threads.
    fn started(&self) {}

    /// Returns a look at the pool that the monitor's thread repeats with its own looks, if there is
    /// one. On that thread, which drops it when it ends.
    fn monitor(&self, _pool: &Pool) -> Option<Look> {
        None
    }
}

/// What the monitor's thread calls.
pub(crate) type Look = Box<dyn FnMut(&Pool)>;

impl Pool {
    /// Returns the observer of this type.
    ///
    /// # Panics
    /// If the pool was configured without one.
    pub(crate) fn observer<T: Observer>(&self) -> &T {
        let observers = self.config.observers.iter();
        let mut observers = observers.map(|observer| &**observer as &dyn Any);
        let found = observers.find_map(|observer| observer.downcast_ref());
        found.expect("every pool has each of the observers")
    }
}
