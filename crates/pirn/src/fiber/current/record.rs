//! The record of a thread: which fiber runs on it, and what its worker and its fibers keep there.
//!
//! Owns: the fields. Does not own: where the record is (`here`), or the header that stands for a
//! plain thread (`identity`).

use std::cell::Cell;
use std::num::NonZero;
use std::ptr;

use super::budget::{AFTER_LOOK, BEFORE_LOOK, BETWEEN_LOOKS, Budget, LONG_RUN, Then};
use crate::base::choice::{Pick, Step};
use crate::base::clock;
use crate::base::rng::Rng;
use crate::context::Stack;
use crate::fiber::fiber_ptr::FiberPtr;
use crate::fiber::jobs::Jobs;
use crate::fiber::magazines::Magazines;
use crate::fiber::state::{Accepts, Epoch};
use crate::shim;
use crate::sys::poller::Driver;

/// A thread's own record.
pub(crate) struct Local {
    /// The fiber that runs here; none on a thread's own stack.
    fiber: Cell<Option<FiberPtr>>,
    /// The fiber on which code runs as the thread's (`here::as_thread`): its stack is in use.
    beneath: Cell<Option<FiberPtr>>,
    /// The header that this thread has borrowed to wait as a plain thread.
    plain_thread: Cell<Option<FiberPtr>>,
    left: Departure,
    /// The worker of `sched` on this thread; null on other threads.
    worker: Cell<*const ()>,
    /// The list of pending jobs of the running fiber; on other threads the static empty list.
    jobs: Cell<&'static Jobs>,
    /// The pool with a start hook that runs on this thread, which will be one of its workers; else
    /// null.
    starting: Cell<*const ()>,
    /// This worker's poller of events outside of the process for which its fibers wait.
    driver: Cell<Option<&'static Driver>>,
    /// The rest of the running fiber's budget.
    budget: Budget,
    /// The budget of the next fiber that runs here.
    allowance: Budget,
    /// The [`unusual`] states of the thread.
    unusual: Cell<u8>,
    /// The timers of the party that polls here (`wait::poll_timers`); null if none polls.
    poll_timers: Cell<*const ()>,
    /// This worker's stack for polls, while no poll uses it (`wait::poll::poll_stack`).
    spare: Cell<Option<Stack>>,
    clock: Clock,
    /// This thread's random numbers; none before the first.
    rng: Cell<Option<Rng>>,
    pub(in crate::fiber) magazines: Magazines,
}

const _: () = assert!(
    !std::mem::needs_drop::<Local>(),
    "C3: a record has no destructor"
);

/// The last fiber that has left its stack on a thread with an action pending, to be done off its
/// stack: it has ended, or may migrate.
struct Departure {
    fiber: Cell<Option<FiberPtr>>,
    /// The action that this fiber has requested, unless it has ended.
    after: Cell<Option<AfterSwitch>>,
}

/// The action that a fiber which may migrate requests when it leaves its stack. It is done on the
/// stack that is switched to: as soon as it is done, another thread may run on the one that was
/// left.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum AfterSwitch {
    /// Park, for the wait `epoch`, which the causes that it `accepts` end too.
    Park { epoch: Epoch, accepts: Accepts },
    /// Run again when all other ready fibers have run.
    RunAgain,
}

/// The clock of a thread's fibers, and whether its worker is deterministic.
struct Clock {
    /// This thread is a worker with fibers in virtual time.
    is_virtual: Cell<bool>,
    /// This thread is a worker that chooses anew before each operation that fibers notice, also
    /// before those that never wait.
    chooses: Cell<bool>,
    /// The running fiber looks which cases of a select are ready.
    looks: Cell<bool>,
    /// The operation before which the fiber that ran last has yielded at a choice. It could
    /// continue.
    step: Cell<Option<Step>>,
    /// The fiber that ran last has had operations before which the choice was put off.
    put_off: Cell<bool>,
    /// The last time at which this worker read the clock, in nanoseconds.
    moment: Cell<u64>,
}

/// States of a thread in which a fiber yields and parks in an unusual way, one bit each. PERF: one
/// byte, so that the usual way costs one test.
mod unusual {
    /// This thread is a worker with fibers that may migrate.
    pub(super) const FREE: u8 = 1;
    /// The running fiber is in the middle of a poll (`wait::polling`), of a future of its own.
    pub(super) const POLLS_OURS: u8 = 2;
    /// The same, of a future that other code polls.
    pub(super) const POLLS_THEIRS: u8 = 4;
    pub(super) const POLLS: u8 = POLLS_OURS | POLLS_THEIRS;
    /// A fiber of this thread has been suspended while it unwinds.
    pub(super) const LEFT_UNWINDING: u8 = 8;
}

