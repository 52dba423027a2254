//! Fibers that may migrate: how they leave a stack, and where they are put when they are woken.
//!
//! Owns: the steps of a worker that differ where fibers are free. Does not own: the queues that
//! workers share there (`shared_queues`), stealing (`sched::worker::park`, as for fresh fibers),
//! the help of the monitor for a stuck worker (`sched::policy::sysmon`), or reports
//! (`observe::report::survey`).
//!
//! A free fiber that may run is queued where a fresh one could be: in a `next` slot, a ring, a
//! worker's common ready list, or the injector. Any worker may take it from each of them, so a
//! worker that blocks or computes delays only the fiber that it runs.
//!
//! 1. The fiber finds its successor, leaves its pointer and its [`AfterSwitch`], and switches.
//! 2. The successor on this thread first completes the switch: parks the fiber, or queues it. From
//!    then on another thread may be on the stack that was left.
//! 3. A waker on a worker of the pool puts the fiber there; any other waker pushes it to the
//!    injector and wakes a worker.
//! 4. The fiber resumes, and reads the record of its present thread again.
//!
//! LIVENESS: a claim before step 2's `park` enqueues nothing and is found by it; a claim after it
//! enqueues the fiber (ST3). In between there is nothing: both are read-modify-writes of one word.
//!
//! Wakes are published as spawns are: a surplus wakes a sleeper, and less is left to the monitor. A
//! wake from outside always wakes a worker.

use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::time::Instant;

use crate::context::{self, Stack};
use crate::events::Kind;
use crate::fiber::current::{self, Local};
use crate::fiber::panic_payload::Witness;
use crate::fiber::stackless::BorrowTarget;
use crate::fiber::state::Parked;
use crate::fiber::state_names::State;
use crate::fiber::{
    AfterSwitch, FiberHead, FiberPtr, FiberRef, Header, Schedule, Ticket,
};
use crate::sched::migrate::shared_queues::SharedQueues;
use crate::sched::pool::phase::Phase;
use crate::sched::pool::shared::Pool;
use crate::sched::queue::inbox::Inbox;
use crate::sched::queue::next_slot::NextItem;
use crate::sched::worker::run::Worker;
use crate::timer::Timer;

impl Worker {
    /// Runs something else in place of `fiber`; returns when it is resumed, on any worker.
    ///
    /// # Safety
    /// As `Schedule::leave`, on this worker.
    unsafe fn leave(&self, local: &Local, fiber: FiberPtr, after: AfterSwitch) {
        crate::sched::worker::checks::leaving(fiber);
        let due = self.maintenance.is_due();
        let remote = self.remote();
        let next = self.next_on_fiber(remote);
        if next.is_none() && !due && context::DIRECT && after == AfterSwitch::RunAgain {
            self.set_running(remote, local, fiber);
            return;
        }
        let to = self.destination(remote, local, next);
        let from = fiber.header().context();
        local.set_left(fiber, Some(after));
        if after != AfterSwitch::RunAgain {
            self.remote().counters.fiber_parks.increment();
        }
        // SAFETY: `fiber` runs; `to` is the worker's own side, or a fiber that came out of
        // a queue and so is suspended or prepared. Nothing of this thread is used after it.
        unsafe { context::switch(from, to) };
        let local = current::local();
        let worker = Worker::here(local);
        worker.on_arrival(local);
        if after != AfterSwitch::RunAgain {
            worker.remote().counters.fiber_wakes.increment();
        }
    }

    /// As `succeed`, out of line.
    ///
    /// # Safety
    /// As `Schedule::ended`, on this worker.
    #[inline(never)]
    unsafe fn succeed_free(
        &self,
        local: &Local,
        fiber: FiberPtr,
        joiner: usize,
    ) -> FiberPtr {
        // SAFETY: the caller's promise, passed on.
        unsafe { self.succeed(local, fiber, joiner) }
    }

