//! The one door to the runtime's thread-local: which fiber runs here, and on what.
//!
//! Invariants:
//! * C1. All access goes through [`local`], which the compiler can neither inline nor prove
//!   free of effects, so two calls with a suspension between them are two reads. (Not
//!   inlined alone is not enough: with one codegen unit or fat LTO the optimiser infers
//!   that such a function always returns the same address and merges the calls.)
//! * C2. The reference is not kept across a suspension point. In settled mode that is a
//!   matter of hygiene, since a started fiber stays on its thread; under free migration it
//!   is a matter of soundness.
//! * C3. `Local` has no destructor, so it can be reached while the thread's other
//!   thread-locals are being destroyed.

use std::cell::Cell;
use std::num::NonZero;
use std::panic::Location;
use std::ptr;
use std::thread::panicking;
use std::time::Instant;

use super::header::{FiberPtr, Header};
use super::jobs::Jobs;
use super::schedule::{InPerson, Wish};
use super::slab::{self, Magazines};
use super::vigil;
use crate::base::clock;
use crate::base::rng::Rng;
use crate::context::Stack;
use crate::shim::{self, thread_local_const};
use crate::sys::poller::Driver;

/// Operations before the first clock read, which costs a hundredth of the whole budget.
const BEFORE_LOOK: u16 = 16;

/// Operations after the clock read; 128 in all, as in Tokio.
const AFTER_LOOK: u16 = 112;

/// A fiber that computes for this long between two operations yields after the second one.
/// Nanoseconds.
const LONG_RUN: u64 = 200_000;

/// Operations that a fiber may still complete before [`Then`] takes effect. PERF: one word,
/// which is copied for each run.
#[repr(C, align(8))]
struct Budget {
    operations: Cell<u16>,
    then: Cell<Then>,
    /// Since when the running fiber has been yielding in place, in microseconds.
    stalled: Cell<Option<NonZero<u32>>>,
}

/// The effect of the last operation of a [`Budget`].
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
#[repr(u16)]
enum Then {
    /// The fiber yields.
    GiveWay,
    /// The fiber reads the clock, and continues. If a long time has passed since the worker last
    /// read it, `LookAgain` follows at the next operation.
    Look,
    /// The fiber reads the clock a second time. Only this fiber has run since the first read, so
    /// it yields if that was long ago.
    LookAgain,
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

/// What a thread knows about itself.
pub(crate) struct Local {
    /// The fiber that runs here; none on a thread's own stack.
    fiber: Cell<Option<FiberPtr>>,
    /// The header that this thread has borrowed to wait in person.
    person: Cell<Option<FiberPtr>>,
    /// The fiber that has been left here last, and for which something remains to be done off
    /// its stack: it has ended, or may migrate.
    left: Cell<Option<FiberPtr>>,
    /// What that fiber wants, unless it has ended.
    wish: Cell<Option<Wish>>,
    /// The worker of `sched` that this thread is; null on other threads.
    worker: Cell<*const ()>,
    /// The list of pending jobs of the running fiber; on other threads that of nobody.
    jobs: Cell<&'static Jobs>,
    /// The pool whose start hook runs on this thread, which will be one of its workers; else
    /// null.
    starting: Cell<*const ()>,
    /// Where this thread, a worker, asks for what its fibers wait for outside of the process.
    driver: Cell<Option<&'static Driver>>,
    /// The rest of the running fiber's budget.
    budget: Budget,
    /// The budget of the next fiber that runs here.
    allowance: Budget,
    /// Which of the [`unusual`] states the thread is in.
    unusual: Cell<u8>,
    /// The desk of the party that polls here (`wait::agenda`); null if nobody does.
    desk: Cell<*const ()>,
    /// The stack that this thread, a worker, has for polls, while nobody polls there (`wait::aside`).
    spare: Cell<Option<Stack>>,
    /// This thread is a worker whose fibers live in virtual time.
    virtual_time: Cell<bool>,
    /// When the worker that this thread is last read the clock, in nanoseconds.
    moment: Cell<u64>,
    /// This thread's random numbers; none before the first.
    rng: Cell<Option<Rng>>,
    pub(super) magazines: Magazines,
}

/// States of a thread in which a fiber yields and parks in another way than usual, one bit each.
/// PERF: one byte, so that the usual way costs one test.
mod unusual {
    /// This thread is a worker with fibers that may migrate.
    pub(super) const FREE: u8 = 1;
    /// The running fiber is in the middle of a poll (`wait::polling`), of a future of its own.
    pub(super) const POLLS_OURS: u8 = 2;
    /// The same, of a future that other code polls.
    pub(super) const POLLS_THEIRS: u8 = 4;
    pub(super) const POLLS: u8 = POLLS_OURS | POLLS_THEIRS;
    /// A fiber of this thread has been suspended in the middle of unwinding.
    pub(super) const LEFT_UNWINDING: u8 = 8;
}

/// What a fiber is in the middle of polling.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum Polling {
    Nothing,
    /// A future that somebody else's code polls.
    Theirs,
    /// A future that it waits for (`future::wait`): it gives way between polls.
    Ours,
}

