//! A pool without threads: its one worker runs when some thread drives it.
//!
//! Owns: which thread that is, and the worker between two drives. Does not own: what the worker
//! does meanwhile, which is what any other does.
//!
//! A started fiber stays on its thread, so all drives must come from one thread. The first to
//! drive is bound to the pool as long as it lives, and keeps the worker in a thread-local: it is
//! reached through that thread only (K1). If that thread ends, another may be bound, but not
//! if fibers have started that live: these stay where they are for good, since their stacks
//! may be borrowed from.
//!
//! Between two drives the worker counts as asleep. Whoever claims it unparks it, which
//! leaves a token for the next sleep; a drive begins and ends as a sleep ends and begins
//! (S3 to S5 of `idle`), so nothing that is published is missed.

use std::cell::RefCell;
use std::ptr;
use std::sync::Arc;
use std::time::Instant;

use super::pool::Pool;
use super::standing::WorkerState;
use super::worker::{Worker, call};
use crate::fiber::current;
use crate::shim::thread::{self, ThreadId};
use crate::shim::{self, thread_local_const};
use crate::wait::polling::apart;

/// The workers that this thread drives.
#[expect(clippy::vec_box, reason = "a worker stays where it is")]
struct Driven(Vec<Box<Worker>>);

thread_local_const! {
    static DRIVEN: RefCell<Driven> = RefCell::new(Driven(Vec::new()))
}

/// How long a drive goes on.
#[derive(Copy, Clone)]
pub(crate) enum Drive<'a> {
    /// Until nothing is ready.
    UntilIdle,
    /// Until this is so, or it is this late; sleeps while nothing is ready.
    Until(&'a dyn Fn() -> bool, Option<Instant>),
}

impl Pool {
    /// Whether the pool has no threads, and runs only when it is driven.
    #[inline]
    pub(crate) fn is_by_hand(&self) -> bool {
        self.config.by_hand
    }

    /// Whether the calling thread drives this pool, from now on if nobody does yet. Never a
    /// thread that runs fibers of any pool.
    pub(crate) fn bind(&self) -> bool {
        let local = current::local();
        if !local.worker().is_null() || local.starting() == ptr::from_ref(self).cast() {
            return false;
        }
        let own = thread::current().id();
        *self.driver.lock().get_or_insert(own) == own
    }

    /// Whether the calling thread has driven this pool before.
    pub(crate) fn is_bound_here(&self) -> bool {
        let driver: Option<ThreadId> = *self.driver.lock();
        driver == Some(thread::current().id()) && current::local().worker().is_null()
    }

    /// Runs the pool's fibers on the calling thread, which is bound to it.
    pub(crate) fn drive(self: &Arc<Self>, how: Drive<'_>) {
        debug_assert!(self.is_bound_here(), "another thread drives this pool");
        apart(|| self.drive_apart(how));
    }

    fn drive_apart(self: &Arc<Self>, how: Drive<'_>) {
        let worker = self.take_worker();
        let local = current::local();
        local.set_worker(ptr::from_ref(&*worker).cast(), worker.driver());
        // SAFETY: JO3: the worker keeps its pool until this is given back, below; nobody's are never there.
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
                worker.run_ready(local, over);
                while !over() && limit.is_none_or(|limit| limit > shim::now()) {
                    worker.rest_until(limit);
                    worker.stand(WorkerState::Active);
                    worker.run_ready(local, over);
                }
                // What is left is for the next drive.
                let _ = worker.end_drive();
            }
        }
        worker.put_spare_away(local);
        local.set_worker(ptr::null(), None);
        // SAFETY: JO1: no fiber runs here; what was there before is nobody's.
        unsafe { local.set_jobs(before) };
        DRIVEN.with(|driven| driven.borrow_mut().0.push(worker));
    }

    /// As [`drive`](Pool::drive), with sleep, if the calling thread has driven this pool
    /// before; otherwise nothing.
    pub(crate) fn drive_if_bound(self: &Arc<Self>, over: &dyn Fn() -> bool) {
        if self.is_by_hand() && self.is_bound_here() {
            self.drive(Drive::Until(over, None));
        }
    }

    /// Calls `f` with the worker that the calling thread drives, but not now.
    pub(super) fn with_driven(&self, f: impl FnOnce(&Worker)) {
        DRIVEN.with(|driven| {
            let row = driven.borrow();
            if let Some(worker) = row.0.iter().find(|w| ptr::eq(&raw const *w.pool, self))
            {
                f(worker);
            }
        });
    }

    /// The pool has ended: its worker goes, unless fibers are left that it alone can run.
    pub(super) fn put_worker_away(&self) {
        let own = |worker: &mut Box<Worker>| ptr::eq(&raw const *worker.pool, self);
        let gone: Vec<_> =
            DRIVEN.with(|driven| driven.borrow_mut().0.extract_if(.., own).collect());
        gone.into_iter().for_each(put_away);
    }

    fn take_worker(self: &Arc<Self>) -> Box<Worker> {
        let kept = DRIVEN.with(|driven| {
            let row = &mut driven.borrow_mut().0;
            let at = row.iter().position(|w| Arc::ptr_eq(&w.pool, self))?;
            Some(row.swap_remove(at))
        });
        kept.unwrap_or_else(|| {
            let local = current::local();
            local.set_starting(Arc::as_ptr(self).cast());
            call(&self.config.on_thread_start);
            local.set_starting(ptr::null());
            Box::new(Worker::new(Arc::clone(self), 0))
        })
    }
}

impl Drop for Driven {
    fn drop(&mut self) {
        self.0.drain(..).for_each(put_away);
    }
}

fn put_away(worker: Box<Worker>) {
    if worker.has_started() {
        Box::leak(worker);
        return;
    }
    worker.stand(WorkerState::Active);
    worker.stand(WorkerState::Dead);
    worker.give_stacks_back();
    worker.leave_driver();
    call(&worker.pool.config.on_thread_stop);
    *worker.pool.driver.lock() = None;
}