/// The kind of future that a fiber is polling.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum Polling {
    Nothing,
    /// A future that other code polls.
    Theirs,
    /// A future that the fiber waits for (`future::wait`): it yields between polls.
    Ours,
}

impl Local {
    pub(super) const fn new() -> Self {
        Local {
            fiber: Cell::new(None),
            beneath: Cell::new(None),
            plain_thread: Cell::new(None),
            left: Departure {
                fiber: Cell::new(None),
                after: Cell::new(None),
            },
            worker: Cell::new(ptr::null()),
            jobs: Cell::new(Jobs::none()),
            starting: Cell::new(ptr::null()),
            driver: Cell::new(None),
            budget: Budget::new(0, Then::Yield),
            allowance: Budget::new(BEFORE_LOOK, Then::Look),
            unusual: Cell::new(0),
            poll_timers: Cell::new(ptr::null()),
            spare: Cell::new(None),
            clock: Clock {
                is_virtual: Cell::new(false),
                chooses: Cell::new(false),
                looks: Cell::new(false),
                step: Cell::new(None),
                put_off: Cell::new(false),
                moment: Cell::new(0),
            },
            rng: Cell::new(None),
            magazines: Magazines::new(),
        }
    }

    /// Returns the fiber that runs here; none on a thread's own stack, including a worker's.
    #[inline(always)]
    pub(crate) fn fiber(&self) -> Option<FiberPtr> {
        self.fiber.get()
    }

    /// Returns the fiber that has the stack which this thread is on, also while code on it runs as
    /// the thread's.
    pub(crate) fn on_stack(&self) -> Option<FiberPtr> {
        self.fiber().or(self.beneath.get())
    }

    /// Sets the fiber on which code runs as the thread's; returns the one before.
    pub(super) fn replace_beneath(&self, fiber: Option<FiberPtr>) -> Option<FiberPtr> {
        self.beneath.replace(fiber)
    }

    /// Returns the header that this thread has borrowed to wait as a plain thread.
    #[inline(always)]
    pub(in crate::fiber) fn plain_thread(&self) -> Option<FiberPtr> {
        self.plain_thread.get()
    }

    pub(super) fn set_plain_thread(&self, header: Option<FiberPtr>) {
        self.plain_thread.set(header);
    }

    /// Returns whether the clock of this thread's fibers is that of their scheduler.
    #[inline(always)]
    pub(crate) fn time_is_virtual(&self) -> bool {
        self.clock.is_virtual.get()
    }

    /// Set by a worker around each dispatch.
    #[inline(always)]
    pub(crate) fn set_fiber(&self, fiber: Option<FiberPtr>) {
        self.fiber.set(fiber);
    }

    #[inline(always)]
    pub(crate) fn worker(&self) -> *const () {
        self.worker.get()
    }

    /// Makes this thread a worker with its driver, or with null a plain thread again.
    pub(crate) fn set_worker(&self, worker: *const (), driver: Option<&'static Driver>) {
        self.worker.set(worker);
        self.driver.set(driver);
    }

