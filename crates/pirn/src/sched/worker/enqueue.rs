//! Where a fiber is put: fresh ones at spawn, settled ones when they are woken.
//!
//! A spawn goes to the spawner's own `next` slot, and what was there moves to the ring, so
//! short-lived fibers run hot and in the same place. Two rules send work elsewhere. *Balance*
//! (`sched::placement::balance`): a worker that is about to start a fiber of a spread line hands it
//! to the worker with the fewest fibers of that line. *Surplus*: another worker is woken only when
//! the queue here is worth its wake-up. The monitor handles a shorter queue that is still there
//! after a while.

use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Instant;

use crate::base::choice::Pick;
use crate::base::list::Fifo;
use crate::context::Stack;
use crate::events::Kind;
use crate::fiber::current::{self, Local};
use crate::fiber::jobs::promote_all;
use crate::fiber::panic_payload::Witness;
use crate::fiber::stackless::BorrowTarget;
use crate::fiber::{FiberHead, FiberPtr, FiberRef, Schedule, Ticket};
use crate::sched::deterministic::control;
use crate::sched::pool::phase::Phase;
use crate::sched::pool::remote::Remote;
use crate::sched::pool::shared::Pool;
use crate::sched::queue::inbox::Inbox;
use crate::sched::queue::next_slot::NextItem;
use crate::sched::worker::run::Worker;
#[cfg(all(target_os = "linux", not(pirn_modelled)))]
use crate::sys::Process;
use crate::timer::Timer;

/// Queues a fresh fiber in `pool`; gives it back if the pool takes none any more.
#[inline]
pub(crate) fn spawn(
    pool: &Arc<Pool>,
    local: &Local,
    fiber: FiberPtr,
) -> Result<(), FiberPtr> {
    match Worker::of(local) {
        Some(worker) if Arc::ptr_eq(&worker.pool, pool) => worker.spawn(fiber),
        _ if pool.admit() => pool.inject(fiber),
        _ => Err(fiber),
    }
}

/// As [`spawn`], with a say on where the fiber starts: apart from others, or where it is found
/// first, whatever its spawn line has done before.
pub(crate) fn spawn_placed(
    pool: &Arc<Pool>,
    local: &Local,
    fiber: FiberPtr,
    apart: bool,
) -> Result<(), FiberPtr> {
    let header = fiber.header();
    let placement = match apart {
        true => pool.lines.tag_apart(header.location()),
        false => 0,
    };
    header.placement.set(placement);
    let queued = match Worker::of(local) {
        Some(worker) if Arc::ptr_eq(&worker.pool, pool) => worker.spawn_tagged(fiber),
        _ if pool.admit() => pool.inject_tagged(fiber),
        _ => Err(fiber),
    };
    if queued.is_err() {
        pool.lines.untag(header.placement.replace(0));
    }
    queued
}

/// Counts a fiber in that is about to be queued in `pool`; false if the pool takes none any more.
/// The caller then queues it with [`queue`].
pub(crate) fn admit(pool: &Arc<Pool>, local: &Local) -> bool {
    match Worker::of(local) {
        Some(worker) if Arc::ptr_eq(&worker.pool, pool) => worker.admit(),
        _ => pool.admit(),
    }
}

/// Queues a fresh fiber that has been admitted; gives it back if the pool has stopped meanwhile.
pub(crate) fn queue(
    pool: &Arc<Pool>,
    local: &Local,
    fiber: FiberPtr,
) -> Result<(), FiberPtr> {
    match Worker::of(local) {
        Some(worker) if Arc::ptr_eq(&worker.pool, pool) => {
            worker.queue_new(fiber);
            Ok(())
        }
        _ => pool.inject(fiber),
    }
}

/// Settles a fresh fiber on the calling fiber's worker, where it is the next to run as soon as the
/// caller yields. `Err` if there is no such worker, or its pool takes no fibers any more, or has no
/// stack for it.
pub(crate) fn settle_here(local: &Local, fiber: FiberPtr) -> Result<(), FiberPtr> {
    match Worker::of(local) {
        Some(worker) if local.fiber().is_some() => worker.settle_next(fiber),
        _ => Err(fiber),
    }
}

/// True if a fiber that the running one spawns may start apart from the workers, and the running
/// one has not.
pub(crate) fn may_start_apart(local: &Local) -> bool {
    Worker::of(local).is_some_and(|worker| {
        worker.pool.can_place_apart() && !worker.remote().is_holder()
    })
}

