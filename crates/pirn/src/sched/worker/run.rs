//! A worker: one OS thread that runs fibers.
//!
//! Owns: the loop, the switch from one fiber to the next, and what only this thread accesses (ready
//! list, stacks, the list of started fibers). Does not own: where a fiber is found (`next_fiber`), where one
//! is put (`enqueue`), timers (`timers`), its first run and its end (`start_finish`), when the thread sleeps
//! (`park`).
//!
//! A fiber that stops running finds its successor itself and switches to it directly. One that has
//! ended passes its stack to the successor if that is fresh. Control returns to the worker's own stack
//! only when nothing is ready, or every `ROUND` dispatches.
//!
//! Invariants:
//! * K1. A `Worker` lives on its own thread's stack (driven by hand, in a box of that thread) and is
//!   reached through that thread's `Local` only, so its fields need neither atomics nor locks. Each
//!   access to a field is one short borrow that calls nothing that could borrow the same field again.
//! * K2. Fibers run between two accesses, never during one.

use std::cell::{Cell, UnsafeCell};
use std::hint::cold_path;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::time::Instant;

use crate::base::clock;
use crate::base::dropping::end_caught;
use crate::base::list::{Fifo, List};
use crate::base::rng::Rng;
use crate::context::{self, Context, StackCache};
use crate::fiber::current::{self, Local};
use crate::fiber::life::State;
use crate::fiber::{FiberPtr, Header, Ticket, Wish};
use crate::sched::config::Hook;
use crate::sched::deterministic::seeded::Seeded;
use crate::sched::events;
use crate::sched::io::queued::Queued;
use crate::sched::migrate::shared_queues::Commons;
use crate::sched::pool::remote::Remote;
use crate::sched::pool::shared::{Phase, Pool};
use crate::sched::worker::checks;
use crate::sched::worker::intervals::{Pace, ROUND_AFTER_SLEEP};
use crate::sched::worker::steal_payoff::Gain;
use crate::sched::worker::worker_state::WorkerState;
use crate::shim::{self, atomic::Ordering};
use crate::sys;
use crate::sys::poller::Events;
use crate::timer::Wheel;

/// Stacks that a worker keeps for itself. For a burst deeper than this it takes stacks from the pool
/// and returns them; arbitrary, no measurement yet.
const STACKS: usize = 64;