    /// Step 2: completes the switch of a fiber that has just been left here.
    #[inline(never)]
    pub(in crate::sched) fn complete(
        &self,
        local: &Local,
        fiber: FiberPtr,
        after: AfterSwitch,
    ) {
        match after {
            AfterSwitch::RunAgain => self.publish_ready(fiber),
            AfterSwitch::Park { epoch, accepts } => {
                let header = fiber.header();
                if let Parked::Claimed(_) = header.state.park(epoch, accepts) {
                    header.life.step(State::Runnable);
                    header.flags.set_claimed_early();
                    self.record(Kind::Wake, fiber);
                    self.wake_free(local, fiber);
                } else {
                    header.life.parked();
                }
            }
        }
    }

    /// Queues a fiber of this pool that may run, for this worker or any other.
    fn wake_free(&self, local: &Local, fiber: FiberPtr) {
        if self.role.forwards_fresh() || local.fiber().is_none() {
            self.publish_ready(fiber);
            return;
        }
        if let Some(item) = self.remote().next.put(NextItem::Fresh(fiber)) {
            self.put_back(item);
        }
        self.offer();
    }

    /// Queues `fiber` behind other started fibers, if it has started. A ring is short, and fibers
    /// that spill from it are popped last in, first out.
    #[inline(never)]
    pub(in crate::sched) fn keep_started(&self, fiber: FiberPtr) -> bool {
        let shared_queues = self
            .migration
            .queues()
            .filter(|_| !fiber.header().is_fresh());
        shared_queues
            .inspect(|shared_queues| shared_queues.push(fiber))
            .is_some()
    }

    /// Completes a free fiber's start.
    #[inline(never)]
    pub(in crate::sched) fn settle_free(
        &self,
        shared_queues: &'static SharedQueues,
        fiber: FiberPtr,
    ) {
        let remote = self.remote();
        fiber.header().set_home(shared_queues);
        shared_queues.enter(fiber, &remote.settled);
        remote.counters.started.increment();
        // After that: see `Remotes::cancel_started`.
        if self.pool.phase() >= Phase::Cancelled {
            // An active fiber: there is nothing to enqueue.
            fiber.header().cancel_with_runtime();
        }
    }

    /// Removes a free fiber that has ended from the lists, also from those of the worker that it
    /// started on.
    #[inline(never)]
    pub(in crate::sched) fn retire_free(&self, fiber: FiberPtr) {
        // SAFETY: it has ended, so it is neither pinned nor waits in place.
        let home = unsafe { home_of(fiber) };
        fiber.header().state.finish();
        fiber.header().life.end();
        home.leave(fiber, &self.pool.remotes[home.worker()].settled);
        self.remote().counters.completed.increment();
        // SAFETY: the runtime's reference, owned by the worker that ends the fiber.
        unsafe { Header::release(fiber) };
        self.pool.look_for_quiet();
        if self.pool.phase() == Phase::Stopped {
            // LIVENESS: they stay for the last fiber only.
            self.pool.wake_all_workers();
            self.pool.monitor.look_now();
        }
    }

    /// Queues a fiber of this pool behind all others.
    pub(in crate::sched) fn publish_ready(&self, fiber: FiberPtr) {
        match self.migration.queues() {
            Some(shared_queues) if !self.role.forwards_fresh() => {
                shared_queues.push(fiber);
                self.offer();
            }
            _ => {
                if self.pool.inject_from(self.index, fiber) {
                    self.remote().counters.wakes.increment();
                }
            }
        }
    }

    /// Offers what is queued here to other workers.
    fn offer(&self) {
        if self.pool.idle.sleepers_hint() {
            self.offer_surplus();
        } else {
            self.pool.monitor.resume_if_stopped();
        }
    }

    /// Where fibers may migrate: true if this thread cannot end, since it has timers or fibers that
    /// wait for it alone. If the pool has stopped: since some fiber lives that only a worker could
    /// run.
    pub(in crate::sched) fn is_needed(&self) -> bool {
        debug_assert!(self.migration.is_on());
        self.pinned.get() > 0
            || self.migration.ready() > 0
            || self.migration.next_timer().is_some()
            || (self.pool.phase() == Phase::Stopped && self.pool.remotes.have_started())
    }
}

impl Pool {
    /// True if the monitor has something to watch: until the pool stops. Where fibers may migrate,
    /// until the last of them has ended, which may be behind one that blocks.
    pub(in crate::sched) fn is_watched(&self) -> bool {
        self.phase() != Phase::Stopped || (self.is_free() && self.remotes.have_started())
    }
}