/// Returns the pool that this thread's fiber or worker belongs to.
#[inline]
pub(crate) fn pool_of(local: &Local) -> Option<&Arc<Pool>> {
    Worker::of(local).map(|worker| &worker.pool)
}

/// Returns the pool in the start hook of which this thread is.
pub(crate) fn starting_pool(local: &Local) -> Option<Arc<Pool>> {
    let pool: *const Pool = local.starting().cast();
    if pool.is_null() {
        return None;
    }
    // SAFETY: of an `Arc` that the caller of the hook keeps until the hook has ended.
    let kept = ManuallyDrop::new(unsafe { Arc::from_raw(pool) });
    Some(Arc::clone(&kept))
}

/// Returns the process that made the pool of this thread.
#[cfg(all(target_os = "linux", not(pirn_modelled)))]
pub(crate) fn process_of(local: &Local) -> Option<Process> {
    pool_of(local).map(|pool| pool.config.libc.process)
}

/// Returns whether calls of libc park the fibers of this thread's pool.
#[cfg(all(target_os = "linux", not(pirn_modelled)))]
pub(crate) fn parks_in_libc(local: &Local) -> bool {
    pool_of(local).is_some_and(|pool| pool.config.libc.park)
}

/// Returns whether stalls are reported in the pool of this thread.
#[cfg(all(target_os = "linux", not(pirn_modelled)))]
pub(crate) fn reports_stalls(local: &Local) -> bool {
    pool_of(local).is_some_and(|pool| pool.stall_threshold().is_some())
}

/// Queues a fresh fiber with the pool that this thread works for. `Err` if this thread is
/// no worker, or the pool takes no fibers any more.
#[inline]
pub(crate) fn spawn_here(local: &Local, fiber: FiberPtr) -> Result<(), FiberPtr> {
    match Worker::of(local) {
        Some(worker) => worker.spawn(fiber),
        None => Err(fiber),
    }
}

/// As [`spawn_here`], with a say on where the fiber starts ([`spawn_placed`]).
pub(crate) fn spawn_placed_here(
    local: &Local,
    fiber: FiberPtr,
    apart: bool,
) -> Result<(), FiberPtr> {
    match Worker::of(local) {
        Some(worker) => spawn_placed(&worker.pool, local, fiber, apart),
        None => Err(fiber),
    }
}

/// While this lives, the worker that the fiber runs on now takes no fresh fibers: the fiber blocks
/// its thread.
pub(crate) struct Absence {
    /// That worker; none on a thread that runs no fiber.
    remote: Option<NonNull<Remote>>,
}

impl Absence {
    pub(crate) fn begin(local: &Local) -> Absence {
        let worker = Worker::of(local).filter(|_| local.fiber().is_some());
        if let Some(worker) = worker {
            // The fiber blocks its thread: others can run its jobs meanwhile. Not in a poll: the join
            // of a job that is a fiber would let others run on this stack before the poll ends.
            if !local.is_polling() {
                promote_all(local);
            }
            worker.begin_in_place();
        }
        Absence {
            remote: worker.map(|worker| NonNull::from(worker.remote())),
        }
    }
}

impl Drop for Absence {
    fn drop(&mut self) {
        let Some(remote) = self.remote else { return };
        // SAFETY: part of the pool, which lives as long as the fiber.
        let remote = unsafe { remote.as_ref() };
        match Worker::of(current::local()) {
            Some(worker) if std::ptr::eq(worker.remote(), remote) => {
                worker.end_in_place();
            }
            // The fiber has migrated; that worker notices by itself.
            _ => {
                remote.thread.end_in_place();
            }
        }
    }
}

impl Worker {
    #[inline]
    fn spawn(&self, fiber: FiberPtr) -> Result<(), FiberPtr> {
        if !self.admit() {
            return Err(fiber);
        }
        self.queue_new(fiber);
        Ok(())
    }

    /// As [`spawn`](Self::spawn), with the placement that the fiber has.
    fn spawn_tagged(&self, fiber: FiberPtr) -> Result<(), FiberPtr> {
        if !self.admit() {
            return Err(fiber);
        }
        self.queue(fiber);
        Ok(())
    }

    /// Queues a spawned fiber, with the tag of its spawn line.
    #[inline]
    fn queue_new(&self, fiber: FiberPtr) {
        let header = fiber.header();
        let tag = self.pool.lines.tag(header.location());
        if tag != 0 {
            header.placement.set(tag);
        }
        self.queue(fiber);
    }