/// One worker.
pub(crate) struct Worker {
    pub(in crate::sched) pool: Arc<Pool>,
    pub(in crate::sched) index: usize,
    /// The part of this worker that others see: an element of the pool's list.
    remote: NonNull<Remote>,
    /// The context of this thread's own stack, while a fiber runs.
    host: UnsafeCell<Context>,
    /// Settled fibers that may run.
    ready: UnsafeCell<Fifo<Header>>,
    /// Where fibers may migrate: shared with other workers, in place of `wheel`, `started`, and most of
    /// `ready`.
    pub(in crate::sched) commons: Option<&'static Commons>,
    /// Fibers that may migrate but are pinned at present: they stay on this thread.
    pub(in crate::sched) pins: Cell<u32>,
    pub(in crate::sched) stacks: UnsafeCell<StackCache>,
    pub(in crate::sched) wheel: UnsafeCell<Wheel<Ticket>>,
    /// Fibers that have started here and not ended.
    pub(in crate::sched) started: UnsafeCell<List<Header>>,
    pub(in crate::sched) rng: UnsafeCell<Rng>,
    /// Reads that the system makes by itself.
    pub(in crate::sched) queued: Queued,
    /// Buffer for the events of the driver.
    pub(in crate::sched) events: UnsafeCell<Events>,
    pub(in crate::sched) pace: Pace,
    /// Dispatches until the next service.
    pub(in crate::sched) until_service: Cell<u32>,
    /// The value of `until_service` when the pace was last measured.
    pub(in crate::sched) paced_at: Cell<u32>,
    /// Fresh fibers in a row that were put behind started ones (`balance`).
    pub(in crate::sched) deferred: Cell<u32>,
    /// Dispatches in the next round, at most.
    pub(in crate::sched) round: Cell<u32>,
    /// Dispatches since the last look at the injector.
    pub(in crate::sched) since_injector: Cell<u32>,
    /// When the oldest fiber that spilled here is due to run.
    pub(in crate::sched) oldest_due: Cell<u64>,
    /// Dispatches out of the `next` slot in a row.
    pub(super) streak: Cell<u32>,
    /// True if the ring, rather than the ready list, is popped first the next time.
    pub(super) ring_first: Cell<bool>,
    /// Counted by `Idle` as searching.
    pub(in crate::sched) searching: Cell<bool>,
    /// A fiber that has settled here and is to run before anything else.
    pub(in crate::sched) at_once: Cell<Option<FiberPtr>>,
    /// True if this worker was `DRAINING` when it last read its duty.
    pub(in crate::sched) draining: Cell<bool>,
    /// True if fibers spawned here go to the injector.
    pub(in crate::sched) hands_on: Cell<bool>,
    /// How long this worker sleeps at most, if the thread that drives it has a time limit.
    pub(super) drive_limit: Cell<Option<Instant>>,
    /// The thread has been idle for so long that it ends.
    pub(in crate::sched) leaving: Cell<bool>,
    pub(in crate::sched) patience: Cell<i32>,
    /// The last spin has seen work, which has not been found yet.
    pub(super) spun: Cell<bool>,
    /// This rest has had its short sleep because of young work.
    pub(super) napped: Cell<bool>,
    /// The phase that this worker has acted on.
    pub(in crate::sched) seen: Cell<Phase>,
    /// The roll call that this worker has answered.
    pub(in crate::sched) answered: Cell<u64>,
    /// The flags of what this worker is watched for (`events::hooks`); zero if nothing.
    pub(in crate::sched) watch: Cell<u8>,
    /// The value that `until_service` gets back when the watched fiber returns.
    pub(in crate::sched) round_left: Cell<u32>,
    /// Dispatches until a run is timed.
    pub(in crate::sched) until_sample: Cell<u32>,
    /// When this worker last asked others for their jobs, as `base::clock` counts.
    pub(in crate::sched) asked: Cell<u64>,
    /// The worth of jobs of other workers.
    pub(in crate::sched) gain: Gain,
    /// Jobs that were promoted here since the last request, and were not taken.
    pub(in crate::sched) kept: Cell<u32>,
    /// The run of a fiber, counted in dispatches, that may promote what is left of the last beat; if
    /// none, the next that joins.
    pub(super) credit_of: Cell<Option<u64>>,
    /// The state of a deterministic runtime's one worker.
    pub(in crate::sched) seeded: Option<Seeded>,
}

/// The body of a worker's thread.
///
/// A `member` has been claimed by the thread that created this one; any other worker has been called
/// in, and counted as awake.
pub(in crate::sched) fn main(pool: Arc<Pool>, index: usize, member: bool) {
    let worker = Worker::new(pool, index);
    let local = current::local();
    if let Some(seeded) = &worker.seeded {
        seeded.take_thread(local);
    }
    worker.remote().thread.introduce();
    worker.show_timers();
    sys::pin(&worker.pool.config.processors, index);
    local.set_starting(Arc::as_ptr(&worker.pool).cast());
    call(&worker.pool.config.on_thread_start);
    local.set_starting(ptr::null());
    local.set_worker((&raw const worker).cast(), worker.driver());
    // SAFETY: JO3: the worker keeps its pool until it restores `before`, below; the static empty list
    // is never there.
    let before = unsafe { local.set_jobs(&worker.remote().jobs) };
    if let Some(commons) = worker.commons {
        commons.bind(&worker.pool, index);
        local.set_free(true);
    }
    worker.stand(WorkerState::Active);
    // The thread that had this one created has claimed the worker, as it would wake a sleeper: the
    // worker owes a search (S5 in `idle`).
    worker
        .searching
        .set(member && worker.pool.idle.retract(index));
    worker.set_hands_on();
    worker.follow_duty();
    worker.waking();
    worker.take_stock();
    worker.run(local);
    if worker.searching.get() {
        // LIVENESS: a search does not end in silence.
        worker.pass_search_on();
    }
    worker.put_spare_away(local);
    worker.give_stacks_back();
    worker.stand(WorkerState::Dead);
    local.set_worker(ptr::null(), None);
    // SAFETY: JO1: no fiber runs here; the list that was there before is the static empty one.
    unsafe { local.set_jobs(before) };
    worker.leave_driver();
    call(&worker.pool.config.on_thread_stop);
    worker.remote().ended.store(true, Ordering::Release);
    if worker.leaving.get() {
        worker.pool.leave(index, worker.is_member());
    }
}