/// Returns the pool of a fiber with this home.
///
/// # Safety
/// The caller has claimed such a fiber, and not enqueued it.
unsafe fn pool_of(home: &SharedQueues) -> Arc<Pool> {
    let pool = home.pool().cast::<Pool>();
    // SAFETY: CM2: a worker is there, and holds a reference.
    unsafe { Arc::increment_strong_count(pool) };
    // SAFETY: the reference just made.
    unsafe { Arc::from_raw(pool) }
}

/// Returns the home of `fiber`, where fibers may migrate.
///
/// # Safety
/// The fiber has started, is not pinned, and does not block its thread in place.
unsafe fn home_of(fiber: FiberPtr) -> &'static SharedQueues {
    // SAFETY: the caller's promise: the home is what `settle_free` has set, which is of this type.
    unsafe { &*ptr::from_ref(fiber.header().home()).cast::<SharedQueues>() }
}

/// The home of a free fiber: the shared queues of the worker that it started on.
impl Schedule for SharedQueues {
    fn schedule(&self, fiber: FiberPtr) {
        let local = current::local();
        if let Some(worker) = Worker::of(local) {
            worker.record(Kind::Wake, fiber);
            if self.is_of(Arc::as_ptr(&worker.pool).cast()) {
                worker.wake_free(local, fiber);
                return;
            }
        }
        // SAFETY: CM2: the caller has claimed the fiber.
        unsafe { pool_of(self) }.inject_woken(fiber);
    }

    unsafe fn suspend(&self, _local: &Local, _fiber: FiberPtr) {
        unreachable!("a free fiber parks off its stack");
    }

    unsafe fn requeue(&self, _local: &Local, _fiber: FiberPtr) {
        unreachable!("a free fiber is queued off its stack");
    }

    unsafe fn leave(&self, local: &Local, fiber: FiberPtr, after: AfterSwitch) {
        // SAFETY: the caller's promise, passed on.
        unsafe { Worker::here(local).leave(local, fiber, after) };
    }

    fn saw_close(&self, local: &Local, fiber: FiberPtr, channel: usize) {
        Worker::here(local).saw_close(fiber, channel);
    }

    fn pin(&self, local: &Local) -> &'static dyn Schedule {
        let worker = Worker::here(local);
        worker.pinned.set(worker.pinned.get() + 1);
        let inbox: &'static Inbox<FiberHead> = worker.remote().inbox;
        inbox
    }

    fn unpin(&self, local: &Local) {
        let worker = Worker::here(local);
        worker.pinned.set(worker.pinned.get() - 1);
    }

    fn on_arrival(&self, local: &Local) {
        Worker::here(local).on_arrival(local);
    }

    unsafe fn ended(&self, local: &Local, fiber: FiberPtr, joiner: usize) -> FiberPtr {
        // SAFETY: the caller's promise, passed on.
        unsafe { Worker::here(local).succeed_free(local, fiber, joiner) }
    }

    unsafe fn arm(&self, timer: NonNull<Timer<Ticket>>, deadline: u64) -> usize {
        // SAFETY: the caller's promise, passed on.
        unsafe { Worker::here(current::local()).arm_common(timer, deadline) }
    }

    unsafe fn disarm(&self, timer: NonNull<Timer<Ticket>>, wheel: usize) -> bool {
        // SAFETY: the caller's promise, passed on.
        unsafe { Worker::here(current::local()).disarm_common(wheel, timer) }
    }

    fn others_wait(&self, observers: bool) -> bool {
        Worker::of(current::local()).is_some_and(|worker| worker.others_wait(observers))
    }

    fn now(&self, local: &Local) -> Instant {
        Worker::here(local).present()
    }

    fn lend(&self, local: &Local, wanted: BorrowTarget) -> Option<FiberRef> {
        Worker::here(local).lend(wanted)
    }

    fn spare_stack(&self, local: &Local) -> Option<Stack> {
        Worker::here(local).spare_stack()
    }

    fn keep_spare(&self, local: &Local, stack: Stack) {
        Worker::here(local).keep_spare(stack);
    }

    fn witness(&self) -> Option<Witness> {
        Worker::of(current::local())?.pool.config.on_panic.clone()
    }
}
