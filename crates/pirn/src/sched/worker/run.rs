//! A worker: one OS thread that runs fibers.
//!
//! Owns: the loop, and the switch from one fiber to the next. Does not own: the lists of fibers
//! that only this thread accesses (`queues`, `take`), where a fiber is found (`next_fiber`) or put
//! (`enqueue`), its first run and its end (`start_finish`), stacks (`stacks`), timers (`timers`),
//! or the thread's sleep (`park`).
//!
//! A fiber that stops running finds its successor itself and switches to it directly. One that has
//! ended passes its stack to the successor if that is fresh. Control returns to the worker's own
//! stack only when nothing is ready, or every `MAINTENANCE_INTERVAL` dispatches.
//!
//! Invariants:
//! * K1. A `Worker` lives on its own thread's stack (driven by hand, in a box of that thread) and
//!   is reached through that thread's `Local` only, so its fields need neither atomics nor locks.
//!   Each access to a field is one short borrow that calls nothing that could borrow the same field
//!   again.
//! * K2. Fibers run between two accesses, never during one.

use std::cell::{Cell, UnsafeCell};
use std::hint::cold_path;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use crate::base::clock;
use crate::base::drop_guard::end_caught;
use crate::context::{self, Context, StackCache};
use crate::events::Trace;
use crate::fiber::current::{self, Local};
use crate::fiber::state_names::State;
use crate::fiber::{AfterSwitch, FiberPtr, Ticket};
use crate::sched::config::Hook;
use crate::sched::deterministic::seeded::Seeded;
use crate::sched::io::driver::Io;
use crate::sched::migrate::migration::Migration;
use crate::sched::pool::phase::Phase;
use crate::sched::pool::remote::Remote;
use crate::sched::pool::shared::Pool;
use crate::sched::pool::worker_state::WorkerState;
use crate::sched::worker::checks;
use crate::sched::worker::records::joins::Joins;
use crate::sched::worker::records::maintenance::Maintenance;
use crate::sched::worker::records::queues::Queues;
use crate::sched::worker::records::role::Role;
use crate::sched::worker::records::search::Search;
use crate::shim::atomic::Ordering;
use crate::sys;
use crate::timer::Wheel;

/// Stacks that a worker keeps for itself. For a burst deeper than this it takes stacks from the
/// pool and returns them; arbitrary, no measurement yet.
const STACKS: usize = 64;

/// One worker. What only one part of the loop uses is in a record of that part.
pub(crate) struct Worker {
    pub(in crate::sched) pool: Arc<Pool>,
    pub(in crate::sched) index: usize,
    /// The part of this worker that others see: an element of the pool's list.
    remote: NonNull<Remote>,
    /// The context of this thread's own stack, while a fiber runs.
    host: UnsafeCell<Context>,
    pub(in crate::sched) queues: Queues,
    /// Where fibers may migrate: shared with other workers, in place of timers, started fibers, and
    /// most of the ready ones.
    pub(in crate::sched) migration: Migration,
    /// Fibers that may migrate but are pinned at present: they stay on this thread.
    pub(in crate::sched) pinned: Cell<u32>,
    pub(super) stacks: UnsafeCell<StackCache>,
    pub(super) wheel: UnsafeCell<Wheel<Ticket>>,
    pub(in crate::sched) io: Io,
    pub(in crate::sched) maintenance: Maintenance,
    pub(in crate::sched) search: Search,
    pub(super) joins: Joins,
    pub(in crate::sched) role: Role,
    pub(in crate::sched) trace: Trace,
    /// The state of a deterministic runtime's one worker.
    pub(in crate::sched) seeded: Option<Box<Seeded>>,
}