    #[inline]
    fn admit(&self) -> bool {
        let open = self.pool.phase() < Phase::Cancelled;
        if open {
            self.remote().counters.spawned.increment();
        }
        open
    }

    /// Settles `fiber` here and makes it run as soon as the running one yields. A fiber that was
    /// already queued so goes to the back of the ready list.
    fn settle_next(&self, fiber: FiberPtr) -> Result<(), FiberPtr> {
        if self.pool.phase() >= Phase::Cancelled || !self.start_if_possible(fiber) {
            return Err(fiber);
        }
        self.remote().counters.spawned.increment();
        self.record(Kind::Spawn, fiber);
        self.record(Kind::Start, fiber);
        if let Some(other) = self.queues.replace_first(fiber) {
            self.push_started(other);
        }
        self.force_maintenance();
        Ok(())
    }

    /// Returns whether others are to take the fresh fibers. No other worker may be left to do so once
    /// the pool is cancelled.
    #[inline]
    fn forwards_fresh(&self) -> bool {
        self.role.forwards_fresh() && self.pool.phase() < Phase::Cancelled
    }

    #[inline]
    fn queue(&self, fiber: FiberPtr) {
        let remote = self.remote();
        self.record(Kind::Spawn, fiber);
        if self.forwards_fresh() {
            if self.pool.inject_from(self.index, fiber) {
                remote.counters.wakes.increment();
            }
            return;
        }
        match remote.next.put(NextItem::Fresh(fiber)) {
            None => {}
            Some(NextItem::Fresh(evicted)) => self.keep_fresh(evicted),
            Some(NextItem::Settled(evicted)) => self.queues.push_ready(evicted),
        }
        if self.pool.idle.sleepers_hint() {
            self.offer_surplus();
        } else {
            self.pool.monitor.resume_if_stopped();
        }
    }

    /// Queues a fresh fiber that was a job of the running one. `wanted`: a worker waits for exactly
    /// this, so it goes where others take from at once.
    ///
    /// It is taken even if the pool is cancelled: the other half may wait for it, and lives, so
    /// that the pool is not quiet. From then on it is settled here, where its owner holds the
    /// worker; the others may have ended.
    pub(in crate::sched) fn queue_job(&self, fiber: FiberPtr, wanted: bool) {
        self.remote().counters.spawned.increment();
        if self.pool.phase() >= Phase::Cancelled {
            self.settle_job(fiber);
            return;
        }
        if !wanted || self.role.forwards_fresh() || self.seeded.is_some() {
            self.queue(fiber);
            return;
        }
        self.record(Kind::Spawn, fiber);
        self.keep_fresh(fiber);
        // LIVENESS: published to all, so the publisher's part of `idle` is due (P1-P4).
        if self.pool.idle.sleepers_hint() && self.pool.wake_one(self.index + 1) {
            self.remote().counters.wakes.increment();
        }
    }

    /// Makes a job that has become a fiber start on this worker.
    #[cold]
    fn settle_job(&self, fiber: FiberPtr) {
        self.record(Kind::Spawn, fiber);
        if self.start(fiber) {
            self.start_settled(fiber);
        }
    }

    /// Makes a fiber that has just settled here run when it is its turn.
    #[cold]
    pub(super) fn start_settled(&self, fiber: FiberPtr) {
        self.record(Kind::Start, fiber);
        self.push_started(fiber);
    }

    /// Puts a fiber that has started here behind the others that are ready.
    fn push_started(&self, fiber: FiberPtr) {
        if self.migration.is_on() {
            self.publish_ready(fiber);
        } else {
            self.queues.push_ready(fiber);
        }
    }

    /// Puts a fresh fiber at the end of the ring.
    #[inline]
    pub(in crate::sched) fn keep_fresh(&self, fiber: FiberPtr) {
        if self.migration.is_on() && self.keep_started(fiber) {
            return;
        }
        if let Err(fiber) = self.remote().ring.push(fiber) {
            self.overflow(fiber);
        }
    }

    #[cold]
    fn overflow(&self, fiber: FiberPtr) {
        let remote = self.remote();
        remote.counters.overflows.increment();
        self.record(Kind::Overflow, fiber);
        let mut batch = Fifo::new();
        remote
            .ring
            .push_overflow(fiber, |moved| batch.push_back(moved));
        if !batch.is_empty() {
            let shard = self.pool.shard(self.index);
            self.pool.injector.spill(shard, batch);
            // LIVENESS: published to all, so the publisher's part of `idle` is due (P1-P4):
            // the ring has looked empty for a moment.
            if self.pool.wake_one(self.index + 1) {
                remote.counters.wakes.increment();
            }
        }
    }

