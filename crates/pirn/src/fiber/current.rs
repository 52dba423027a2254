//! Access to the runtime's thread-local: which fiber runs on this thread, and on which stack.
//!
//! Invariants:
//! * C1. All access goes through [`local`], which the compiler can neither inline nor prove free of
//!   effects, so two calls with a suspension between them are two reads. (Preventing inlining alone
//!   is not enough: with one codegen unit or fat LTO the optimizer infers that such a function
//!   always returns the same address and merges the calls.)
//! * C2. The reference is not kept across a suspension point. In settled mode that is only style,
//!   since a started fiber stays on its thread; under free migration it is required for soundness.
//! * C3. `Local` has no destructor, so it can be accessed while the thread's other thread-locals
//!   are being destroyed.

use std::cell::Cell;
use std::num::NonZero;
use std::panic::Location;
use std::ptr;
use std::thread::panicking;
use std::time::Instant;

use super::fiber_ptr::FiberPtr;
use super::header::Header;
use super::jobs::Jobs;
use super::schedule::{AfterSwitch, BlockInPlace};
use super::slab::{self, Magazines};
use super::thread_registry;
use crate::base::clock;
use crate::base::rng::Rng;
use crate::context::Stack;
use crate::shim::{self, thread_local_const};
use crate::sys::poller::Driver;

/// Operations before the first clock read, which costs a hundredth of the whole budget.
const BEFORE_LOOK: u16 = 16;

/// Operations after the clock read; 128 in all, as in Tokio.
const AFTER_LOOK: u16 = 112;

/// Operations between two clock reads in a row, while the fibers of a thread compute for long.
const BETWEEN_LOOKS: u16 = 4;

/// A fiber that computes for this long between two clock reads yields after the second one.
/// Nanoseconds.
const LONG_RUN: u64 = 200_000;

/// Operations that a fiber may still complete before [`Then`] takes effect. PERF: one word,
/// which is copied for each run.
#[repr(C, align(8))]
struct Budget {
    operations: Cell<u16>,
    then: Cell<Then>,
    /// The time from which the running fiber has been yielding in place, in microseconds.
    stalled: Cell<Option<NonZero<u32>>>,
}

/// The effect of the last operation of a [`Budget`].
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
#[repr(u16)]
enum Then {
    /// The fiber yields.
    GiveWay,
    /// The fiber reads the clock, and continues. If a long time has passed since the worker last
    /// read it, or its fibers compute for long, `LookAgain` follows at the next operation.
    Look,
    /// The fiber reads the clock a second time. Only this fiber has run since the first read, so
    /// it yields if that was long ago. If not, and the time before the first read was long,
    /// `LookLast` follows: a fiber may complete a short operation after each long computation.
    LookAgain,
    /// The fiber reads the clock a third time. It yields if the first read was long ago.
    LookLast,
}

impl Budget {
    const fn new(operations: u16, then: Then) -> Budget {
        Budget {
            operations: Cell::new(operations),
            then: Cell::new(then),
            stalled: Cell::new(None),
        }
    }

    #[inline(always)]
    fn set(&self, operations: u16, then: Then) {
        self.operations.set(operations);
        self.then.set(then);
    }
}

