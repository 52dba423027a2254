//! Yields: a fiber lets others run first, because it asks to, or because its budget is spent.
//!
//! Owns: the budget of operations that do not wait, and the rule by which a fiber that unwinds
//! stays on its thread. Does not own: how a fiber leaves its stack (`suspend`), nor waits (`park`,
//! which has the reasons for that rule in its header).

use std::num::NonZero;
use std::ptr;
use std::thread::panicking;
use std::time::Duration;

use super::spec::How;
use super::suspend::{requeue, requeue_pinned, requeue_settled};
use crate::base::choice::{Operation, Step};
use crate::base::clock;
#[cfg(pirn_mutants)]
use crate::base::mutant::mutant;
use crate::fiber::FiberPtr;
use crate::fiber::current::{self, Local, Polling};
use crate::fiber::jobs::{promote_all, with_jobs_along};
use crate::fiber::token_registration::see_cancellation_of_all;
use crate::shim;
use crate::wait::interrupt::Interrupt;
use crate::wait::polling;

/// The time that an unwinding fiber blocks its thread while others wait behind it. Arbitrary:
/// unwinding takes microseconds, and a waiting destructor should be done by then.
pub(super) const PATIENCE: Duration = Duration::from_millis(10);

/// The same while only an observer waits for the thread: less than the 50 ms that it waits for an
/// answer.
pub(super) const OBSERVERS_WAIT: Duration = Duration::from_millis(30);

/// Like [`yield_now`], for a fiber that runs joins while others want its thread: its pending jobs
/// stay its own. (Otherwise they would become fibers, and each time more fibers would want the
/// thread.)
#[cold]
pub(crate) fn yield_joining() {
    let local = current::local();
    let Some(fiber) = local.fiber().filter(|_| !local.is_free() && !panicking()) else {
        return yield_on(local);
    };
    with_jobs_along(local, || {
        local.set_left_unwinding(false);
        requeue(local, fiber);
    });
}

/// Lets all other ready fibers that have started run first. A plain thread yields its core. Does
/// nothing inside a poll.
#[inline]
pub(crate) fn yield_now() {
    yield_on(current::local());
}

/// Like [`yield_now`], for a caller that asked for a yield.
///
/// # Panics
/// Inside a poll (`polling`).
#[inline(always)]
#[track_caller]
pub(crate) fn yield_if_allowed() {
    let local = current::local();
    match local.fiber() {
        Some(fiber) if yields_as_usual(local) => yield_usually(local, fiber),
        _ => {
            if polling::forbids_waiting(local) {
                polling::refuse();
            }
            yield_on(local);
        }
    }
}

#[inline(never)]
fn yield_on(local: &Local) {
    match local.fiber() {
        Some(fiber) if yields_as_usual(local) => yield_usually(local, fiber),
        Some(fiber) => yield_unusually(local, fiber),
        None => shim::thread::yield_now(),
    }
}

/// Returns true if the fiber that runs here does not poll, unwind or migrate, and none is left
/// unwinding.
#[inline(always)]
pub(super) fn yields_as_usual(local: &Local) -> bool {
    local.is_usual() && !panicking()
}

#[inline(always)]
fn yield_usually(local: &Local, fiber: FiberPtr) {
    promote_all(local);
    requeue_settled(local, fiber);
}

/// Yields if not [`yields_as_usual`].
fn yield_unusually(local: &Local, fiber: FiberPtr) {
    if local.is_polling() {
        // The next operation after the poll yields.
        local.spend_with_next();
    } else if panicking() {
        yield_while_unwinding(local, fiber);
    } else {
        local.set_left_unwinding(false);
        promote_all(local);
        requeue(local, fiber);
    }
}

/// Returns true if the running fiber has to stay on its thread because it unwinds. While another
/// fiber of this thread is suspended in the middle of unwinding, `std` cannot distinguish them, and
/// no fiber stays. That lasts until no fiber on this thread unwinds.
#[inline]
pub(super) fn unwinds(local: &Local) -> bool {
    if !panicking() {
        // Inside a poll the caller does not park. It spends a ticket that has been claimed (a
        // select with a default), or waits as outside of a poll.
        local.set_left_unwinding(false);
        return false;
    }
    // If a poll unwinds, the fibers that run here meanwhile are not in it.
    local.set_polling(Polling::Nothing);
    local.set_poll_timers(ptr::null());
    if leaves_at_once(local) {
        local.set_left_unwinding(true);
    }
    !local.left_unwinding()
}

/// Returns true where time is virtual: it stands still while the thread is blocked, so no fiber
/// waits in place.
#[cold]
fn leaves_at_once(local: &Local) -> bool {
    let header = local.fiber().map(|fiber| fiber.header());
    header.is_some_and(|header| header.home().time_is_virtual())
}

/// Yields in place, until others have waited behind this fiber for [`PATIENCE`].
#[cold]
fn yield_while_unwinding(local: &Local, fiber: FiberPtr) {
    promote_all(local);
    if local.left_unwinding() || leaves_at_once(local) {
        local.set_left_unwinding(true);
        return requeue_pinned(local, fiber);
    }
    // Zero, once in 71 minutes, is replaced by one.
    let now = NonZero::new((clock::now() / 1_000) as u32).unwrap_or(NonZero::<u32>::MIN);
    let since = local.stalled_since(now);
    let stalled = Duration::from_micros(now.get().wrapping_sub(since.get()).into());
    let home = fiber.header().home();
    if stalled >= PATIENCE && home.others_wait(stalled >= OBSERVERS_WAIT) {
        local.set_left_unwinding(true);
        requeue_pinned(local, fiber);
    } else {
        shim::thread::yield_now();
        local.renew_budget();
    }
}

