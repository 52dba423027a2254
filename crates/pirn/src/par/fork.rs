//! The two halves of a join: note the second, run the first, run the second if it is still noted.
//!
//! The way that joins go as a rule has no call but those of the halves, no read-modify-write and no fence: the
//! word of the beats is looked at, the task is linked in and out with plain loads and stores.

use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::thread;

use super::task::Task;
use crate::base::dropping::drop_caught;
use crate::fiber::current;
use crate::fiber::jobs::Jobs;
use crate::fiber::unwound::Panic;
use crate::sched::beat::{Place, beat, place};

/// Where a second half runs: at its join, where these jobs are those of its fiber, or somewhere.
pub(super) type Here = Option<&'static Jobs>;

/// Runs `a` and `b` and returns what they do; `b` perhaps on another fiber. `jobs` are the caller's, and nobody
/// has asked for any.
///
/// `b` is what another thread may run, and its result what that may give back.
#[inline(always)]
pub(super) fn fork<A, B, RA, RB>(
    jobs: &'static Jobs,
    at: &'static Location<'static>,
    a: A,
    b: B,
) -> (RA, RB)
where
    A: FnOnce() -> RA,
    B: FnOnce(Here) -> RB,
{
    let task = Task::new(at, b);
    // SAFETY: JO1, TA2: `end` comes in any case, before the frame ends.
    unsafe { jobs.push(task.place()) };
    // UNWIND: raised again when the second half has ended, which may borrow what this would drop.
    let left = catch_unwind(AssertUnwindSafe(a));
    end(jobs, Some(jobs), &task, left)
}

/// As [`fork`], for a caller that is to look up. On a plain thread this runs one after the other.
#[cold]
#[inline(never)]
pub(super) fn fork_when_due<A, B, RA, RB>(
    at: &'static Location<'static>,
    a: A,
    b: B,
) -> (RA, RB)
where
    A: FnOnce() -> RA,
    B: FnOnce(Here) -> RB,
{
    let local = current::local();
    let Place::Fiber(jobs) = place(local) else {
        return match catch_unwind(AssertUnwindSafe(a)) {
            Ok(left) => (left, b(None)),
            Err(panic) => after_panic(panic, || b(None)),
        };
    };
    let task = Task::new(at, b);
    // SAFETY: as in `fork`.
    unsafe { jobs.push(task.place()) };
    beat(local);
    // UNWIND: as in `fork`.
    let left = catch_unwind(AssertUnwindSafe(a));
    end(jobs, None, &task, left)
}

/// The first half has ended.
#[inline(always)]
fn end<B, RA, RB>(
    jobs: &Jobs,
    here: Here,
    task: &Task<B, RB>,
    left: thread::Result<RA>,
) -> (RA, RB)
where
    B: FnOnce(Here) -> RB,
{
    if !task.job().is_pending() {
        // SAFETY: TA2: not pending, and this is the one call.
        let right = unsafe { task.finish() };
        return both(left, right);
    }
    // SAFETY: JO2: pending, so the fiber has not left this thread, whose jobs these are.
    unsafe { jobs.pop(task.job()) };
    // SAFETY: TA1: it was pending.
    let b = unsafe { task.take() };
    match left {
        Ok(left) => (left, b(here)),
        Err(panic) => after_panic(panic, || b(here)),
    }
}

/// Runs a second half whose first one has panicked.
#[cold]
fn after_panic<R>(panic: Panic, b: impl FnOnce() -> R) -> ! {
    // UNWIND: of two panics the first half's is raised.
    drop_caught(catch_unwind(AssertUnwindSafe(b)));
    resume_unwind(panic)
}

#[cold]
fn both<RA, RB>(left: thread::Result<RA>, right: thread::Result<RB>) -> (RA, RB) {
    match (left, right) {
        (Ok(left), Ok(right)) => (left, right),
        (Ok(left), Err(panic)) => {
            // UNWIND: a destructor must not panic into the panic that is raised.
            drop_caught(left);
            resume_unwind(panic)
        }
        (Err(panic), right) => {
            drop_caught(right);
            resume_unwind(panic)
        }
    }
}