/// A thread's own record.
pub(crate) struct Local {
    /// The fiber that runs here; none on a thread's own stack.
    fiber: Cell<Option<FiberPtr>>,
    /// The header that this thread has borrowed to wait as a plain thread.
    plain_thread: Cell<Option<FiberPtr>>,
    /// The last fiber that has left its stack on this thread with an action pending, to be done off
    /// its stack: it has ended, or may migrate.
    left: Cell<Option<FiberPtr>>,
    /// The action that this fiber has requested, unless it has ended.
    wish: Cell<Option<AfterSwitch>>,
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
    /// This worker's stack for polls, while no poll uses it (`wait::poll_stack`).
    spare: Cell<Option<Stack>>,
    /// This thread is a worker with fibers in virtual time.
    virtual_time: Cell<bool>,
    /// The last time at which this worker read the clock, in nanoseconds.
    moment: Cell<u64>,
    /// This thread's random numbers; none before the first.
    rng: Cell<Option<Rng>>,
    pub(super) magazines: Magazines,
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

thread_local_const! {
    static LOCAL: Local = Local::new()
}

/// Returns the thread's own record (C1, C2).
#[inline(never)]
pub(crate) fn local() -> &'static Local {
    let mut here: *const Local = LOCAL.with(ptr::from_ref);
    // SAFETY: an empty instruction that the compiler must assume to change `here` (C1).
    unsafe {
        std::arch::asm!("/* {0} */", inout(reg) here, options(nostack, preserves_flags));
    }
    // SAFETY: C3: the record lives as long as its thread, and the caller is on that thread.
    unsafe { &*here }
}

impl Local {
    const fn new() -> Self {
        Local {
            fiber: Cell::new(None),
            plain_thread: Cell::new(None),
            left: Cell::new(None),
            wish: Cell::new(None),
            worker: Cell::new(ptr::null()),
            jobs: Cell::new(Jobs::none()),
            starting: Cell::new(ptr::null()),
            driver: Cell::new(None),
            budget: Budget::new(0, Then::GiveWay),
            allowance: Budget::new(BEFORE_LOOK, Then::Look),
            unusual: Cell::new(0),
            poll_timers: Cell::new(ptr::null()),
            spare: Cell::new(None),
            virtual_time: Cell::new(false),
            moment: Cell::new(0),
            rng: Cell::new(None),
            magazines: Magazines::new(),
        }
    }

