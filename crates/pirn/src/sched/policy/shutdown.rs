//! The end of a pool, in numbered steps.
//!
//! 1. Admission is closed: for threads outside (Draining), or entirely, and every started fiber is
//!    cancelled (Cancelled).
//! 2. The pool drains: the caller that shuts it down waits until no fiber is left, or its time is
//!    up.
//! 3. The pool stops: workers without started fibers end and are joined. A worker that still has
//!    some reports them and continues for as long as they live: their stacks may be borrowed from,
//!    and only this thread can resume them. A fiber that is queued after the last worker has ended,
//!    because its publisher was held up since its admission, is rejected (`Pool::takes_back`).

use std::panic::Location;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::fiber::current;
use crate::fiber::state::Code;
use crate::report::fiber_info::FiberInfo;
use crate::sched::deterministic::draw::elsewhere;
use crate::sched::driven::workers::Drive;
use crate::sched::pool::phase::Phase;
use crate::sched::pool::shared::Pool;
use crate::sched::worker::enqueue::pool_of;
use crate::sched::worker::run::Worker;
use crate::shim::{self, Lock};
use crate::wait::park::{park, ticket};
use crate::wait::polling::refuse_in_poll;
use crate::wait::{How, Reason, Spec, deadline, now};

/// A time limit that is practically unlimited and that every clock can express. A year; arbitrary.
const FOREVER: Duration = Duration::from_secs(60 * 60 * 24 * 365);

/// How soon a thread that drives notices that its token has been cancelled: no waker reaches its
/// sleep. Arbitrary: not felt by a user, and no load.
const LOOK: Duration = Duration::from_millis(10);

impl Pool {
    /// Lets everything end that has been admitted, then stops. Waits indefinitely if need be.
    pub(crate) fn drain(self: &Arc<Self>) {
        self.enter(Phase::Draining);
        self.drive_to_end(None);
        let spec = Spec::of(Reason::Idle);
        elsewhere(|| self.quiet.wait(|| self.live(), false, &spec));
        self.stop(true);
    }

    /// If the pool has no threads: runs what is left here. If the caller is a fiber and no thread
    /// has driven the pool yet, runs it on a thread made for that. If another thread drives the
    /// pool, waits for that thread.
    fn drive_to_end(self: &Arc<Self>, limit: Option<Instant>) {
        if !self.is_by_hand() || self.live() == 0 {
            return;
        }
        if self.bind() {
            self.drive(Drive::Until(&|| self.live() == 0, limit));
        } else if self.threads.driver.lock().is_none() {
            self.drive_elsewhere();
        }
    }

    /// Runs what is left of a pool that no thread drives, on a thread made for that. The thread
    /// ends after the last fiber, whatever its creator waits for.
    pub(in crate::sched) fn drive_elsewhere(self: &Arc<Self>) {
        let pool = Arc::clone(self);
        let name = format!("{}-end", self.name());
        let end = move || {
            if pool.bind() {
                pool.drive(Drive::Until(&|| pool.live() == 0, None));
                pool.put_worker_away();
            }
        };
        // Without a thread, its fibers stay where they are.
        drop(shim::thread::spawn(name, end));
    }

    /// Cancels everything, waits for at most `timeout` and stops.
    ///
    /// # Errors
    /// Returns the fibers that have not ended, as far as workers report them in time.
    pub(crate) fn shut_down(
        self: &Arc<Self>,
        timeout: Duration,
    ) -> Result<(), Vec<FiberInfo>> {
        let now = now();
        let deadline = now.checked_add(timeout).unwrap_or(now + FOREVER);
        self.cancel();
        self.drive_to_end(Some(deadline));
        let spec = Spec::of(Reason::Idle).until(Some(deadline));
        let how = self.quiet.wait(|| self.live(), false, &spec);
        match self.stop(matches!(how, How::Woken(_))) {
            Some(left) => Err(left),
            None => Ok(()),
        }
    }

    /// As [`shut_down`](Pool::shut_down), for a fiber with another clock than this pool's. A thread
    /// waits in its place: a limit of virtual time would have passed before any fiber could end.
    ///
    /// # Errors
    /// As those of [`shut_down`](Pool::shut_down).
    pub(crate) fn shut_down_by_thread(
        self: &Arc<Self>,
        timeout: Duration,
    ) -> Result<(), Vec<FiberInfo>> {
        let ended = Arc::new(Lock::new(None));
        let (pool, end, caller) = (Arc::clone(self), Arc::clone(&ended), ticket());
        let name = format!("{}-shutdown", self.name());
        let thread = shim::thread::spawn(name, move || {
            *end.lock() = Some(pool.shut_down(timeout));
            caller.wake();
            // Fibers that have started here end before this thread does.
            if pool.is_by_hand() && pool.is_bound_here() {
                pool.drive(Drive::Until(&|| pool.live() == 0, None));
                pool.put_worker_away();
            }
        });
        if thread.is_err() {
            return self.shut_down(timeout);
        }
        let _ = elsewhere(|| park(caller, &Spec::of(Reason::Idle)));
        let ended = ended.lock().take();
        ended.expect("only the thread wakes its caller, when it has the result")
    }