/// Calls a hook of the user's, on the thread before or after it is a worker. UNWIND: the panic hook has
/// reported the panic; the worker continues in any case.
pub(in crate::sched) fn call(hook: &Option<Hook>) {
    if let Some(hook) = hook {
        end_caught(|| hook());
    }
}

impl Worker {
    pub(in crate::sched) fn new(pool: Arc<Pool>, index: usize) -> Worker {
        let now = clock::now();
        let limit = pool.config.outside;
        let seeded = pool.config.seed.map(|seed| Seeded::new(seed, limit));
        Worker {
            index,
            remote: NonNull::from(&pool.remotes[index]),
            host: UnsafeCell::new(Context::empty()),
            ready: UnsafeCell::new(Fifo::new()),
            commons: pool.remotes[index].commons,
            pins: Cell::new(0),
            stacks: UnsafeCell::new(StackCache::new(STACKS)),
            wheel: UnsafeCell::new(Wheel::new(
                seeded.as_ref().map_or(now, Seeded::wheel_time),
            )),
            started: UnsafeCell::new(List::new()),
            rng: UnsafeCell::new(Rng::new(shim::seed())),
            queued: Queued::new(pool.config.io_uring),
            events: UnsafeCell::new(Events::new()),
            pace: Pace::new(now),
            until_service: Cell::new(0),
            paced_at: Cell::new(0),
            deferred: Cell::new(0),
            round: Cell::new(ROUND_AFTER_SLEEP),
            since_injector: Cell::new(0),
            oldest_due: Cell::new(now),
            streak: Cell::new(0),
            ring_first: Cell::new(false),
            searching: Cell::new(false),
            at_once: Cell::new(None),
            draining: Cell::new(false),
            drive_limit: Cell::new(None),
            hands_on: Cell::new(false),
            leaving: Cell::new(false),
            patience: Cell::new(0),
            spun: Cell::new(false),
            napped: Cell::new(false),
            seen: Cell::new(Phase::Open),
            answered: Cell::new(0),
            watch: Cell::new(events::flags(&pool.config.watch)),
            round_left: Cell::new(0),
            until_sample: Cell::new(0),
            asked: Cell::new(0),
            gain: Gain::new(),
            kept: Cell::new(0),
            credit_of: Cell::new(None),
            seeded,
            pool,
        }
    }

    /// Returns the worker of this thread, if it is one.
    #[inline(always)]
    pub(in crate::sched) fn of(local: &Local) -> Option<&Worker> {
        // SAFETY: K1: set by `main` to a worker that outlives the loop, cleared after it.
        unsafe { local.worker().cast::<Worker>().as_ref() }
    }

    /// Returns the worker of this thread, for one of its fibers.
    #[inline(always)]
    pub(in crate::sched) fn here(local: &Local) -> &Worker {
        Worker::of(local).expect("a fiber runs on a worker")
    }

    /// Returns the part of this worker that others see.
    #[inline(always)]
    pub(in crate::sched) fn remote(&self) -> &Remote {
        // SAFETY: the pool lives as long as the worker holds it, and the list never moves.
        unsafe { self.remote.as_ref() }
    }

    fn run(&self, local: &Local) {
        loop {
            let found = match &self.seeded {
                None => self.find(),
                Some(seeded) => self.draw(seeded),
            };
            match found {
                Some(fiber) => {
                    self.spun.set(false);
                    self.leaving.set(false);
                    self.dispatch(local, fiber);
                }
                None if self.may_end() => break,
                None => {
                    self.rest();
                    self.stand(WorkerState::Active);
                }
            }
        }
    }

    /// Begins a drive: this thread is the worker, and awake.
    pub(in crate::sched) fn begin_drive(&self) {
        self.stand(WorkerState::Active);
        self.set_hands_on();
        self.searching.set(self.pool.idle.retract(self.index));
        self.take_stock();
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
        let _ = idle.announce(self.index, self.searching.replace(false));
        self.stand(WorkerState::Asleep);
        self.pool.look_for_quiet();
        self.has_ready() || self.sees_work()
    }

