//! The two halves of a join: note the second, run the first, run the second if it is
//! still noted.
//!
//! Owns: the order of these steps, and what becomes of results and panics of both. Does
//! not own: the job (`task`), the list (`fiber::jobs`), nor what a caller does that has
//! been asked (`sched::beat`).
//!
//! The way that joins go as a rule has no call but those of the halves, no
//! read-modify-write and no fence: the word of the beats is looked at, the task is linked
//! in and out with plain loads and stores.

use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};

use super::task::Task;
use crate::base::dropping::drop_caught;
use crate::fiber::current;
use crate::fiber::jobs::Jobs;
use crate::fiber::unwound::Panic;
use crate::sched::beat::{Place, beat, place};

/// Runs `a` and `b` and returns what they do; `b` perhaps on another fiber. `context` is
/// lent to `a`, and then to `b` if it runs here.
///
/// # Safety
/// `jobs` are those of the worker that the caller is on, and have been found not to be
/// due.
// PERF: `bench fork-fib`: what is rare leaves at once for a function of its own, by
// value. A `Result` of `a` that lived on, or a reference to it, would be stored in every
// join: seven instructions of fifty.
#[inline(always)]
pub(super) unsafe fn fork<C, A, B, RA, RB>(
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
    // SAFETY: JO1: the caller's promise. TA2: `end` or `end_after_panic` comes in any
    // case, before the frame ends.
    unsafe { jobs.push(task.listed()) };
    // UNWIND: raised again when the second half has ended, which may borrow what this
    // would drop.
    match catch_unwind(AssertUnwindSafe(|| a(context))) {
        Ok(left) => end(jobs, Some(context), &task, left),
        Err(panic) => end_after_panic(jobs, Some(context), &task, panic),
    }
}

/// Like [`fork`], for a caller that is to look up whose jobs it is to note, and what it is
/// asked for. Where nobody may wait, one half runs after the other.
#[cold]
#[inline(never)]
pub(super) fn fork_when_due<C, A, B, RA, RB>(
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
    // SAFETY: as in `fork`; they have just been looked up.
    unsafe { jobs.push(task.listed()) };
    // UNWIND: as in `fork`; also if a beat should unwind, the job is in the list or
    // promoted.
    let first = catch_unwind(AssertUnwindSafe(|| {
        // Not so if the caller only did not know whose jobs these are.
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

/// The first half has ended.
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

/// The first half has ended, and another fiber has the second one.
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

/// The first half has panicked.
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

/// The second half, which is pending when the first one is over.
#[inline(always)]
fn take_back<C, B, RB>(jobs: &Jobs, task: &Task<C, B, RB>) -> B
where
    B: FnOnce(Option<&mut C>) -> RB + Send,
    RB: Send,
{
    // SAFETY: JO2: pending, so the fiber has not left this thread, whose jobs these are.
    unsafe { jobs.pop(task.job()) };
    // SAFETY: TA1: it was pending.
    unsafe { task.take() }
}

/// Runs a second half whose first one has panicked.
#[cold]
fn after_panic<R>(panic: Panic, b: impl FnOnce() -> R) -> ! {
    // UNWIND: of two panics the first half's is raised.
    drop_caught(catch_unwind(AssertUnwindSafe(b)));
    resume_unwind(panic)
}