    /// Wakes a sleeper if the queue here is worth it; else makes the monitor watch it.
    #[cold]
    pub(in crate::sched) fn offer_surplus(&self) {
        let queued = self.remote().queued()
            + self.pool.injector.shard_len(self.pool.shard(self.index));
        let counters = &self.remote().counters;
        if self.maintenance.intervals.is_surplus(queued) {
            counters.surplus_found.increment();
            if self.pool.wake_one(self.index + 1) {
                counters.wakes.increment();
            }
        } else {
            counters.surplus_missed.increment();
            self.pool.monitor.attend();
        }
    }

    /// Counts a fiber that stops running to wait. (A function of its own, since without inlining
    /// its locals would enlarge the frame on every parked stack.)
    #[inline]
    fn count_park(&self) {
        self.remote().counters.fiber_parks.increment();
    }

    /// Wakes a fiber of this worker on this worker.
    #[inline]
    fn wake_here(&self, local: &Local, fiber: FiberPtr) {
        self.remote().counters.fiber_wakes.increment();
        if local.fiber().is_none() {
            // Woken by the worker itself (a timer, the inbox): its data is not hot.
            self.queues.push_ready(fiber);
            return;
        }
        if let Some(evicted) = self.remote().next.put(NextItem::Settled(fiber)) {
            self.put_back(evicted);
        }
    }
}

/// The home of a settled fiber: the inbox of its worker.
impl Schedule for Inbox<FiberHead> {
    #[inline]
    fn schedule(&self, fiber: FiberPtr) {
        let local = current::local();
        let worker = Worker::of(local);
        if let Some(worker) = worker {
            worker.record(Kind::Wake, fiber);
        }
        match worker {
            Some(worker) if std::ptr::eq(worker.remote().inbox, self) => {
                worker.wake_here(local, fiber);
            }
            _ => {
                if self.push(fiber) {
                    self.unpark();
                }
            }
        }
    }

    #[inline]
    unsafe fn suspend(&self, local: &Local, fiber: FiberPtr) {
        let worker = Worker::here(local);
        worker.count_park();
        // SAFETY: the caller's promise, passed on.
        unsafe { worker.suspend(local, fiber) };
    }

    #[inline]
    unsafe fn requeue(&self, local: &Local, fiber: FiberPtr) {
        let worker = Worker::here(local);
        worker.queues.push_ready(fiber);
        // SAFETY: the caller's promise, and the fiber is in a queue.
        unsafe { worker.suspend(local, fiber) };
    }

    fn on_arrival(&self, local: &Local) {
        Worker::here(local).on_arrival(local);
    }

    fn saw_close(&self, local: &Local, fiber: FiberPtr, channel: usize) {
        Worker::here(local).saw_close(fiber, channel);
    }

    #[cfg(feature = "sim")]
    fn before_end(&self, fiber: FiberPtr) {
        let address = (&raw const *fiber.header()).addr();
        crate::wait::point(crate::base::choice::Operation::End, address);
    }

    unsafe fn ended(&self, local: &Local, fiber: FiberPtr, joiner: usize) -> FiberPtr {
        // SAFETY: the caller's promise, passed on.
        unsafe { Worker::here(local).succeed(local, fiber, joiner) }
    }

    unsafe fn arm(&self, timer: NonNull<Timer<Ticket>>, deadline: u64) -> usize {
        // SAFETY: the caller's promise, passed on.
        unsafe { Worker::here(current::local()).arm(timer, deadline) }
    }

    unsafe fn disarm(&self, timer: NonNull<Timer<Ticket>>, wheel: usize) -> bool {
        // SAFETY: the caller's promise, passed on.
        unsafe { Worker::here(current::local()).disarm(timer, wheel) }
    }

    fn others_wait(&self, observers: bool) -> bool {
        Worker::of(current::local()).is_some_and(|worker| worker.others_wait(observers))
    }

    fn has_cancelled_all(&self, local: &Local) -> bool {
        // The worker cancels its fibers between two of them.
        Worker::of(local).is_some_and(|worker| worker.pool.phase() >= Phase::Cancelled)
    }

    #[inline]
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

    fn pick(&self, pick: Pick, count: usize) -> usize {
        control::pick(pick, count)
    }

    fn time_is_virtual(&self) -> bool {
        Worker::of(current::local()).is_some_and(|worker| worker.seeded.is_some())
    }
}
