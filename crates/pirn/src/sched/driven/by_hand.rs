//! A pool without threads: its one worker runs when some thread drives it.
//!
//! Owns: which thread that is, and the worker between two drives. Does not own: the work of the
//! worker meanwhile, which is that of any other.
//!
//! A started fiber stays on its thread, so all drives must come from one thread. The first thread
//! to drive is bound to the pool as long as it lives, and keeps the worker in a thread-local: it is
//! reached through that thread only (K1). That thread ends after the fibers that have started on it
//! (`thread_end`); then another one may be bound.
//!
//! Between two drives the worker counts as asleep. A thread that claims it unparks it, which leaves
//! a token for the next sleep. A drive begins and ends as a sleep ends and begins (S3 to S5 of
//! `idle`), so nothing that is published is missed.

use std::cell::{Cell, RefCell};
use std::mem::{self, ManuallyDrop};
use std::ptr;
use std::sync::Arc;
use std::time::Instant;

use crate::fiber::current;
use crate::sched::driven::thread_end;
use crate::sched::pool::shared::Pool;
use crate::sched::pool::worker_state::WorkerState;
use crate::sched::worker::run::{Worker, call};
use crate::shim::thread::{self, ThreadId};
use crate::shim::{self, thread_local_const};
use crate::wait::polling::apart;

/// Boxed, since a worker must not move.
type Workers = Vec<Box<Worker>>;

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

fn with_workers<R>(f: impl FnOnce(&mut Workers) -> R) -> R {
    DRIVEN.with(|driven| f(&mut driven.workers.borrow_mut()))
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

impl Pool {
    /// True if the calling thread drives this pool; binds it if no thread does yet. Never a thread
    /// that runs fibers of any pool.
    pub(crate) fn bind(&self) -> bool {
        let local = current::local();
        if !local.worker().is_null() || local.starting() == ptr::from_ref(self).cast() {
            return false;
        }
        let own = thread::current().id();
        *self.threads.driver.lock().get_or_insert(own) == own
    }

    /// True if the calling thread has driven this pool before.
    pub(crate) fn is_bound_here(&self) -> bool {
        let driver: Option<ThreadId> = *self.threads.driver.lock();
        driver == Some(thread::current().id()) && current::local().worker().is_null()
    }

    /// Runs the pool's fibers on the calling thread, which is bound to it.
    pub(crate) fn drive(self: &Arc<Self>, how: Drive<'_>) {
        debug_assert!(self.is_bound_here(), "another thread drives this pool");
        apart(|| self.drive_apart(how));
        thread_end::attend();
    }

    /// As [`drive`](Pool::drive), in no poll, and without attending to the end of the thread.
    pub(super) fn drive_apart(self: &Arc<Self>, how: Drive<'_>) {
        let worker = self.take_worker();
        let local = current::local();
        local.set_worker(ptr::from_ref(&*worker).cast(), worker.driver());
        // SAFETY: JO3: the worker keeps its pool until `before` is restored, below; the static
        // empty list is never there.
        let before = unsafe { local.set_jobs(&worker.remote().jobs) };
        worker.begin_drive();
        match how {
            Drive::UntilIdle => {
                worker.run_ready(local, || false);
                while worker.end_drive() {
                    worker.begin_drive();
                    worker.run_ready(local, || false);
                }
            }
            Drive::Until(over, limit) => {
                let over = || over() || limit.is_some_and(|limit| limit <= shim::now());
                worker.run_ready(local, over);
                while !over() {
                    worker.rest_until(limit);
                    worker.set_state(WorkerState::Active);
                    worker.run_ready(local, over);
                }
                // What is left waits for the next drive.
                let _ = worker.end_drive();
            }
        }
        worker.put_spare_away(local);
        local.set_worker(ptr::null(), None);
        // SAFETY: JO1: no fiber runs here; the list that was there before is the static empty one.
        unsafe { local.set_jobs(before) };
        with_workers(|workers| workers.push(worker));
    }

    /// As [`drive`](Pool::drive), with sleep, if the calling thread has driven this pool before;
    /// otherwise does nothing.
    pub(crate) fn drive_if_bound(self: &Arc<Self>, over: &dyn Fn() -> bool) {
        if self.is_by_hand() && self.is_bound_here() {
            self.drive(Drive::Until(over, None));
        }
    }

    /// Calls `f` with the worker that the calling thread drives, outside of a drive.
    pub(in crate::sched) fn with_driven(&self, f: impl FnOnce(&Worker)) {
        DRIVEN.with(|driven| {
            let workers = driven.workers.borrow();
            let own = workers.iter().find(|worker| worker.is_of(self));
            if let Some(worker) = own {
                f(worker);
            }
        });
    }

    /// Drops the worker of a pool that has ended, unless it has fibers left. These resume when the
    /// thread drives them, at its end at the latest.
    pub(in crate::sched) fn put_worker_away(&self) {
        let gone = with_workers(|workers| {
            let own = |worker: &Worker| worker.is_of(self) && !worker.has_started();
            let at = workers.iter().position(|worker| own(worker))?;
            Some(workers.swap_remove(at))
        });
        gone.into_iter().for_each(thread_end::put_away);
    }

    fn take_worker(self: &Arc<Self>) -> Box<Worker> {
        let kept = with_workers(|workers| {
            let at = workers.iter().position(|worker| worker.is_of(self))?;
            Some(workers.swap_remove(at))
        });
        kept.unwrap_or_else(|| {
            let local = current::local();
            local.set_starting(Arc::as_ptr(self).cast());
            call(&self.config.threads.on_start);
            local.set_starting(ptr::null());
            Box::new(Worker::new(Arc::clone(self), 0))
        })
    }
}

impl Worker {
    fn is_of(&self, pool: &Pool) -> bool {
        ptr::eq(&raw const *self.pool, pool)
    }
}
