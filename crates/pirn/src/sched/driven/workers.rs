//! The workers that a thread drives, between two drives.

use std::cell::{Cell, RefCell};
use std::mem::{self, ManuallyDrop};
use std::sync::Arc;
use std::time::Instant;

use crate::sched::pool::shared::Pool;
use crate::sched::worker::run::Worker;
use crate::shim::thread_local_const;

/// Boxed, since a worker must not move.
pub(super) type Workers = Vec<Box<Worker>>;

/// The workers that this thread drives, except during a drive.
struct Driven {
    workers: RefCell<Workers>,
    /// True if the end of the thread is attended to.
    attended: Cell<bool>,
}

thread_local_const! {
    /// Never dropped, so it can be accessed while other thread-locals are destroyed. It is emptied
    /// at the end of the thread, and an empty one owns no memory.
    static DRIVEN: ManuallyDrop<Driven> = ManuallyDrop::new(Driven {
        workers: RefCell::new(Vec::new()),
        attended: Cell::new(false),
    })
}

/// Calls `f`, which does not come back to these workers.
pub(super) fn with_workers<R>(f: impl FnOnce(&mut Workers) -> R) -> R {
    DRIVEN.with(|driven| f(&mut driven.workers.borrow_mut()))
}

/// Calls `f`, which may come back to these workers, but changes none.
pub(super) fn with_shared<R>(f: impl FnOnce(&Workers) -> R) -> R {
    DRIVEN.with(|driven| f(&driven.workers.borrow()))
}

/// True if the end of this thread must be attended to, once more if fibers live that have started
/// on it.
pub(super) fn is_end_to_be_attended() -> bool {
    DRIVEN.with(|driven| {
        let workers = driven.workers.borrow();
        let is_first = !driven.attended.replace(true);
        is_first || workers.iter().any(|worker| worker.has_started())
    })
}

/// Returns the pools that this thread drives.
pub(in crate::sched) fn pools() -> Vec<Arc<Pool>> {
    with_workers(|workers| workers.iter().map(|w| Arc::clone(&w.pool)).collect())
}

/// Returns the pools with fibers that have started on this thread and live.
pub(super) fn pools_with_started() -> Vec<Arc<Pool>> {
    with_workers(|workers| {
        let started = workers.iter().filter(|worker| worker.has_started());
        started.map(|worker| Arc::clone(&worker.pool)).collect()
    })
}

/// Takes the workers of this thread without such fibers. The thread ends: if it drives again, its
/// end must be attended to again.
pub(super) fn take_idle() -> Workers {
    DRIVEN.with(|driven| driven.attended.set(false));
    with_workers(|workers| {
        let (idle, busy) = mem::take(workers)
            .into_iter()
            .partition(|worker| !worker.has_started());
        *workers = busy;
        idle
    })
}

/// How long a drive lasts.
#[derive(Copy, Clone)]
pub(crate) enum Drive<'a> {
    /// Until nothing is ready.
    UntilIdle,
    /// Until the predicate is true, or until the deadline; sleeps while nothing is ready.
    Until(&'a dyn Fn() -> bool, Option<Instant>),
}