thread_local_const! {
    static LOCAL: Local = Local::new()
}

/// The thread's own record (C1, C2).
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
            person: Cell::new(None),
            left: Cell::new(None),
            wish: Cell::new(None),
            worker: Cell::new(ptr::null()),
            jobs: Cell::new(Jobs::nobodys()),
            starting: Cell::new(ptr::null()),
            driver: Cell::new(None),
            budget: Budget::new(0, Then::GiveWay),
            allowance: Budget::new(BEFORE_LOOK, Then::Look),
            unusual: Cell::new(0),
            desk: Cell::new(ptr::null()),
            spare: Cell::new(None),
            virtual_time: Cell::new(false),
            moment: Cell::new(0),
            rng: Cell::new(None),
            magazines: Magazines::new(),
        }
    }

    /// The fiber that runs here; none on a thread's own stack, a worker's included.
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

    /// Makes this thread a worker, or with null a plain thread again, with its driver.
    pub(crate) fn set_worker(&self, worker: *const (), driver: Option<&'static Driver>) {
        self.worker.set(worker);
        self.driver.set(driver);
    }

    /// Where joins of fibers of this thread put their jobs.
    #[inline(always)]
    pub(crate) fn jobs(&self) -> &'static Jobs {
        self.jobs.get()
    }

    /// Has joins put their jobs elsewhere, and says where they did.
    ///
    /// # Safety
    /// JO3: `jobs` are there until they are replaced here; and all of the former ones have been promoted.
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

    /// Whether the thread is in none of the states in which a fiber yields and parks in another
    /// way than usual: its fibers migrate, the running one polls, or one has been left unwinding.
    #[inline(always)]
    pub(crate) fn is_usual(&self) -> bool {
        self.unusual.get() == 0
    }

    fn set_unusual(&self, states: u8, now: u8) {
        self.unusual.set(self.unusual.get() & !states | now);
    }

    /// Whether the fibers of this thread may go on on another one.
    #[inline(always)]
    pub(crate) fn is_free(&self) -> bool {
        self.unusual.get() & unusual::FREE != 0
    }

    pub(crate) fn set_free(&self, free: bool) {
        self.set_unusual(unusual::FREE, u8::from(free) * unusual::FREE);
    }

    /// Leaves word that `fiber` has ended, or what it wants.
    #[inline(always)]
    pub(crate) fn set_left(&self, fiber: FiberPtr, wish: Option<Wish>) {
        self.left.set(Some(fiber));
        self.wish.set(wish);
    }

    /// The fiber that has ended here last, if its worker has not retired it yet.
    pub(crate) fn ended(&self) -> Option<FiberPtr> {
        self.left.get().filter(|_| self.wish.get().is_none())
    }

    #[inline(always)]
    pub(crate) fn take_left(&self) -> Option<(FiberPtr, Option<Wish>)> {
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

    /// The running fiber has given way in place: it has a new budget.
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

    /// Whether the fibers of this thread compute for long between two operations.
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

    pub(crate) fn desk(&self) -> *const () {
        self.desk.get()
    }

    pub(crate) fn set_desk(&self, desk: *const ()) {
        self.desk.set(desk);
    }

    /// Takes the stack for polls, if it is here.
    #[inline(always)]
    pub(crate) fn take_spare(&self) -> Option<Stack> {
        self.spare.take()
    }

    /// Puts a stack for polls here, and returns the one that was.
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

    /// Since when the running fiber has been yielding in place, in microseconds: `now`, if it has
    /// not.
    pub(crate) fn stalled_since(&self, now: NonZero<u32>) -> NonZero<u32> {
        let since = self.budget.stalled.get().unwrap_or(now);
        self.budget.stalled.set(Some(since));
        since
    }

    /// A random number below `n`, each equally likely. A worker whose runtime is
    /// deterministic has seeded them.
    ///
    /// # Panics
    /// If `n` is 0.
    pub(crate) fn random_below(&self, n: usize) -> usize {
        let mut rng = self.rng.take().unwrap_or_else(|| Rng::new(shim::seed()));
        let number = rng.below(n);
        self.rng.set(Some(rng));
        number
    }

    /// Makes this thread one whose random numbers are `rng`'s and whose fibers are asked
    /// what time it is.
    pub(crate) fn set_deterministic(&self, rng: Rng) {
        self.rng.set(Some(rng));
        self.virtual_time.set(true);
    }

    /// When this thread, a worker, last read the clock (nanoseconds, as `base::clock` counts).
    #[inline(always)]
    pub(crate) fn moment(&self) -> u64 {
        self.moment.get()
    }

    /// Notes that the worker has read the clock.
    pub(crate) fn set_moment(&self, now: u64) {
        self.moment.set(now);
    }

    /// The last operation of the budget has just been taken.
    pub(crate) fn is_spent(&self) -> bool {
        self.budget.operations.get() == 0 && self.budget.then.get() == Then::GiveWay
    }

    /// Takes one operation from the budget. If it returns true, the caller must call
    /// [`is_to_give_way`](Self::is_to_give_way).
    #[inline(always)]
    pub(crate) fn spend(&self) -> bool {
        let left = self.budget.operations.get().wrapping_sub(1);
        self.budget.operations.set(left);
        left == 0
    }

    /// Whether the fiber must yield: its budget is spent, or it has computed for too long between
    /// two operations. Call it once for each operation after which [`spend`](Self::spend) returns
    /// true; at other times it returns false.
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

    /// Whether the running fiber has computed for long between its last two operations.
    fn has_computed(&self, then: Then) -> bool {
        self.budget.set(AFTER_LOOK, Then::GiveWay);
        if self.virtual_time.get() {
            return false;
        }
        let now = clock::now();
        if now.saturating_sub(self.moment.replace(now)) < LONG_RUN {
            return false;
        }
        match then {
            // The time may have been spent by the fibers before this one.
            Then::Look => self.budget.set(1, Then::LookAgain),
            _ => self.budget.set(0, Then::GiveWay),
        }
        self.is_spent()
    }
}

