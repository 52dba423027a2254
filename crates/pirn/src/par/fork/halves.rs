//! The two halves of a join: push the second, run the first, run the second if it is
//! still in the list.
//!
//! Owns: which list a join pushes to, the order of these steps, and the results and
//! panics of both halves; the job (`task`), which only this module uses. Does not own:
//! the list itself (`fiber::jobs`), nor how a caller serves a request
//! (`sched::worker::heartbeat`).
//!
//! The common path has no call except those of the halves, no read-modify-write and no
//! fence. It reads the request word, and links the task in and out with plain loads and
//! stores.
//!
//! # Invariants
//! * FK1. A [`List`] is that of the worker that runs the code which holds it: it is
//!   looked up on that fiber, is not `Send`, and does not outlive the call of
//!   [`List::with`]. Where the fiber may migrate, it is the static empty list, which is
//!   always due.

use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};

use super::task::Task;
use crate::base::drop_guard::drop_caught;
use crate::fiber::current;
use crate::fiber::jobs::Jobs;
use crate::fiber::panic_payload::Panic;
use crate::sched::worker::heartbeat::{Place, beat, place};

/// The job list of the caller's worker, looked up once for many joins (FK1).
#[derive(Copy, Clone)]
pub(in crate::par) struct List<'s> {
    jobs: &'static Jobs,
    /// Stays with its fiber, and in the call of [`List::with`].
    fiber: PhantomData<*mut &'s ()>,
}

impl List<'_> {
    /// Calls `f` with the list of the calling fiber.
    #[inline]
    pub(in crate::par) fn with<R>(f: impl FnOnce(List<'_>) -> R) -> R {
        let local = current::local();
        // Where fibers may migrate, the list may be another one after a wait.
        let jobs = match local.is_free() {
            true => Jobs::none(),
            false => local.jobs(),
        };
        f(List {
            jobs,
            fiber: PhantomData,
        })
    }

    /// Returns true if there is a request for a job, or for the caller's thread: the next
    /// join serves it.
    #[inline(always)]
    pub(in crate::par) fn is_due(self) -> bool {
        match self.jobs.has_no_owner() {
            false => self.jobs.is_due(),
            true => current::local().jobs().is_due(),
        }
    }

    /// Runs `a` and `b` and returns their results; `b` may run on another fiber.
    /// `context` is lent to `a`, and then to `b` if it runs here.
    #[inline(always)]
    pub(in crate::par) fn join<C, A, B, RA, RB>(
        self,
        at: &'static Location<'static>,
        context: &mut C,
        a: A,
        b: B,
    ) -> (RA, RB)
    where
        A: FnOnce(&mut C) -> RA,
        B: FnOnce(Option<&mut C>) -> RB + Send,
        RB: Send,
    {
        if self.jobs.is_due() {
            return fork_when_due(at, context, a, b);
        }
        // SAFETY: FK1, and just found not to be due.
        unsafe { fork(self.jobs, at, context, a, b) }
    }
}

/// Runs `a` and `b` and returns their results, with the list that is looked up here. On a
/// plain thread both halves run on fibers.
#[inline(always)]
#[track_caller]
pub(in crate::par) fn join_here<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    let jobs = current::local().jobs();
    if jobs.is_due() {
        return join_when_due(a, b);
    }
    // SAFETY: looked up here; the static empty list is always due.
    unsafe { fork(jobs, Location::caller(), &mut (), |()| a(), |_| b()) }
}

#[cold]
#[inline(never)]
#[track_caller]
fn join_when_due<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    let at = Location::caller();
    match place(current::local()) {
        Place::Outside => crate::run(|| fork_when_due(at, &mut (), |()| a(), |_| b())),
        Place::Fiber(_) | Place::Alone => fork_when_due(at, &mut (), |()| a(), |_| b()),
    }
}

/// As [`List::join`].
///
/// # Safety
/// `jobs` is the list of the caller's worker, and was found not to be due.
// PERF: `bench fork-fib`: rare cases leave at once for functions of their own, by value.
// A `Result` of `a` that lived on, or a reference to it, would be stored in every join:
// seven instructions of fifty.
#[inline(always)]
unsafe fn fork<C, A, B, RA, RB>(
    jobs: &'static Jobs,
    at: &'static Location<'static>,
    context: &mut C,
    a: A,
    b: B,
) -> (RA, RB)
where
    A: FnOnce(&mut C) -> RA,
    B: FnOnce(Option<&mut C>) -> RB + Send,
    RB: Send,
{
    let task = Task::new(at, b);
    // SAFETY: JO1: by contract. TA2: `end` or `end_after_panic` comes in any
    // case, before the frame ends.
    unsafe { jobs.push(task.listed()) };
    // UNWIND: raised again when the second half has ended, which may borrow data that the
    // unwind would drop.
    match catch_unwind(AssertUnwindSafe(|| a(context))) {
        Ok(left) => end(jobs, Some(context), &task, left),
        Err(panic) => end_after_panic(jobs, Some(context), &task, panic),
    }
}