/// The body of a worker's thread.
///
/// A `member` has been claimed by the thread that created this one; any other worker has been
/// activated, and counted as awake.
pub(in crate::sched) fn main(pool: Arc<Pool>, index: usize, member: bool) {
    let worker = Worker::new(pool, index);
    let local = current::local();
    if let Some(seeded) = &worker.seeded {
        seeded.take_thread(local);
    }
    worker.remote().thread.probe.introduce();
    worker.show_timers();
    sys::pin(&worker.pool.config.threads.processors, index);
    local.set_starting(Arc::as_ptr(&worker.pool).cast());
    call(&worker.pool.config.threads.on_start);
    local.set_starting(ptr::null());
    local.set_worker((&raw const worker).cast(), worker.driver());
    // SAFETY: JO3: the worker keeps its pool until it restores `before`, below; the static empty
    // list is never there.
    let before = unsafe { local.set_jobs(&worker.remote().jobs) };
    if let Some(shared_queues) = worker.migration.queues() {
        // SAFETY: CM2: the worker holds this reference.
        unsafe { shared_queues.bind(Arc::as_ptr(&worker.pool).cast(), index) };
        local.set_free(true);
    }
    worker.set_state(WorkerState::Active);
    // The thread that had this one created has claimed the worker, as it would wake a sleeper: the
    // worker owes a search (S5 in `idle`).
    worker
        .search
        .set_active(member && worker.pool.idle.retract(index));
    worker.set_forwards_fresh();
    worker.follow_duty();
    worker.waking();
    worker.force_maintenance();
    worker.run(local);
    if worker.search.is_active() {
        // LIVENESS: a search does not end in silence.
        worker.pass_search_on();
    }
    worker.put_spare_away(local);
    worker.give_stacks_back();
    if !worker.pool.stack_waiters.is_empty() {
        // LIVENESS: a fiber may have begun to wait for a stack since this worker's last look. The
        // lock of the stacks orders the two: the other worker finds these, or this look finds the
        // fiber.
        worker.pool.wake_all_workers();
    }
    worker.set_state(WorkerState::Dead);
    local.set_worker(ptr::null(), None);
    // What drives a runtime by hand here, or at the end of the thread, has fibers that stay.
    local.set_free(false);
    // SAFETY: JO1: no fiber runs here; the list that was there before is the static empty one.
    unsafe { local.set_jobs(before) };
    worker.leave_driver();
    call(&worker.pool.config.threads.on_stop);
    worker.remote().thread.end();
    if worker.role.is_leaving() {
        let pool = &worker.pool;
        pool.policy().leave(pool, index, worker.is_member());
    }
}

/// Calls a hook of the user's, on the thread before or after it is a worker. UNWIND: the panic hook
/// has reported the panic; the worker continues in any case.
pub(in crate::sched) fn call(hook: &Option<Hook>) {
    if let Some(hook) = hook {
        end_caught(|| hook());
    }
}

impl Worker {
    pub(in crate::sched) fn new(pool: Arc<Pool>, index: usize) -> Worker {
        let now = clock::now();
        let seeded = pool.config.seed.map(|seed| Box::new(Seeded::new(seed)));
        Worker {
            index,
            remote: NonNull::from(&pool.remotes[index]),
            host: UnsafeCell::new(Context::empty()),
            queues: Queues::new(),
            migration: pool.remotes[index].migration,
            pinned: Cell::new(0),
            stacks: UnsafeCell::new(StackCache::new(STACKS)),
            wheel: UnsafeCell::new(Wheel::new(
                seeded.as_ref().map_or(now, |seeded| seeded.wheel_time()),
            )),
            io: Io::new(pool.config.io_uring),
            maintenance: Maintenance::new(now),
            search: Search::new(),
            joins: Joins::new(),
            role: Role::new(),
            trace: Trace::new(&pool.config.watch),
            seeded,
            pool,
        }
    }

    /// Returns the worker of this thread, if it is one.
    #[inline(always)]
    pub(in crate::sched) fn of(local: &Local) -> Option<&Worker> {
        // SAFETY: K1: set by `main`, or by a drive, to a worker that outlives its loop, and cleared
        // after that. The result is kept over a suspension no longer than `local` may be (C2).
        unsafe { local.worker().cast::<Worker>().as_ref() }
    }

    /// Returns the worker of this thread, for one of its fibers.
    #[inline(always)]
    pub(in crate::sched) fn here(local: &Local) -> &Worker {
        Worker::of(local).expect("a fiber runs on a worker")
    }

    /// Returns the worker's number in its pool.
    pub(crate) fn index(&self) -> usize {
        self.index
    }

    /// Returns the part of this worker that others see.
    #[inline(always)]
    pub(crate) fn remote(&self) -> &Remote {
        // SAFETY: the pool lives as long as the worker holds it, and the list never moves.
        unsafe { self.remote.as_ref() }
    }

    /// Sets the state of this worker, for reports.
    pub(in crate::sched) fn set_state(&self, state: WorkerState) {
        let state = match self.role.is_draining() && state != WorkerState::Dead {
            true => WorkerState::Draining,
            false => state,
        };
        self.remote().state.set(state);
    }

