//! Standby workers: those that a pool has beside its members while members are stuck, and those
//! that it no longer needs. Names in the code call them *apart*.
//!
//! Owns: how a worker follows its duty. Does not own: the word (`sched::pool::threads::duty`),
//! which worker is activated or retired, and why (`scale`), nor their threads (`threads`).
//!
//! A pool has as many *members* as it is meant to run at a time: the workers with the lowest
//! numbers, which take part in the protocol of `idle`. Any other worker is a standby worker.
//!
//! | duty | a member | a standby worker |
//! |---|---|---|
//! | `Active` | takes fresh fibers | takes fresh fibers while there are any |
//! | `Draining` | leaves the members | takes nothing new, hands on its fresh fibers |
//! | `Dead` | has no thread | has no thread, or one that ends |
//!
//! ```text
//!            launched                retired, or found nothing more to take
//!   Dead ───────────────▶ Active ────────────────────────────────▶ Draining
//!     ▲                     ▲                  activated               │ │
//!     │                     └──────────────────────────────────────────┘ │
//!     └──── no fiber that has started here lives, for KEEP ──────────────┘
//! ```
//!
//! Every change is made under the lock of `Threads`. So a worker that is activated is not about to
//! end, one that ends is not activated, and none retires of which the pool has just made a member.
//! A worker reads its duty at each maintenance and before it rests. The thread that changes it
//! unparks the worker after that, and the token of that unpark remains if the worker is on its way
//! to sleep.
//!
//! LIVENESS: nothing relies on a worker apart: no publisher counts it among the searchers or
//! sleepers. Fibers in its ring can be stolen. The fibers that it hands on are published like any
//! from outside. After a worker was activated, the monitor looks again later (`sysmon`).

use std::time::Duration;

use crate::base::list::Fifo;
use crate::sched::config::Scheduler;
use crate::sched::pool::phase::Phase;
use crate::sched::pool::threads::duty::Duty;
use crate::sched::pool::worker_state::WorkerState;
use crate::sched::queue::next_slot::NextItem;
use crate::sched::worker::run::Worker;
use crate::shim;

/// How long a worker apart stays without fibers. Arbitrary: longer than the pauses of a load that
/// blocks now and then, short for an observer of the threads.
const KEEP: Duration = Duration::from_secs(1);

impl Worker {
    /// Applies the worker's new duty.
    pub(in crate::sched) fn follow_duty(&self) {
        let duty = self.remote().thread.duty.follow();
        if duty == Duty::Dead {
            // On its way out.
            return;
        }
        if self.migration.is_on() {
            // A block that began here with `begin_in_place` may have ended elsewhere.
            self.set_forwards_fresh();
        }
        if duty == Duty::Draining {
            if self.is_member() {
                self.part();
            }
            if !self.role.set_draining(true) {
                self.set_state(WorkerState::Draining);
                self.set_forwards_fresh();
                self.hand_on();
            }
            return;
        }
        if self.role.set_draining(false) {
            self.set_state(WorkerState::Active);
            self.set_forwards_fresh();
        }
        if !self.is_member() && self.index < self.pool.workers() {
            self.remote().thread.set_member(true);
            self.pool.idle.join();
        }
    }

    /// Rests, on a worker apart that has nothing to run.
    pub(in crate::sched) fn rest_apart(&self) {
        if !self.role.is_draining() {
            // The injector too: it may have been activated since its last look there.
            if let Some(fiber) = self.fetch().or_else(|| self.steal()) {
                self.run_first(fiber);
                return;
            }
            self.retire_apart();
            self.follow_duty();
            if self.is_member() {
                return;
            }
        }
        if let Some(fiber) = self.take_from_stuck_holder() {
            self.run_first(fiber);
            return;
        }
        self.pool.idle.sleep_apart();
        if !self.pool.idle.all_asleep() {
            self.pool.monitor.resume();
        }
        let until = (!self.has_started()).then(|| shim::now() + KEEP);
        self.sleep_alone(until);
        self.pool.idle.wake_apart();
        let bored = until.is_some_and(|until| shim::now() >= until);
        if bored && self.remote().inbox.is_empty() && self.pool.dismiss(self.index) {
            self.role.set_leaving(true);
        }
    }

    /// Makes this worker take nothing new, unless the pool has been made so large that it is to
    /// become a member: it would stay retired, since `resize` has found it active.
    fn retire_apart(&self) {
        let _locked = self.pool.threads.lock();
        if self.index >= self.pool.workers() {
            // Failure: it has been retired meanwhile.
            let _ = self.remote().thread.duty.retire();
        }
    }

    /// True if the worker takes part in the protocol of `idle`.
    pub(in crate::sched) fn is_member(&self) -> bool {
        self.remote().thread.is_member()
    }

    /// Leaves the members.
    fn part(&self) {
        self.remote().thread.set_member(false);
        let last = self.pool.idle.part(self.search.end());
        // LIVENESS: a search does not end in silence (`idle`).
        if last && self.pool.has_visible_work() && self.pool.wake_one(self.index + 1) {
            self.remote().counters.wakes.increment();
        }
    }

    /// Gives up everything fresh that is queued here, and wakes a worker to look for it.
    fn hand_on(&self) {
        // A draining worker takes nothing back, and no other may be left in a cancelled pool.
        if self.role.is_draining() && self.pool.phase() >= Phase::Cancelled {
            return;
        }
        let remote = self.remote();
        let mut batch = Fifo::new();
        if let Some(item) = remote.next.take() {
            match item {
                NextItem::Fresh(fiber) => batch.push_back(fiber),
                NextItem::Settled(fiber) => self.queues.push_ready(fiber),
            }
        }
        while let Some(fiber) = remote.ring.pop() {
            batch.push_back(fiber);
        }
        let shard = self.pool.shard(self.index);
        let mut some = !batch.is_empty();
        if some {
            self.pool.injector.spill(shard, batch);
        }
        if self.migration.is_on()
            && let Some(fiber) = self.queues.take_first()
        {
            self.pool.injector.push(shard, fiber);
            some = true;
        }
        while let Some(fiber) = self.migration.pop() {
            self.pool.injector.push(shard, fiber);
            some = true;
        }
        if some && self.pool.wake_one(self.index + 1) {
            remote.counters.wakes.increment();
        }
        if self.role.is_draining() && !remote.is_holder() {
            self.pool.release_placed(self.index);
        }
    }

    /// Sets the target of spawns on this worker: the injector, if the worker takes nothing itself.
    pub(in crate::sched) fn set_forwards_fresh(&self) {
        let shared = self.pool.scheduler() == Scheduler::SingleQueue;
        self.role.set_forwards_fresh(
            shared || self.role.is_draining() || self.remote().thread.blocks_here(),
        );
    }

    /// Hands fresh fibers to other workers, since the running fiber is about to block this thread.
    pub(in crate::sched) fn begin_in_place(&self) {
        self.remote().thread.begin_in_place();
        self.set_forwards_fresh();
        self.hand_on();
        self.pool.stand_in();
    }

    /// Ends the blocking that `begin_in_place` began.
    pub(in crate::sched) fn end_in_place(&self) {
        self.remote().thread.end_in_place();
        self.set_forwards_fresh();
    }
}