/// The present moment of the caller: of its runtime's clock on a fiber, else of the real one.
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
        // SAFETY: H1.
        Some(fiber) => unsafe { fiber.as_ref() }.home().now(local),
        None => shim::now(),
    }
}

/// What a start hook is told that would wait for fibers: its worker runs none before it has
/// returned.
pub(crate) const IN_START_HOOK: &str =
    "an on_thread_start hook waits for fibers of the runtime that it is part of";

/// A panic of the running fiber has come to its end. If nobody unwinds on this thread any
/// more, the next one that does can be told from the others again.
#[cold]
pub(super) fn unwound() {
    if !panicking() {
        local().set_left_unwinding(false);
    }
}

/// Whether it is the caller that unwinds: false also where another fiber of this thread is
/// suspended in the middle of unwinding, which `std` cannot tell from it.
pub(crate) fn is_unwinding(local: &Local) -> bool {
    panicking() && !local.left_unwinding()
}

/// As [`identity`], but none for a thread that has not needed one yet.
#[inline]
pub(crate) fn known(local: &Local) -> Option<FiberPtr> {
    local.fiber.get().or(local.person.get())
}

/// The number of the fiber that runs here, or of the thread if it has waited before.
#[inline]
pub(crate) fn number(local: &Local) -> Option<u64> {
    match local.fiber() {
        // SAFETY: H1.
        Some(fiber) => Some(unsafe { fiber.as_ref() }.id()),
        None => number_of_thread(local),
    }
}

#[cold]
fn number_of_thread(local: &Local) -> Option<u64> {
    // SAFETY: H1.
    local
        .person
        .get()
        .map(|header| unsafe { header.as_ref() }.id())
}

/// The fiber that runs here; on a thread's own stack, the header that stands for the
/// thread, borrowed from the slab the first time and given back when the thread ends.
#[inline]
pub(crate) fn identity(local: &Local) -> FiberPtr {
    match local.fiber() {
        Some(fiber) => fiber,
        None => identity_of_thread(local),
    }
}

#[cold]
fn identity_of_thread(local: &Local) -> FiberPtr {
    if let Some(header) = local.person.get() {
        return header;
    }
    let header = Header::alone(local, 0, Location::caller(), &InPerson);
    local.person.set(Some(header));
    vigil::enter(header);
    slab::at_thread_exit();
    header
}

/// Ends the loan of a plain thread's header.
pub(super) fn give_identity_back(local: &Local) {
    if let Some(header) = local.person.get() {
        // What the destructors make or wait for is this thread's still.
        // SAFETY: H1.
        super::local::destroy_all(unsafe { header.as_ref() });
        local.person.set(None);
        vigil::leave(header);
        // Whatever ticket of this thread is still about ends here, not in the next life.
        // SAFETY: H1.
        unsafe { header.as_ref() }.state.finish();
        // SAFETY: the thread owns the one reference made in `identity_of_thread`.
        unsafe { Header::release(header) };
    }
}