    fn run(&self, local: &Local) {
        loop {
            let found = match &self.seeded {
                None => self.find(),
                Some(seeded) => self.draw(seeded),
            };
            match found {
                Some(fiber) => {
                    self.search.found();
                    self.role.set_leaving(false);
                    self.dispatch(local, fiber);
                }
                None if self.may_end() => match self.last_look() {
                    Some(fiber) => self.run_first(fiber),
                    None => break,
                },
                None => {
                    self.rest();
                    self.set_state(WorkerState::Active);
                }
            }
        }
    }

    /// Begins a drive: this thread is the worker, and awake.
    pub(in crate::sched) fn begin_drive(&self) {
        self.set_state(WorkerState::Active);
        self.set_forwards_fresh();
        self.search.set_active(self.pool.idle.retract(self.index));
        self.force_maintenance();
    }

    /// Runs all ready fibers, until none is or it is `over`.
    pub(in crate::sched) fn run_ready(&self, local: &Local, over: impl Fn() -> bool) {
        while !over()
            && let Some(fiber) = self.find()
        {
            self.dispatch(local, fiber);
        }
    }

    /// Ends a drive: the worker is asleep. True if there is something to do.
    pub(in crate::sched) fn end_drive(&self) -> bool {
        let idle = &self.pool.idle;
        let _ = idle.announce(self.index, self.search.end());
        self.set_state(WorkerState::Asleep);
        self.pool.look_for_quiet();
        self.has_ready() || self.sees_work()
    }

    /// Runs `fiber` and its successors, until something is due that fibers do not do for each
    /// other, or nothing is ready. On the worker's own stack.
    fn dispatch(&self, local: &Local, fiber: FiberPtr) {
        let fresh = fiber.header().is_fresh();
        let Some(context) = self.board(self.remote(), local, fiber) else {
            return;
        };
        // SAFETY: K1; the fiber came out of a queue and is suspended or prepared.
        let switch = || unsafe { context::switch(self.host.get(), context) };
        if self.watches() {
            self.dispatch_watched(local, fiber, fresh, switch);
        } else {
            switch();
            local.set_fiber(None);
            self.on_arrival(local);
        }
    }

    /// Runs something else in place of `fiber`; returns when it is resumed.
    ///
    /// # Safety
    /// As `Schedule::suspend`, on this worker.
    #[inline]
    pub(in crate::sched) unsafe fn suspend(&self, local: &Local, fiber: FiberPtr) {
        checks::leaving(fiber);
        // PERF: loaded once, here; one instruction less for a yield (bench guard).
        let remote = self.remote();
        let to = match self.next_on_fiber(remote) {
            None => self.host.get(),
            Some(next) if next == fiber => {
                cold_path();
                return self.set_running(remote, local, fiber);
            }
            Some(next) => {
                let context = self.board(remote, local, next);
                context.unwrap_or(self.host.get())
            }
        };
        let from = fiber.header().context();
        // SAFETY: `fiber` runs; `to` is the worker's own side, or a fiber that came out of
        // a queue and so is suspended or prepared.
        unsafe { context::switch(from, to) };
        // A started fiber is resumed on the worker that it left, so `self` and `local` are still
        // valid.
        self.on_arrival(local);
    }

    /// Leaves `fiber`, which has ended. Returns a fresh fiber that has taken over its stack, if one
    /// is next.
    ///
    /// # Safety
    /// As `Schedule::ended`, on this worker.
    #[inline(always)]
    pub(in crate::sched) unsafe fn succeed(
        &self,
        local: &Local,
        fiber: FiberPtr,
        joiner: usize,
    ) -> FiberPtr {
        checks::leaving(fiber);
        let remote = self.remote();
        if joiner != 0 {
            self.prefer_siblings(remote, fiber, joiner);
        }
        let next = self.next_on_fiber(remote);
        if let Some(successor) = next
            && self.may_inherit(fiber, successor)
        {
            // SAFETY: H2: the fiber has ended, and this is its worker.
            let stack = unsafe { (*fiber.header().stack()).take() };
            self.settle(successor, stack.expect("a started fiber has a stack"));
            self.retire(local, fiber);
            self.set_running(remote, local, successor);
            return successor;
        }
        local.set_left(fiber, None);
        let to = self.destination(remote, local, next);
        // SAFETY: as in `suspend`; nothing of the fiber's stack is needed any more.
        unsafe { context::exit(fiber.header().context(), to) }
    }