    /// Runs `fiber` and its successors, until something is due that fibers do not do for each other, or
    /// nothing is ready. On the worker's own stack.
    fn dispatch(&self, local: &Local, fiber: FiberPtr) {
        let fresh = header(fiber).is_fresh();
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
            self.landed(local);
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
                return self.note(remote, local, fiber);
            }
            Some(next) => {
                let context = self.board(remote, local, next);
                context.unwrap_or(self.host.get())
            }
        };
        let from = header(fiber).context.get();
        // SAFETY: `fiber` runs; `to` is the worker's own side, or a fiber that came out of
        // a queue and so is suspended or prepared.
        unsafe { context::switch(from, to) };
        // A started fiber is resumed on the worker that it left, so `self` and `local` are still valid.
        self.landed(local);
    }

    /// Leaves `fiber`, which has ended. Returns a fresh fiber that has taken over its stack, if one is
    /// next.
    ///
    /// # Safety
    /// As `Schedule::ended`, on this worker.
    #[inline(always)]
    pub(in crate::sched) unsafe fn succeed(
        &self,
        local: &Local,
        fiber: FiberPtr,
    ) -> FiberPtr {
        checks::leaving(fiber);
        let remote = self.remote();
        let next = self.next_on_fiber(remote);
        if let Some(heir) = next
            && self.may_inherit(fiber, heir)
        {
            // SAFETY: H2: the fiber has ended, and this is its worker.
            let stack = unsafe { (*header(fiber).stack.get()).take() };
            self.settle(heir, stack.expect("a started fiber has a stack"));
            self.retire(local, fiber);
            self.note(remote, local, heir);
            return heir;
        }
        local.set_left(fiber, None);
        let to = self.destination(remote, local, next);
        // SAFETY: as in `suspend`; nothing of the fiber's stack is needed any more.
        unsafe { context::exit(header(fiber).context.get(), to) }
    }

    /// True if `heir` can run where `fiber` has ended, on the same stack.
    #[inline(always)]
    fn may_inherit(&self, fiber: FiberPtr, heir: FiberPtr) -> bool {
        context::DIRECT
            && !self.pool.starved.is_watched()
            && context::INHERITS
            && header(heir).is_fresh()
            && header(heir).placement.get() == 0
            && header(heir).label.get().is_none()
            && header(fiber).label.get().is_none()
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
        if !header(fiber).is_fresh() {
            checks::entering(fiber);
        } else if !self.start(fiber) {
            return None;
        }
        self.note(remote, local, fiber);
        Some(header(fiber).context.get())
    }

    #[inline(always)]
    pub(in crate::sched) fn note(&self, remote: &Remote, local: &Local, fiber: FiberPtr) {
        remote.counters.dispatched.increment();
        header(fiber).life.step(State::Running);
        // ORDERING: Release: a report may read the header, which may have been made just now.
        remote.running.store(fiber.as_ptr(), Ordering::Release);
        local.refill_budget();
        local.set_fiber(Some(fiber));
    }

    /// Completes the switch for the fiber that ran before on this thread, if it has ended. Called first
    /// on every stack that is switched to.
    #[inline(always)]
    pub(in crate::sched) fn landed(&self, local: &Local) {
        if let Some((fiber, wish)) = local.take_left() {
            self.see_to(local, fiber, wish);
        }
    }

    /// Completes the switch for a fiber that has been left: it has ended, or may migrate.
    #[inline(always)]
    pub(in crate::sched) fn see_to(
        &self,
        local: &Local,
        fiber: FiberPtr,
        wish: Option<Wish>,
    ) {
        match wish {
            None => self.finish(local, fiber),
            Some(wish) => self.fulfil(local, fiber, wish),
        }
    }

    /// Makes the worker go through everything before it runs another fiber.
    pub(in crate::sched) fn take_stock(&self) {
        self.until_service.set(0);
        self.round_left.set(0);
    }

    /// Pushes to the back of the ready list.
    #[inline(always)]
    pub(in crate::sched) fn make_ready(&self, fiber: FiberPtr) {
        // SAFETY: K1.
        unsafe { (*self.ready.get()).push_back(fiber) };
    }

    #[inline(always)]
    pub(in crate::sched) fn pop_ready(&self) -> Option<FiberPtr> {
        // SAFETY: K1.
        match unsafe { (*self.ready.get()).pop_front() } {
            None if self.commons.is_some() => self.pop_common(),
            own => own,
        }
    }

    #[inline(always)]
    pub(in crate::sched) fn has_ready(&self) -> bool {
        // SAFETY: K1.
        let own = !unsafe { &*self.ready.get() }.is_empty();
        own || self.commons.is_some_and(|commons| commons.len() > 0)
    }

    /// The number of started fibers that may run; for reports.
    pub(in crate::sched) fn count_ready(&self) -> usize {
        // SAFETY: K1.
        let own = unsafe { &*self.ready.get() }.len() as usize;
        own + self.commons.map_or(0, Commons::len)
    }

    /// Moves the fibers that other threads have woken to the ready list.
    pub(in crate::sched) fn open_mailbox(&self) {
        let mailbox = self.remote().mailbox;
        if !mailbox.is_empty() {
            let woken = mailbox.drain();
            let counters = &self.remote().counters;
            counters.fiber_wakes.add(u64::from(woken.len()));
            counters.remote_wakes.add(u64::from(woken.len()));
            // SAFETY: K1.
            unsafe { (*self.ready.get()).append(woken) };
        }
    }

    /// True if anything but the running fiber needs this thread.
    pub(in crate::sched) fn others_wait(&self) -> bool {
        let remote = self.remote();
        self.has_ready()
            || self.at_once.get().is_some()
            || !remote.mailbox.is_empty()
            || !remote.next.is_empty()
            || !remote.ring.is_empty()
            || !remote.placed.is_empty()
            || !self.pool.injector.is_empty()
            || self.unnoticed_phase()
            || self.timer_is_due()
    }

    /// Acts on a change of the pool's phase: cancels the fibers that have started here. Answers a roll
    /// call.
    pub(in crate::sched) fn notice_phase(&self) {
        let phase = self.pool.phase();
        if phase != self.seen.replace(phase) && phase >= Phase::Cancelled {
            self.each_started(|fiber| {
                // SAFETY: H1.
                if unsafe { fiber.as_ref() }.state.cancel() {
                    crate::fiber::ticket::Wake::of(fiber).enqueue();
                }
            });
        }
        self.answer_roll(None);
    }

    /// Returns the phase that this worker has acted on.
    pub(in crate::sched) fn seen_phase(&self) -> Phase {
        self.seen.get()
    }

    pub(in crate::sched) fn each_started(&self, mut f: impl FnMut(FiberPtr)) {
        // SAFETY: K1: `f` runs no fiber, so the list stays as it is.
        let started = unsafe { &*self.started.get() };
        started.iter().for_each(&mut f);
    }

    /// Returns the started fiber at the front of the list, and moves it to the back.
    pub(in crate::sched) fn next_of_walk(&self) -> Option<FiberPtr> {
        // SAFETY: K1.
        let started = unsafe { &mut *self.started.get() };
        let fiber = started.pop_front()?;
        // SAFETY: a header is pinned (H1), and in no list now.
        unsafe { started.push_back(fiber) };
        Some(fiber)
    }

    /// True if the thread may end, with nothing queued here. False while a fiber that has started here
    /// lives: it could not be resumed anywhere else.
    fn may_end(&self) -> bool {
        let over = self.leaving.get() || self.pool.phase() == Phase::Stopped;
        over && !self.has_started()
    }

    /// True if a fiber lives that needs this thread: one that has started here, unless fibers may
    /// migrate.
    #[inline]
    pub(in crate::sched) fn has_started(&self) -> bool {
        // SAFETY: K1.
        let own = !unsafe { &*self.started.get() }.is_empty();
        own || self.commons.is_some_and(|commons| self.is_needed(commons))
    }

    /// True if the worker leaves fresh fibers to others: because it has a started one and takes one at
    /// a time, or because it is to end.
    #[inline]
    pub(super) fn is_taken(&self) -> bool {
        self.draining.get() || (self.pool.config.exclusive && self.has_started())
    }
}

#[inline(always)]
pub(in crate::sched) fn header(fiber: FiberPtr) -> &'static Header {
    // SAFETY: H1: headers are never freed.
    unsafe { fiber.as_ref() }
}