/// Counts one operation, and says which one it is. The last one of a fiber's budget yields, so that
/// a fiber with operations that never wait cannot keep its worker indefinitely.
#[inline]
pub(crate) fn consume_budget(operation: Operation, object: usize) {
    consume_budget_here(operation, object);
}

/// Like [`consume_budget`]; returns the record of the thread that the caller then runs on.
#[inline]
pub(crate) fn consume_budget_here(operation: Operation, object: usize) -> &'static Local {
    let local = current::local();
    if !local.consume_budget() {
        return local;
    }
    spent(local, operation, object)
}

/// Yields if the budget is spent.
#[cold]
#[inline(never)]
fn spent(local: &'static Local, operation: Operation, object: usize) -> &'static Local {
    if !local.must_yield() {
        return local;
    }
    yield_as_spent(local, Step { operation, object });
    current::local()
}

/// Yields, since the budget is spent. Where each operation spends it, a fiber that unwinds defers
/// that to its next operation: `std` would count its panic for the fibers that run meanwhile. Not
/// if a fiber has left its stack while it unwinds: then the running one may be another.
#[cold]
pub(in crate::wait) fn yield_as_spent(local: &Local, step: Step) {
    // The worker may come to that much later, and to a fiber in a poll not at all.
    see_cancellation_of_all(local);
    #[cfg(pirn_mutants)]
    if is_left_out(step.operation) {
        return local.spend_with_next();
    }
    if local.time_is_virtual() && panicking() && !local.left_unwinding() {
        local.put_choice_off();
        local.spend_with_next();
        return;
    }
    match local.is_polling() {
        true => local.put_choice_off(),
        false => local.set_step(step),
    }
    yield_on(local);
}

/// Lets a deterministic scheduler that [chooses](Local::chooses) decide which fiber runs next.
/// Called before an operation that other fibers notice, and that does not count for the budget
/// because it never waits. Inside a poll the choice is put off to the poll's end, and while the
/// caller unwinds to its next operation.
#[inline]
pub(crate) fn point(operation: Operation, object: usize) {
    let local = current::local();
    if local.chooses() && local.fiber().is_some() {
        yield_as_spent(local, Step { operation, object });
    }
}

/// Returns true in a process with the seeded bug that leaves out the choice before operations of
/// this kind.
#[cfg(pirn_mutants)]
fn is_left_out(operation: Operation) -> bool {
    match operation {
        Operation::Lock => mutant!("no_choice_before_lock"),
        Operation::Read => mutant!("no_choice_before_read"),
        Operation::TryLock => mutant!("no_choice_before_try_lock"),
        Operation::Acquire => mutant!("no_choice_before_acquire"),
        Operation::TryAcquire => mutant!("no_choice_before_try_acquire"),
        Operation::Release => mutant!("no_choice_before_release"),
        Operation::Wait => mutant!("no_choice_before_wait"),
        Operation::Notify => mutant!("no_choice_before_notify"),
        Operation::Set => mutant!("no_choice_before_set"),
        Operation::Arrive => mutant!("no_choice_before_arrive"),
        Operation::Send => mutant!("no_choice_before_send"),
        Operation::TrySend => mutant!("no_choice_before_try_send"),
        Operation::Receive => mutant!("no_choice_before_receive"),
        Operation::TryReceive => mutant!("no_choice_before_try_receive"),
        Operation::Close => mutant!("no_choice_before_close"),
        Operation::Look => mutant!("no_choice_before_look"),
        Operation::Select => mutant!("no_choice_before_select"),
        Operation::TrySelect => mutant!("no_choice_before_try_select"),
        Operation::Park => mutant!("no_choice_before_park"),
        Operation::Unpark => mutant!("no_choice_before_unpark"),
        Operation::Join => mutant!("no_choice_before_join"),
        Operation::End => mutant!("no_choice_before_end"),
        Operation::Cancel => mutant!("no_choice_before_cancel"),
        Operation::Check => mutant!("no_choice_before_check"),
        Operation::Sleep => mutant!("no_choice_before_sleep"),
        Operation::Poll => mutant!("no_choice_before_poll"),
        Operation::Io => mutant!("no_choice_before_io"),
        Operation::Load => mutant!("no_choice_before_load"),
        Operation::Store => mutant!("no_choice_before_store"),
        Operation::Point => mutant!("no_choice_before_point"),
    }
}

/// Yields if the fibers of this worker compute for long between two operations: fibers that the
/// caller has woken here would wait as long.
#[inline]
pub(crate) fn yield_if_slow() {
    let local = current::local();
    if local.is_slow() {
        yield_on(local);
    }
}

impl How {
    /// Converts the result of a wait for an end: true if that has come, false if the wait's own
    /// limit expired. Counts the operation if it is complete.
    pub(crate) fn ended(self) -> Result<bool, Interrupt> {
        match self {
            How::Interrupted(interrupt) => Err(interrupt),
            How::TimedOut => Ok(false),
            How::Woken(_) | How::Token => {
                consume_budget(Operation::Join, 0);
                Ok(true)
            }
        }
    }
}
