//! The end of a thread that drives pools by hand.
//!
//! Owns: keeping such a thread alive until the fibers that have started on it have ended. Does not
//! own: the system's notification that a thread ends (`sys::at_thread_end`), or its workers
//! meanwhile (`by_hand`).
//!
//! A fiber may borrow from a thread-local of its thread, and lend the borrow to another thread. So
//! when the thread ends, and before its thread-locals are destroyed:
//!
//! 1. Each pool with started fibers here is cancelled, as by a shutdown, and all pools of the
//!    thread are driven until these fibers have ended. Fresh fibers of another pool may start
//!    meanwhile; then that pool is cancelled too.
//! 2. If some have not within [`GRACE`], the process is aborted, with a message that names them.
//! 3. The workers end. Their pools have no driver then, and another thread may be the next one. If
//!    a pool's end waits for its fibers already, a thread is made that drives them.
//!
//! `exit` calls the same hook for the calling thread. If a fiber calls `exit`, its worker is in the
//! middle of a drive and cannot run another fiber, so the hook does nothing. `std` does no more: it
//! destroys the thread-locals of the thread that calls `exit`, though a frame below that call may
//! have lent one to another thread.

use std::fmt::Write;
use std::process::abort;
use std::sync::Arc;
use std::time::Duration;

use crate::fiber::current;
use crate::sched::driven::workers::{self, Drive};
use crate::sched::pool::phase::Phase;
use crate::sched::pool::shared::Pool;
use crate::sched::pool::worker_state::WorkerState;
use crate::sched::worker::run::{Worker, call};
use crate::shim;
use crate::sys;
use crate::wait::polling::apart;

/// How long cancelled fibers have to end when their thread does: far more than an interrupted fiber
/// needs to return. Arbitrary.
const GRACE: Duration = Duration::from_secs(1);

/// How long one pool is driven before the next one, if a thread that ends drives several.
/// Arbitrary: fibers of different pools may wait for each other.
const SLICE: Duration = Duration::from_millis(5);

/// Registers the hook again after a drive, if that drive may have left started fibers: they may
/// have used thread-locals that no other fiber of the thread has used before.
pub(in crate::sched) fn attend() {
    if workers::is_end_to_be_attended() && !sys::at_thread_end(thread_ends) {
        // The thread is ending: it may never drive again.
        thread_ends();
    }
}

/// Handles the end of the calling thread, or its call of `exit`.
fn thread_ends() {
    let local = current::local();
    let is_worker = !local.worker().is_null() || !local.starting().is_null();
    if is_worker || local.fiber().is_some() {
        return;
    }
    apart(|| {
        end_started();
        workers::take_idle().into_iter().for_each(leave);
    });
}

/// Steps 1 and 2. A fiber of one pool may wait for one of another pool that has not started, so all
/// are driven.
fn end_started() {
    let deadline = shim::now() + GRACE;
    loop {
        let started = workers::pools_with_started();
        if started.is_empty() {
            return;
        }
        if shim::now() >= deadline {
            abort_for(&started);
        }
        let open = started
            .iter()
            .filter(|pool| pool.phase() < Phase::Cancelled);
        open.for_each(Pool::cancel);
        for pool in workers::pools() {
            if workers::pools_with_started().is_empty() {
                return;
            }
            // A fiber of another pool may have ended it meanwhile.
            if pool.is_bound_here() {
                let limit = deadline.min(shim::now() + SLICE);
                pool.drive_apart(Drive::Until(&|| pool.live() == 0, Some(limit)));
            }
        }
    }
}

/// Step 3.
fn leave(worker: Box<Worker>) {
    let pool = Arc::clone(&worker.pool);
    put_away(worker);
    // ORDERING: the driver is gone before this look at the phase; an end enters its phase before it
    // looks for a driver. So one of the two sees the other.
    if pool.phase() != Phase::Open && pool.live() > 0 {
        pool.drive_elsewhere();
    }
}

/// Ends the worker of a pool, which has no started fibers, on its thread. The pool has no driver
/// then.
pub(super) fn put_away(worker: Box<Worker>) {
    worker.set_state(WorkerState::Active);
    worker.set_state(WorkerState::Dead);
    worker.give_stacks_back();
    worker.leave_driver();
    let pool = Arc::clone(&worker.pool);
    drop(worker);
    // Before the hook: that may drive, and there is one worker only.
    *pool.threads.driver.lock() = None;
    call(&pool.config.threads.on_stop);
}

/// Reports the fibers that are left, and aborts the process.
fn abort_for(pools: &[Arc<Pool>]) -> ! {
    for pool in pools {
        let mut text = format!(
            "pirn: a thread ends that drives runtime '{}', and fibers that have started on it go on {} s \
             after they were cancelled, so the process is aborted: they may borrow from the thread's \
             thread-locals. Let them end first: drive the runtime until they have, or shut it down.",
            pool.name(),
            GRACE.as_secs(),
        );
        for fiber in pool.fibers() {
            let _ = write!(text, "\n  {}", fiber.brief());
        }
        text.push('\n');
        sys::report(&text);
    }
    abort()
}