    /// Returns the fiber that runs here; none on a thread's own stack, including a worker's.
    #[inline(always)]
    pub(crate) fn fiber(&self) -> Option<FiberPtr> {
        self.fiber.get()
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
    pub(crate) fn set_left(&self, fiber: FiberPtr, wish: Option<AfterSwitch>) {
        self.left.set(Some(fiber));
        self.wish.set(wish);
    }

    /// Returns the fiber that has ended here last, if its worker has not retired it yet.
    pub(crate) fn ended(&self) -> Option<FiberPtr> {
        self.left.get().filter(|_| self.wish.get().is_none())
    }

    #[inline(always)]
    pub(crate) fn take_left(&self) -> Option<(FiberPtr, Option<AfterSwitch>)> {
        match self.left.get() {
            None => None,
            Some(fiber) => {
                self.left.set(None);
                Some((fiber, self.wish.get()))
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
        self.budget.set(AFTER_LOOK, Then::GiveWay);
    }

    /// Makes the next operation of the running fiber the last one of its budget.
    pub(crate) fn spend_with_next(&self) {
        self.budget.set(1, Then::GiveWay);
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
    /// has seeded them.
    ///
    /// # Panics
    /// If `n` is 0.
    pub(crate) fn random_below(&self, n: usize) -> usize {
        let mut rng = self.rng.take().unwrap_or_else(|| Rng::new(shim::seed()));
        let number = rng.below(n);
        self.rng.set(Some(rng));
        number
    }

    /// Makes `rng` the source of this thread's random numbers, and its fibers' clock that of their
    /// scheduler.
    pub(crate) fn set_deterministic(&self, rng: Rng) {
        self.rng.set(Some(rng));
        self.virtual_time.set(true);
    }

    /// Returns when this worker last read the clock (nanoseconds, as `base::clock` counts).
    #[inline(always)]
    pub(crate) fn moment(&self) -> u64 {
        self.moment.get()
    }

    /// Records that the worker has read the clock.
    pub(crate) fn set_moment(&self, now: u64) {
        self.moment.set(now);
    }

    /// Returns whether the last operation of the budget has just been taken.
    pub(crate) fn is_spent(&self) -> bool {
        self.budget.operations.get() == 0 && self.budget.then.get() == Then::GiveWay
    }

    /// Takes one operation from the budget. If it returns true, the caller must call
    /// [`is_to_give_way`](Self::is_to_give_way).
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
    pub(crate) fn is_to_give_way(&self) -> bool {
        if self.budget.operations.get() != 0 || self.fiber().is_none() {
            return false;
        }
        match self.budget.then.get() {
            Then::GiveWay => true,
            then => self.has_computed(then),
        }
    }

    /// Returns whether the running fiber has computed for long since the clock was read.
    fn has_computed(&self, then: Then) -> bool {
        self.budget.set(AFTER_LOOK, Then::GiveWay);
        if self.virtual_time.get() {
            return false;
        }
        let now = clock::now();
        let long = now.saturating_sub(self.moment.get()) >= LONG_RUN;
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
                self.budget.set(0, Then::GiveWay);
            }
            _ => {}
        }
        self.moment.set(now);
        self.is_spent()
    }
}

/// Returns the caller's present moment: by its runtime's clock on a fiber, else by the real one.
#[inline]
pub(crate) fn now(local: &Local) -> Instant {
    if local.virtual_time.get() {
        return virtual_now(local);
    }
    shim::now()
}

#[cold]
fn virtual_now(local: &Local) -> Instant {
    match local.fiber.get() {
        Some(fiber) => fiber.header().home().now(local),
        None => shim::now(),
    }
}

/// The message of the panic in a start hook that would wait for fibers: its worker runs none before
/// the hook has returned.
pub(crate) const IN_START_HOOK: &str =
    "an on_thread_start hook waits for fibers of the runtime that it is part of";

/// Called when a panic of the running fiber has ended. If no fiber unwinds on this thread any more,
/// the next one that does can be distinguished again.
#[cold]
pub(super) fn unwound() {
    if !panicking() {
        local().set_left_unwinding(false);
    }
}

/// Returns whether the caller itself unwinds: false also if another fiber of this thread is
/// suspended while unwinding, which `std` cannot distinguish from it.
pub(crate) fn is_unwinding(local: &Local) -> bool {
    panicking() && !local.left_unwinding()
}

/// As [`identity`], but none for a thread that has not needed one yet.
#[inline]
pub(crate) fn known(local: &Local) -> Option<FiberPtr> {
    local.fiber.get().or(local.plain_thread.get())
}

/// Returns the number of the fiber that runs here, or of the thread if it has waited before.
#[inline]
pub(crate) fn number(local: &Local) -> Option<u64> {
    match local.fiber() {
        Some(fiber) => Some(fiber.header().id()),
        None => number_of_thread(local),
    }
}

#[cold]
fn number_of_thread(local: &Local) -> Option<u64> {
    local.plain_thread.get().map(|fiber| fiber.header().id())
}

/// Returns the fiber that runs here. On a thread's own stack, returns the header that stands for
/// the thread, borrowed from the slab at the first call and returned when the thread ends.
#[inline]
pub(crate) fn identity(local: &Local) -> FiberPtr {
    match local.fiber() {
        Some(fiber) => fiber,
        None => identity_of_thread(local),
    }
}

#[cold]
fn identity_of_thread(local: &Local) -> FiberPtr {
    if let Some(header) = local.plain_thread.get() {
        return header;
    }
    let header = Header::alone(local, 0, Location::caller(), &BlockInPlace);
    local.plain_thread.set(Some(header));
    thread_registry::enter(header);
    slab::at_thread_exit();
    header
}

/// Returns a plain thread's header to the slab.
pub(super) fn give_identity_back(local: &Local) {
    if let Some(header) = local.plain_thread.get() {
        // The thread still owns what the destructors create or wait for.
        super::local::destroy::destroy_all(header.header());
        local.plain_thread.set(None);
        thread_registry::leave(header);
        // Any remaining ticket of this thread ends here, not in the next life.
        header.state.finish();
        // SAFETY: the thread owns the one reference made in `identity_of_thread`.
        unsafe { Header::release(header) };
    }
}
