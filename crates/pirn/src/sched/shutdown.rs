//! The end of a pool, in numbered steps.
//!
//! 1. Admission is closed: for threads outside (Draining), or for everyone, and every
//!    started fiber is cancelled (Cancelled).
//! 2. The pool drains: whoever shuts it down waits until no fiber is left, or its time is
//!    up.
//! 3. The pool stops: workers without started fibers end and are joined. A worker that
//!    still has some reports them and goes on for as long as they live: their stacks may be
//!    borrowed from, and only this thread can resume them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::place::pool_of;
use super::pool::{Left, Phase, Pool};
use super::quiet::live;
use super::worker::Worker;
use crate::fiber::current;
use crate::shim;
use crate::shim::atomic::Ordering;
use crate::wait::{How, Reason, Spec};

/// How long workers have to report what they could not end. One that computes or sits in a
/// system call does not answer; its running fiber is named all the same.
/// Arbitrary: far more than a worker that can answer needs, and short for whoever waits.
const REPORT: Duration = Duration::from_millis(50);

impl Pool {
    /// Lets everything end that has been admitted, then stops. For ever, if need be.
    pub(crate) fn drain(self: &Arc<Self>) {
        self.enter(Phase::Draining);
        self.quiet
            .wait(|| live(self), false, &Spec::of(Reason::Idle));
        self.stop();
    }

    /// Cancels everything, waits until `deadline` and stops.
    ///
    /// # Errors
    /// The fibers that have not ended.
    pub(crate) fn shut_down(
        self: &Arc<Self>,
        deadline: Instant,
    ) -> Result<(), Vec<Left>> {
        self.cancel();
        let spec = Spec::of(Reason::Idle).until(Some(deadline));
        self.quiet.wait(|| live(self), false, &spec);
        let left = self.stop();
        if left.is_empty() { Ok(()) } else { Err(left) }
    }

    /// Step 1 for everyone: admission first, so that nothing comes after the cancellation.
    fn cancel(self: &Arc<Self>) {
        self.enter(Phase::Cancelled);
        self.root().cancel();
    }

    /// Cancels everything and lets go: called from a fiber of the pool itself, which cannot
    /// wait for its own end. The workers stop when nothing is left.
    pub(crate) fn abandon(self: &Arc<Self>) {
        self.cancel();
        self.end_alone(Phase::Cancelled);
    }

    /// Takes nothing more from outside and lets go: as [`drain`](Pool::drain), for one that
    /// cannot wait for it.
    pub(crate) fn drain_alone(self: &Arc<Self>) {
        self.end_alone(Phase::Draining);
    }

    fn end_alone(self: &Arc<Self>, phase: Phase) {
        self.enter(phase);
        let pool = Arc::clone(self);
        let name = format!("{}-shutdown", self.name());
        let waiter = shim::thread::spawn(name, move || {
            pool.quiet
                .wait(|| live(&pool), false, &Spec::of(Reason::Idle));
            pool.stop();
        });
        // Without a thread to wait, the workers stay, asleep, until the process ends.
        drop(waiter);
    }

    /// Waits until no fiber but the caller is left. `Err` when the wait was cancelled.
    #[track_caller]
    pub(crate) fn wait_idle(self: &Arc<Self>) -> How {
        self.refuse_in_start_hook();
        let own = self.is_current() && current::local().fiber().is_some();
        self.quiet
            .wait(|| live(self), own, &Spec::interruptible(Reason::Idle))
    }

    /// Whether the caller runs on one of this pool's threads.
    pub(crate) fn is_current(self: &Arc<Self>) -> bool {
        pool_of(current::local()).is_some_and(|pool| Arc::ptr_eq(pool, self))
    }

    /// Whether the caller is this pool's start hook, on a thread that runs fibers only when
    /// the hook has returned.
    pub(crate) fn is_starting(self: &Arc<Self>) -> bool {
        std::ptr::eq(current::local().starting(), Arc::as_ptr(self).cast())
    }

    /// Comes before a wait for fibers of this pool, which its start hook must not do: they
    /// may be waiting for that hook.
    ///
    /// # Panics
    /// In this pool's start hook.
    #[track_caller]
    pub(crate) fn refuse_in_start_hook(self: &Arc<Self>) {
        assert!(!self.is_starting(), "{}", current::IN_START_HOOK);
    }

    fn stop(self: &Arc<Self>) -> Vec<Left> {
        let alive = live(self) > 0;
        self.enter(Phase::Stopped);
        if !alive {
            self.join_threads(&[]);
            self.tell_end();
            return Vec::new();
        }
        #[expect(
            clippy::disallowed_methods,
            reason = "the shutting thread waits for reports"
        )]
        std::thread::sleep(REPORT);
        let mut left = std::mem::take(&mut *self.reports.lock());
        for (worker, remote) in self.remotes.iter().enumerate() {
            let settled = remote.settled.get();
            let reported = left.iter().filter(|left| left.worker == worker).count();
            if settled > reported {
                left.extend(Left::running(worker, remote));
            }
        }
        // Only threads that have done their last are waited for: a destructor of the user's
        // may hold up any other.
        let stay: Vec<usize> = (0..self.workers())
            .filter(|&worker| !self.remotes[worker].ended.load(Ordering::Acquire))
            .collect();
        self.join_threads(&stay);
        self.tell_end();
        left
    }
}

impl Worker {
    /// Whether the pool has entered a phase that this worker has not acted on.
    pub(super) fn unnoticed_phase(&self) -> bool {
        self.seen_phase() != self.pool.phase()
    }
}