    /// Returns the list to which joins of fibers of this thread push their jobs.
    #[inline(always)]
    pub(crate) fn jobs(&self) -> &'static Jobs {
        self.jobs.get()
    }

    /// Changes the list to which joins push their jobs, and returns the previous one.
    ///
    /// # Safety
    /// JO3: `jobs` stay alive until they are replaced here; and all of the former ones have been
    /// promoted.
    pub(crate) unsafe fn set_jobs(&self, jobs: &Jobs) -> &'static Jobs {
        // SAFETY: the caller's promise.
        self.jobs.replace(unsafe { &*ptr::from_ref(jobs) })
    }

    #[inline(always)]
    pub(crate) fn driver(&self) -> Option<&'static Driver> {
        self.driver.get()
    }

    pub(crate) fn starting(&self) -> *const () {
        self.starting.get()
    }

    /// Set around the start hook of a pool, to null after it.
    pub(crate) fn set_starting(&self, pool: *const ()) {
        self.starting.set(pool);
    }

    /// Returns whether the thread is in none of the [`unusual`] states, in which its fibers
    /// migrate, the running one polls, or one has been left unwinding.
    #[inline(always)]
    pub(crate) fn is_usual(&self) -> bool {
        self.unusual.get() == 0
    }

    fn set_unusual(&self, states: u8, now: u8) {
        self.unusual.set(self.unusual.get() & !states | now);
    }

    /// Returns whether the fibers of this thread may resume on another one.
    #[inline(always)]
    pub(crate) fn is_free(&self) -> bool {
        self.unusual.get() & unusual::FREE != 0
    }

    pub(crate) fn set_free(&self, free: bool) {
        self.set_unusual(unusual::FREE, u8::from(free) * unusual::FREE);
    }

    /// Records that `fiber` has ended, or the action that it requests.
    #[inline(always)]
    pub(crate) fn set_left(&self, fiber: FiberPtr, after: Option<AfterSwitch>) {
        self.left.fiber.set(Some(fiber));
        self.left.after.set(after);
    }

    /// Returns the fiber that has ended here last, if its worker has not retired it yet.
    pub(crate) fn ended(&self) -> Option<FiberPtr> {
        let fiber = self.left.fiber.get();
        fiber.filter(|_| self.left.after.get().is_none())
    }

    #[inline(always)]
    pub(crate) fn take_left(&self) -> Option<(FiberPtr, Option<AfterSwitch>)> {
        match self.left.fiber.get() {
            None => None,
            Some(fiber) => {
                self.left.fiber.set(None);
                Some((fiber, self.left.after.get()))
            }
        }
    }

    /// Sets the budget of a fiber that begins to run to the allowance of this thread.
    #[inline(always)]
    pub(crate) fn refill_budget(&self) {
        let next = &self.allowance;
        self.budget.set(next.operations.get(), next.then.get());
        self.budget.stalled.set(next.stalled.get());
    }

    /// Renews the budget of the running fiber, which has yielded in place.
    pub(crate) fn renew_budget(&self) {
        self.budget.set(AFTER_LOOK, Then::Yield);
    }

    /// Makes the next operation of the running fiber the last one of its budget.
    pub(crate) fn spend_with_next(&self) {
        self.budget.set(1, Then::Yield);
    }

    /// Sets whether the fibers of this thread, a worker, compute for long between two operations.
    pub(crate) fn set_slow(&self, slow: bool) {
        self.allowance
            .operations
            .set(if slow { 1 } else { BEFORE_LOOK });
    }

    /// Returns whether the fibers of this thread compute for long between two operations.
    #[inline(always)]
    pub(crate) fn is_slow(&self) -> bool {
        self.allowance.operations.get() == 1
    }

    #[inline(always)]
    pub(crate) fn polling(&self) -> Polling {
        match self.unusual.get() & unusual::POLLS {
            0 => Polling::Nothing,
            unusual::POLLS_OURS => Polling::Ours,
            _ => Polling::Theirs,
        }
    }

    #[inline(always)]
    pub(crate) fn is_polling(&self) -> bool {
        self.unusual.get() & unusual::POLLS != 0
    }

    pub(crate) fn set_polling(&self, polling: Polling) {
        let now = match polling {
            Polling::Nothing => 0,
            Polling::Ours => unusual::POLLS_OURS,
            Polling::Theirs => unusual::POLLS_THEIRS,
        };
        self.set_unusual(unusual::POLLS, now);
    }

    pub(crate) fn poll_timers(&self) -> *const () {
        self.poll_timers.get()
    }

    pub(crate) fn set_poll_timers(&self, poll_timers: *const ()) {
        self.poll_timers.set(poll_timers);
    }

    /// Takes the stack for polls, if it is here.
    #[inline(always)]
    pub(crate) fn take_spare(&self) -> Option<Stack> {
        self.spare.take()
    }

    /// Stores a stack for polls, and returns the previous one.
    #[inline(always)]
    pub(crate) fn put_spare(&self, stack: Stack) -> Option<Stack> {
        self.spare.replace(Some(stack))
    }

    #[inline(always)]
    pub(crate) fn left_unwinding(&self) -> bool {
        self.unusual.get() & unusual::LEFT_UNWINDING != 0
    }

    #[inline(always)]
    pub(crate) fn set_left_unwinding(&self, left: bool) {
        let now = u8::from(left) * unusual::LEFT_UNWINDING;
        self.set_unusual(unusual::LEFT_UNWINDING, now);
    }

    /// Returns the time from which the running fiber has been yielding in place, in microseconds,
    /// or else `now`.
    pub(crate) fn stalled_since(&self, now: NonZero<u32>) -> NonZero<u32> {
        let since = self.budget.stalled.get().unwrap_or(now);
        self.budget.stalled.set(Some(since));
        since
    }

    /// Returns a random number below `n`, each equally likely. A worker of a deterministic runtime
    /// has seeded them. In the run of a strategy there are none: it returns `in_run`, and the
    /// strategy [picks](Self::pick).
    ///
    /// # Panics
    /// If `n` is 0.
    // PERF: one copy for all callers; inlined into a select it costs 14 of 547 instructions.
    #[inline(never)]
    pub(crate) fn random_below(&self, n: usize, in_run: usize) -> usize {
        let Some(mut rng) = self.rng.take() else {
            return self.first_random_below(n, in_run);
        };
        let number = rng.below(n);
        self.rng.set(Some(rng));
        number
    }

    /// Continues without a source of random numbers.
    #[cold]
    fn first_random_below(&self, n: usize, in_run: usize) -> usize {
        if self.chooses() {
            return in_run;
        }
        let mut rng = Rng::new(shim::seed());
        let number = rng.below(n);
        self.rng.set(Some(rng));
        number
    }

    /// Returns the number below `count` that the strategy of the present run picks.
    #[cold]
    pub(crate) fn pick(&self, pick: Pick, count: usize) -> usize {
        let fiber = self.fiber();
        fiber.map_or(0, |fiber| fiber.header().home().pick(pick, count))
    }

    /// Makes `rng` the source of this thread's random numbers, and its fibers' clock that of their
    /// scheduler. Each operation of a fiber is then the last one of its budget: before it, the
    /// scheduler chooses which fiber runs next.
    pub(crate) fn set_deterministic(&self, rng: Rng) {
        self.rng.set(Some(rng));
        self.clock.is_virtual.set(true);
        self.allowance.set(1, Then::Yield);
    }

    /// Returns whether this worker chooses anew before operations that never wait, too.
    #[inline(always)]
    pub(crate) fn chooses(&self) -> bool {
        self.clock.chooses.get()
    }

    /// Begins, or ends, the run of a strategy. There are no random numbers in it: the strategy
    /// picks.
    pub(crate) fn set_chooses(&self, chooses: bool) {
        self.clock.chooses.set(chooses);
        self.rng.set((!chooses).then(|| Rng::new(0)));
    }

    /// Returns whether the running fiber publishes cases to look whether they are ready, and does not
    /// wait.
    pub(crate) fn looks(&self) -> bool {
        self.clock.looks.get()
    }

    pub(crate) fn set_looks(&self, looks: bool) {
        self.clock.looks.set(looks);
    }

    /// Records the operation before which the running fiber yields at a choice.
    pub(crate) fn set_step(&self, step: Step) {
        self.clock.step.set(Some(step));
    }

    /// Returns the operation before which the fiber that ran last has yielded at a choice, and
    /// forgets it. None if it waits, or has asked for others to run.
    pub(crate) fn take_step(&self) -> Option<Step> {
        self.clock.step.take()
    }

    /// Records that the choice before an operation of the running fiber is put off.
    pub(crate) fn put_choice_off(&self) {
        self.clock.put_off.set(true);
    }

    /// Returns whether the fiber that ran last has had operations before which the choice was put
    /// off, and forgets it.
    pub(crate) fn take_put_off(&self) -> bool {
        self.clock.put_off.take()
    }

    /// Returns when this worker last read the clock (nanoseconds, as `base::clock` counts).
    #[inline(always)]
    pub(crate) fn moment(&self) -> u64 {
        self.clock.moment.get()
    }

    /// Records that the worker has read the clock.
    pub(crate) fn set_moment(&self, now: u64) {
        self.clock.moment.set(now);
    }

    /// Returns whether the last operation of the budget has just been taken.
    pub(crate) fn is_spent(&self) -> bool {
        self.budget.operations.get() == 0 && self.budget.then.get() == Then::Yield
    }

    /// Takes one operation from the budget. If it returns true, the caller must call
    /// [`must_yield`](Self::must_yield).
    #[inline(always)]
    pub(crate) fn consume_budget(&self) -> bool {
        let left = self.budget.operations.get().wrapping_sub(1);
        self.budget.operations.set(left);
        left == 0
    }

    /// Returns whether the fiber must yield: its budget is spent, or it has computed for too long
    /// between two operations. Called once for each operation after which
    /// [`consume_budget`](Self::consume_budget) returns true; at other times it returns false.
    #[cold]
    pub(crate) fn must_yield(&self) -> bool {
        if self.budget.operations.get() != 0 || self.fiber().is_none() {
            return false;
        }
        match self.budget.then.get() {
            Then::Yield => true,
            then => self.has_computed(then),
        }
    }

    /// Returns whether the running fiber has computed for long since the clock was read.
    fn has_computed(&self, then: Then) -> bool {
        self.budget.set(AFTER_LOOK, Then::Yield);
        if self.clock.is_virtual.get() {
            return false;
        }
        let now = clock::now();
        let long = now.saturating_sub(self.clock.moment.get()) >= LONG_RUN;
        match then {
            // The fibers before this one may have used the time, or it has just yielded after a
            // computation, and the next one follows.
            Then::Look if long || self.is_slow() => self.budget.set(1, Then::LookAgain),
            // Its own time adds up: the moment stays.
            Then::LookAgain if !long => {
                self.budget.set(BETWEEN_LOOKS, Then::LookLast);
                return false;
            }
            Then::LookAgain | Then::LookLast if long => {
                // The fibers that run next are likely to do the same. The next round of the worker
                // measures whether they do.
                self.set_slow(true);
                self.budget.set(0, Then::Yield);
            }
            _ => {}
        }
        self.clock.moment.set(now);
        self.is_spent()
    }
}