/// Like [`fork`], for a caller that has to look up its job list and serve requests first.
/// Where waiting is forbidden, one half runs after the other.
#[cold]
#[inline(never)]
fn fork_when_due<C, A, B, RA, RB>(
    at: &'static Location<'static>,
    context: &mut C,
    a: A,
    b: B,
) -> (RA, RB)
where
    A: FnOnce(&mut C) -> RA,
    B: FnOnce(Option<&mut C>) -> RB + Send,
    RB: Send,
{
    let local = current::local();
    let Place::Fiber(jobs) = place(local) else {
        return match catch_unwind(AssertUnwindSafe(|| a(context))) {
            Ok(left) => (left, b(None)),
            Err(panic) => after_panic(panic, || b(None)),
        };
    };
    let task = Task::new(at, b);
    // SAFETY: as in `fork`; the list has just been looked up.
    unsafe { jobs.push(task.listed()) };
    // UNWIND: as in `fork`; even if a heartbeat unwinds, the job is in the list or
    // promoted.
    let first = catch_unwind(AssertUnwindSafe(|| {
        // Not due if the caller only did not know its list.
        if jobs.is_due() {
            beat(local);
        }
        a(context)
    }));
    match first {
        Ok(left) => end(jobs, None, &task, left),
        Err(panic) => end_after_panic(jobs, None, &task, panic),
    }
}

/// Completes a join with an ended first half.
#[inline(always)]
fn end<C, B, RA, RB>(
    jobs: &Jobs,
    context: Option<&mut C>,
    task: &Task<C, B, RB>,
    left: RA,
) -> (RA, RB)
where
    B: FnOnce(Option<&mut C>) -> RB + Send,
    RB: Send,
{
    if !task.job().is_pending() {
        return end_elsewhere(task, left);
    }
    let b = take_back(jobs, task);
    (left, b(context))
}

/// Completes a join with an ended first half and a promoted second one.
#[cold]
#[inline(never)]
fn end_elsewhere<C, B, RA, RB>(task: &Task<C, B, RB>, left: RA) -> (RA, RB)
where
    B: FnOnce(Option<&mut C>) -> RB + Send,
    RB: Send,
{
    // SAFETY: TA2: not pending, and this is the one call.
    match unsafe { task.finish() } {
        Ok(right) => (left, right),
        Err(panic) => {
            // UNWIND: a destructor must not panic into the panic that is raised.
            drop_caught(left);
            resume_unwind(panic)
        }
    }
}

/// Completes a join with a panicked first half.
#[cold]
#[inline(never)]
fn end_after_panic<C, B, RB>(
    jobs: &Jobs,
    context: Option<&mut C>,
    task: &Task<C, B, RB>,
    panic: Panic,
) -> !
where
    B: FnOnce(Option<&mut C>) -> RB + Send,
    RB: Send,
{
    if task.job().is_pending() {
        let b = take_back(jobs, task);
        after_panic(panic, || b(context))
    }
    // SAFETY: TA2: not pending, and this is the one call.
    drop_caught(unsafe { task.finish() });
    resume_unwind(panic)
}

/// Pops the second half, which is pending when the first one has ended.
#[inline(always)]
fn take_back<C, B, RB>(jobs: &Jobs, task: &Task<C, B, RB>) -> B
where
    B: FnOnce(Option<&mut C>) -> RB + Send,
    RB: Send,
{
    // SAFETY: JO2: pending, so the fiber has not left this thread, which owns the list.
    unsafe { jobs.pop(task.job()) };
    // SAFETY: TA1: it was pending.
    unsafe { task.take() }
}

/// Runs a second half after the panic of the first one.
#[cold]
fn after_panic<R>(panic: Panic, b: impl FnOnce() -> R) -> ! {
    // UNWIND: of two panics the first half's is raised.
    drop_caught(catch_unwind(AssertUnwindSafe(b)));
    resume_unwind(panic)
}