    /// Step 1 for all fibers: closes admission first, so that nothing comes after the cancellation.
    pub(crate) fn cancel(self: &Arc<Self>) {
        self.enter(Phase::Cancelled);
        self.root().cancel();
    }

    /// Cancels everything and returns without waiting: called from a fiber of the pool itself,
    /// which cannot wait for its own end. The workers stop when nothing is left.
    pub(crate) fn abandon(self: &Arc<Self>) {
        self.cancel();
        self.end_alone(Phase::Cancelled);
    }

    /// Takes nothing more from outside and returns: as [`drain`](Pool::drain), for a caller that
    /// cannot wait for it.
    pub(crate) fn drain_alone(self: &Arc<Self>) {
        self.end_alone(Phase::Draining);
        let is_undriven = || self.threads.driver.lock().is_none();
        if self.is_by_hand() && self.live() > 0 && is_undriven() {
            self.drive_elsewhere();
        }
    }

    fn end_alone(self: &Arc<Self>, phase: Phase) {
        self.enter(phase);
        let pool = Arc::clone(self);
        let name = format!("{}-shutdown", self.name());
        let waiter = shim::thread::spawn(name, move || {
            pool.quiet
                .wait(|| pool.live(), false, &Spec::of(Reason::Idle));
            pool.stop(true);
        });
        // Without a thread to wait, the workers stay, asleep, until the process ends.
        drop(waiter);
    }

    /// Waits until no fiber but the caller is left. `Err` if the wait was cancelled.
    #[track_caller]
    pub(crate) fn wait_idle(self: &Arc<Self>) -> How {
        self.refuse_in_start_hook();
        refuse_in_poll();
        if self.is_by_hand() && self.drive_until_idle() {
            return How::Woken(Code::case(0));
        }
        let own = self.is_current() && current::local().fiber().is_some();
        let spec = Spec::interruptible(Reason::Idle).at(Location::caller());
        let wait = || self.quiet.wait(|| self.live(), own, &spec);
        match own {
            true => wait(),
            false => elsewhere(wait),
        }
    }

    /// Drives until no fiber is left; returns true then. It does not look again: a fiber that is
    /// spawned from outside after that would wait for the next drive. Returns false if the caller is
    /// interrupted, or may not drive. A thread that need not drive is not bound.
    fn drive_until_idle(self: &Arc<Self>) -> bool {
        let is_interrupted = || deadline::pending().is_some();
        let is_over = || self.live() == 0 || is_interrupted();
        while !is_over() {
            if !self.bind() {
                return false;
            }
            let limit = deadline::in_force().map(|_| {
                let look = now() + LOOK;
                deadline::nearest().map_or(look, |limit| look.min(limit.get().at()))
            });
            self.drive(Drive::Until(&is_over, limit));
        }
        !is_interrupted()
    }

    /// True if the caller runs on one of this pool's threads.
    pub(crate) fn is_current(self: &Arc<Self>) -> bool {
        pool_of(current::local()).is_some_and(|pool| Arc::ptr_eq(pool, self))
    }

    /// True if the caller is this pool's start hook, on a thread that runs fibers only when the
    /// hook has returned.
    pub(crate) fn is_starting(self: &Arc<Self>) -> bool {
        std::ptr::eq(current::local().starting(), Arc::as_ptr(self).cast())
    }

    /// Panics before a wait for fibers of this pool in its start hook: they may be waiting for that
    /// hook.
    ///
    /// # Panics
    /// In this pool's start hook.
    #[track_caller]
    pub(crate) fn refuse_in_start_hook(self: &Arc<Self>) {
        assert!(!self.is_starting(), "{}", current::IN_START_HOOK);
    }

    /// Returns the fibers that have not ended; `None` if all have. A worker that does not answer
    /// reports none. `quiet`: the wait for their ends has succeeded.
    fn stop(self: &Arc<Self>, quiet: bool) -> Option<Vec<FiberInfo>> {
        // A spawn that has been counted, and is being rejected, is not a fiber that is left.
        let alive = !quiet && self.live() > 0;
        self.enter(Phase::Stopped);
        let left = alive.then(|| self.fibers());
        if self.is_by_hand() {
            self.put_worker_away();
        }
        if !alive {
            self.join_threads(&[]);
            self.report_end();
            return left;
        }
        // Only threads past their last step are waited for: a destructor of the user's may hold up
        // any other.
        let stay: Vec<usize> = (0..self.remotes.len())
            .filter(|&worker| !self.remotes[worker].thread.has_ended())
            .collect();
        self.join_threads(&stay);
        self.report_end();
        left
    }
}

impl Worker {
    /// True if the pool has entered a phase that this worker has not acted on, or has a request of
    /// an observer that it has not answered.
    pub(in crate::sched) fn unnoticed_phase(&self) -> bool {
        self.has_new_phase() || self.owes_answer()
    }

    /// True if the pool has entered a phase that this worker has not acted on.
    pub(in crate::sched) fn has_new_phase(&self) -> bool {
        self.role.seen() != self.pool.phase()
    }
}
