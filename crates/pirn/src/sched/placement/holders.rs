//! Holders: threads for the fibers of lines that compute for long or block in the system.
//!
//! Other fibers on the same worker would wait for as long as such a fiber holds the thread.
//! So it starts on a *holder*: a standby worker that takes no other fibers. The system divides
//! the processors among the threads. Members are left to the fibers that yield.
//!
//! Owns: which holder a fiber starts on, and how many there are. Does not own: which lines hold
//! their threads (`lines`), nor a standby worker's life (`sched::policy::standby`,
//! `sched::policy::threads`). A holder is `Draining` from its start, and runs only what is placed
//! on it.
//!
//! | use of the thread | holders, at most |
//! |---|---|
//! | computes | as many as there are members, minus the active standby workers; while fibers wait behind others for `RISE`, twice the members, active standby workers included |
//! | blocks | as long as the pool has fewer than `max_threads` threads in all |
//!
//! The first choice is a holder without fibers, the second a new holder, the third the holder
//! with the fewest fibers. A holder that has nothing to run takes a fiber that was placed on a
//! stuck holder, so that fibers that never yield are balanced when a holder becomes idle.
//!
//! LIVENESS: a fiber is placed, and its holder started or unparked, under the lock of `Threads`.
//! Under the same lock a holder without fibers ends (`Pool::dismiss`). A holder that is about to
//! sleep looks at its `placed` queue after the fence of `Idle::sleep_apart`, or finds the token
//! of the unpark.

use std::sync::Arc;

use crate::fiber::FiberPtr;
use crate::sched::placement::lines::{LineClass, Spread};
use crate::sched::pool::remote::Remote;
use crate::sched::pool::shared::Pool;
use crate::sched::pool::threads::decisions::ScaleReason;
use crate::sched::pool::threads::duty::Duty;
use crate::sched::worker::run::Worker;

/// The use that the fibers of a line make of their thread.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
#[repr(u32)]
pub(in crate::sched) enum ThreadUse {
    Computes = 1,
    Blocks = 2,
}

impl LineClass {
    /// Returns how fibers of the line hold their threads; `None` if they do not.
    pub(in crate::sched) fn holds(self) -> Option<ThreadUse> {
        match self {
            LineClass::Computes => Some(ThreadUse::Computes),
            LineClass::Blocks => Some(ThreadUse::Blocks),
            _ => None,
        }
    }
}

impl Remote {
    /// Whether the worker is a holder for fibers with this use.
    fn holds(&self, how: ThreadUse) -> bool {
        // A `Dead` worker has been dismissed, and is about to end.
        self.thread.is_launched()
            && self.thread.duty.get() != Duty::Dead
            && self.thread.holder() == how as u32
    }

    /// Whether the worker is a holder.
    pub(in crate::sched) fn is_holder(&self) -> bool {
        self.thread.holder() != 0
    }
}

impl Pool {
    /// Whether there may be holders.
    pub(in crate::sched) fn can_place_apart(&self) -> bool {
        self.is_elastic() && self.config.spread_in_effect() != Spread::Never
    }

    /// Places `fiber` on a holder. Returns false, without effect, if there is none and none may
    /// be added.
    pub(super) fn place_apart(
        self: &Arc<Self>,
        fiber: FiberPtr,
        line: usize,
        how: ThreadUse,
    ) -> bool {
        if !self.can_place_apart() {
            return false;
        }
        let mut list = self.threads.lock();
        let members = self.workers();
        let standby = || self.remotes.iter().enumerate().skip(members);
        let holders = || standby().filter(|(_, remote)| remote.holds(how));
        let least = holders().min_by_key(|(_, remote)| remote.assigned());
        if let Some((worker, remote)) = least
            && remote.assigned() == 0
        {
            remote.place(worker, fiber, line);
            remote.inbox.unpark();
            return true;
        }
        // Standby workers that replace computing members may compute too.
        let others = standby().filter(|(_, remote)| {
            remote.thread.is_launched() && remote.thread.duty.get() == Duty::Active
        });
        let most = match how {
            ThreadUse::Computes => members.saturating_sub(others.count()),
            ThreadUse::Blocks => self.config.threads.most,
        };
        if holders().count() < most
            && let Some(worker) = self.free_place()
        {
            self.remotes.fill(worker + 1);
            let remote = &self.remotes[worker];
            remote.place(worker, fiber, line);
            if self.start_holder(&mut list, worker, how as u32) {
                self.decided(ScaleReason::Apart);
                return true;
            }
            self.decided(ScaleReason::NoThread);
            // LOCK: a worker that is woken for the fiber may need a thread.
            drop(list);
            // The fiber starts on the worker that finds it.
            self.release_placed(worker);
            return true;
        }
        let Some((worker, remote)) = least else {
            return false;
        };
        remote.place(worker, fiber, line);
        remote.inbox.unpark();
        true
    }

    /// Relieves a holder on which fibers have waited for `RISE` behind others.
    ///
    /// Fibers of a line that blocks move to the injector, since the number of threads is at its
    /// limit. So do those behind a fiber that has `blocked` its thread, whatever its line, since it
    /// may wait for one of them. For fibers that compute, one more holder starts, up to twice as
    /// many as there are members: a fiber that runs may wait for one that is queued.
    pub(in crate::sched) fn relieve_holder(
        self: &Arc<Self>,
        worker: usize,
        blocked: bool,
    ) {
        let remote = &self.remotes[worker];
        if blocked || remote.holds(ThreadUse::Blocks) {
            self.release_placed(worker);
            return;
        }
        let mut list = self.threads.lock();
        // Holders for fibers that block use no processor.
        let standby = self.remotes.iter().skip(self.workers());
        let there = standby.filter(|remote| {
            remote.thread.is_launched() && !remote.holds(ThreadUse::Blocks)
        });
        if there.count() >= 2 * self.workers() {
            return;
        }
        let Some(new) = self.free_place() else {
            return;
        };
        self.remotes.fill(new + 1);
        // The new holder takes fibers of the stuck one (`take_from_stuck_holder`).
        let how = ThreadUse::Computes as u32;
        let reason = match self.start_holder(&mut list, new, how) {
            true => ScaleReason::Apart,
            false => ScaleReason::NoThread,
        };
        self.decided(reason);
    }

    /// Wakes a sleeping holder of the same kind as `stuck`, if there is one, to take the fibers
    /// placed on `stuck`.
    pub(in crate::sched) fn wake_holder(&self, stuck: &Remote) {
        let kind = stuck.thread.holder();
        let idle = self.remotes.iter().find(|remote| {
            remote.thread.is_launched()
                && remote.thread.holder() == kind
                && remote.inbox.is_parked()
        });
        if let Some(idle) = idle {
            idle.inbox.unpark();
        }
    }
}

impl Worker {
    /// Takes a fiber that was placed on another holder of the same kind, which is stuck.
    pub(in crate::sched) fn take_from_stuck_holder(&self) -> Option<FiberPtr> {
        let own = self.remote().thread.holder();
        if own == 0 {
            return None;
        }
        let others = self.pool.remotes.iter().filter(|remote| {
            remote.thread.holder() == own
                && remote.notes.is_stuck()
                && !remote.placed.is_empty()
        });
        let longest = others.max_by_key(|remote| remote.placed.len())?;
        longest.pop_placed()
    }
}
