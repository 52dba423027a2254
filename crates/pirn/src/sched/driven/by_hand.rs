//! A pool without threads: its one worker runs when some thread drives it.
//!
//! Owns: which thread that is. Does not own: its workers between two drives (`workers`), nor the
//! work of the worker meanwhile, which is that of any other.
//!
//! A started fiber stays on its thread, so all drives must come from one thread. The first thread
//! to drive is bound to the pool as long as it lives, and keeps the worker in a thread-local: it is
//! reached through that thread only (K1). That thread ends after the fibers that have started on it
//! (`thread_end`); then another one may be bound.
//!
//! Between two drives the worker counts as asleep. A thread that claims it unparks it, which leaves
//! a token for the next sleep. A drive begins and ends as a sleep ends and begins (S3 to S5 of
//! `idle`), so nothing that is published is missed.

use std::ptr;
use std::sync::Arc;

use crate::fiber::current;
use crate::sched::driven::thread_end;
use crate::sched::driven::workers::{self, Drive, with_workers};
use crate::sched::pool::phase::Phase;
use crate::sched::pool::shared::Pool;
use crate::sched::pool::worker_state::WorkerState;
use crate::sched::worker::run::{Worker, call};
use crate::shim;
use crate::shim::thread::{self, ThreadId};
use crate::wait::polling::apart;

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
        put_ended_away();
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
                // The remaining fibers wait for the next drive.
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
    pub(crate) fn with_driven(&self, f: impl FnOnce(&Worker)) {
        workers::with_shared(|workers| {
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
        let kept = || {
            with_workers(|workers| {
                let at = workers.iter().position(|worker| worker.is_of(self))?;
                Some(workers.swap_remove(at))
            })
        };
        if let Some(worker) = kept() {
            return worker;
        }
        let local = current::local();
        // The hook of another runtime may drive this one.
        let outer = local.starting();
        local.set_starting(Arc::as_ptr(self).cast());
        call(&self.config.threads.on_start);
        local.set_starting(outer);
        // Such a hook may have made a worker, by way of a third runtime and its hook.
        kept().unwrap_or_else(|| Box::new(Worker::new(Arc::clone(self), 0)))
    }
}

impl Worker {
    fn is_of(&self, pool: &Pool) -> bool {
        ptr::eq(&raw const *self.pool, pool)
    }
}

/// Drops the workers of this thread that have pools which have ended on other threads.
fn put_ended_away() {
    let gone = with_workers(|workers| {
        let has_ended = |worker: &mut Box<Worker>| {
            worker.pool.phase() == Phase::Stopped && !worker.has_started()
        };
        workers.extract_if(.., has_ended).collect::<Vec<_>>()
    });
    gone.into_iter().for_each(thread_end::put_away);
}
