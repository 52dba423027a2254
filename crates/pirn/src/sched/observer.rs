//! The seam to what observes a pool: reports, and the searches for deadlocks and stalls.
//!
//! The scheduler knows the trait [`Observer`] only. A pool gets its observers with its
//! configuration, and only keeps them. What an observer keeps for one pool is in its own value,
//! which code above `sched` finds by its type ([`Pool::observer`]). What it reads of the pool is in
//! `pool::view`.
//!
//! An observer may ask workers for what only they can read. It raises the pool's number of requests
//! and wakes them. A worker compares that number with the one it has answered wherever it looks at
//! the pool's phase: at least every 61 dispatches, before it sleeps, and when it was woken.

use std::any::Any;
use std::sync::Arc;

use crate::fiber::FiberPtr;
use crate::fiber::current::Local;
use crate::report::fiber_info::FiberInfo;
use crate::sched::pool::remote::Remote;
use crate::sched::pool::shared::Pool;
use crate::sched::worker::run::Worker;

/// One observer of one pool. It reads, and decides nothing.
pub(crate) trait Observer: Any + Send + Sync {
    /// Called once the threads of the pool may run fibers. Not called for a pool without threads.
    fn started(&self) {}

    /// Returns a look at the pool that the monitor's thread repeats with its own looks, if there is
    /// one. On that thread, which drops it when it ends.
    fn monitor(&self, _pool: &Pool) -> Option<Look> {
        None
    }

    /// Answers an open request of this observer for `worker`, on its thread, between two
    /// dispatches. `running` is the fiber that this is called on. Called again for the same request
    /// if the pool's number of requests rises meanwhile.
    fn answer(&self, _worker: &Worker, _running: Option<FiberPtr>) {}

    /// Returns the started fibers that have not ended, as far as this observer knows them.
    fn fibers(&self, _pool: &Arc<Pool>) -> Vec<FiberInfo> {
        Vec::new()
    }
}

/// A function that the monitor's thread calls.
pub(crate) type Look = Box<dyn FnMut(&Pool)>;

/// The observers of one pool. It keeps them with its configuration, as a value of unknown type.
pub(crate) struct Observers(Vec<Box<dyn Observer>>);

impl Observers {
    /// Returns the observers, for the configuration of a pool.
    pub(crate) fn boxed(observers: Vec<Box<dyn Observer>>) -> Box<dyn Any + Send + Sync> {
        Box::new(Observers(observers))
    }
}

impl Pool {
    /// Returns the observers of this pool; none if it has been configured without.
    pub(in crate::sched) fn observers(&self) -> &[Box<dyn Observer>] {
        let observers = self.config.observers.downcast_ref::<Observers>();
        observers.map_or(&[], |observers| observers.0.as_slice())
    }

    /// Returns the observer of this type.
    ///
    /// # Panics
    /// If the pool was configured without one.
    pub(crate) fn observer<T: Observer>(&self) -> &T {
        let observers = self.observers().iter();
        let mut observers = observers.map(|observer| &**observer as &dyn Any);
        let found = observers.find_map(|observer| observer.downcast_ref());
        found.expect("every pool has each of the observers")
    }

    /// Makes each worker answer when it next looks at the pool. LIVENESS: before the caller wakes
    /// the workers that are to answer.
    pub(crate) fn request_answers(&self) {
        self.requests.raise();
    }

    /// Returns the worker of the calling thread, if it is one of this pool.
    pub(crate) fn own_worker<'a>(
        self: &Arc<Self>,
        local: &'a Local,
    ) -> Option<&'a Worker> {
        Worker::of(local).filter(|worker| Arc::ptr_eq(&worker.pool, self))
    }

    /// Returns the started fibers that have not ended, for reports of the scheduler's own.
    pub(in crate::sched) fn fibers(self: &Arc<Self>) -> Vec<FiberInfo> {
        let observers = self.observers().iter();
        observers.flat_map(|it| it.fibers(self)).collect()
    }
}

impl Remote {
    /// Wakes the worker, if it sleeps, to answer.
    pub(crate) fn wake_to_answer(&self) {
        self.inbox.unpark();
    }
}

impl Worker {
    /// True if there is a request that this worker has not answered.
    pub(in crate::sched) fn owes_answer(&self) -> bool {
        self.pool.requests.number() != self.role.answered()
    }

    /// Answers if there is a request. `running` is the fiber that this is called on.
    pub(crate) fn answer_requests(&self, running: Option<FiberPtr>) {
        if self.owes_answer() {
            self.answer_observers(running);
        }
    }

    #[cold]
    fn answer_observers(&self, running: Option<FiberPtr>) {
        // Before the answers: a request that comes meanwhile is not missed.
        let number = self.pool.requests.number();
        self.role.set_answered(number);
        for observer in self.pool.observers() {
            observer.answer(self, running);
        }
    }
}