    /// True if `successor` can run where `fiber` has ended, on the same stack.
    #[inline(always)]
    fn may_inherit(&self, fiber: FiberPtr, successor: FiberPtr) -> bool {
        context::DIRECT
            && !self.pool.stack_waiters.is_watched()
            && context::INHERITS
            && successor.header().is_fresh()
            && successor.header().placement.get() == 0
            && !successor.header().has_label()
            && !fiber.header().has_label()
    }

    /// Returns the fiber that a fiber that stops running may switch to by itself.
    #[inline(always)]
    pub(in crate::sched) fn next_on_fiber(&self, remote: &Remote) -> Option<FiberPtr> {
        if context::DIRECT {
            self.find_hot(remote)
        } else {
            None
        }
    }

    /// Returns the context to switch to: that of `next`, or the worker's own stack.
    #[inline(always)]
    pub(in crate::sched) fn destination(
        &self,
        remote: &Remote,
        local: &Local,
        next: Option<FiberPtr>,
    ) -> *mut Context {
        if let Some(next) = next
            && let Some(context) = self.board(remote, local, next)
        {
            return context;
        }
        self.host.get()
    }

    /// Makes `fiber` the one that runs here, and returns the context to switch to. `None` if it is
    /// fresh and there is no stack for it.
    #[inline(always)]
    fn board(
        &self,
        remote: &Remote,
        local: &Local,
        fiber: FiberPtr,
    ) -> Option<*mut Context> {
        if !fiber.header().is_fresh() {
            checks::entering(fiber);
        } else if !self.start(fiber) {
            return None;
        }
        self.set_running(remote, local, fiber);
        Some(fiber.header().context())
    }

    #[inline(always)]
    pub(in crate::sched) fn set_running(
        &self,
        remote: &Remote,
        local: &Local,
        fiber: FiberPtr,
    ) {
        remote.counters.dispatched.increment();
        fiber.header().life.step(State::Running);
        // ORDERING: Release: a report may read the header, which may have been made just now.
        remote.running.store(fiber.as_ptr(), Ordering::Release);
        local.refill_budget();
        local.set_fiber(Some(fiber));
    }

    /// Completes the switch for the fiber that ran before on this thread, if it has ended. Called
    /// first on every stack that is switched to.
    #[inline(always)]
    pub(in crate::sched) fn on_arrival(&self, local: &Local) {
        if let Some((fiber, after)) = local.take_left() {
            self.after_switch(local, fiber, after);
        }
    }

    /// Completes the switch for a fiber that has been left: it has ended, or may migrate.
    #[inline(always)]
    pub(in crate::sched) fn after_switch(
        &self,
        local: &Local,
        fiber: FiberPtr,
        after: Option<AfterSwitch>,
    ) {
        match after {
            None => self.finish(local, fiber),
            Some(after) => self.complete(local, fiber, after),
        }
    }

    /// True if anything but the running fiber needs this thread; with `observers`, also if an
    /// observer waits for an answer.
    pub(in crate::sched) fn others_wait(&self, observers: bool) -> bool {
        let remote = self.remote();
        self.has_ready()
            || self.queues.has_first()
            || !remote.inbox.is_empty()
            || !remote.next.is_empty()
            || !remote.ring.is_empty()
            || !remote.placed.is_empty()
            || !self.pool.injector.is_empty()
            || self.has_new_phase()
            || (observers && self.owes_answer())
            || self.timer_is_due()
    }

    /// Acts on a change of the pool's phase, and answers requests of observers. On the worker's own
    /// stack: no fiber runs here.
    pub(in crate::sched) fn notice_phase(&self) {
        self.follow_phase();
        self.answer_requests(None);
    }

    /// Acts on a change of the pool's phase: cancels the fibers that have started here. On any
    /// stack.
    pub(in crate::sched) fn follow_phase(&self) {
        let phase = self.pool.phase();
        if phase != self.role.see(phase) && phase >= Phase::Cancelled {
            self.each_started(|fiber| {
                if fiber.header().cancel_with_runtime() {
                    crate::fiber::ticket::Wake::of(fiber).enqueue();
                }
            });
        }
    }

    /// True if the thread may end, with nothing queued here. False while a fiber that has started
    /// here lives: it could not be resumed anywhere else.
    fn may_end(&self) -> bool {
        let over = self.role.is_leaving() || self.pool.phase() == Phase::Stopped;
        over && !self.has_started()
    }

    /// True if the worker leaves fresh fibers to others: because it has a started one and takes one
    /// at a time, or because it is to end.
    #[inline]
    pub(super) fn is_taken(&self) -> bool {
        self.role.is_draining() || (self.pool.config.exclusive && self.has_started())
    }
}
