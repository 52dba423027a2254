//! Interrupts of the caller, and code under deadlines.
//!
//! Owns: which deadlines have an effect, and the rule that selects the interrupt: cancellation
//! before a deadline, of several deadlines the nearest. Does not own: the records of deadlines.
//!
//! Only the nearest limit is ever checked: a limit that is entered inside an earlier or equal one
//! has no effect. So an interrupt is reported to the limit that caused it, and to no other.

use std::time::Instant;

use super::clock::now;
use super::interrupt::Interrupt;
use super::yielding::yield_as_spent;
use crate::base::choice::{Operation, Step};
use crate::fiber::cancel_scope::{LimitRef, RegionRef};
use crate::fiber::current::{self, Local};
use crate::fiber::deadline::Limit;
use crate::fiber::token_registration::{self, within_limit};
use crate::fiber::{FiberPtr, Header};

pub(crate) use crate::fiber::token_registration::within;

/// Returns the caller's interrupt, if any. Interruptible calls check this before they try anything.
#[inline]
pub(crate) fn interrupted() -> Option<Interrupt> {
    let local = current::local();
    match local.fiber() {
        Some(fiber) => interrupt_of(fiber),
        None => thread_interrupted(local),
    }
}

#[cold]
fn thread_interrupted(local: &Local) -> Option<Interrupt> {
    current::known(local).and_then(interrupt_of)
}

#[inline(always)]
fn interrupt_of(fiber: FiberPtr) -> Option<Interrupt> {
    if has_no_limits(fiber.header()) {
        return None;
    }
    interrupt_in(fiber)
}

#[cold]
fn interrupt_in(fiber: FiberPtr) -> Option<Interrupt> {
    if token_registration::is_cancelled(fiber) {
        return Some(Interrupt::Cancelled);
    }
    let limit = limit_of(fiber)?;
    is_over(limit.get()).then(|| report(fiber, limit.get()))
}

/// Like [`interrupted`], for a caller that may never let its worker run, which cancels its fibers
/// between two of them.
#[inline]
pub(crate) fn interrupted_meanwhile() -> Option<Interrupt> {
    token_registration::see_cancellation_of_all(current::local());
    interrupted()
}

/// Begins an operation that may wait: counts it (`yielding::consume_budget`), and then fails if the
/// caller is [`interrupted`]. Reads the thread's record once instead of twice.
#[inline]
pub(crate) fn begin(operation: Operation, object: usize) -> Result<(), Interrupt> {
    let local = current::local();
    let has_no_limits = match current::known(local) {
        None => true,
        Some(fiber) => has_no_limits(fiber.header()),
    };
    if local.consume_budget() || !has_no_limits {
        return begin_slowly(local, operation, object);
    }
    Ok(())
}

#[cold]
#[inline(never)]
fn begin_slowly(
    local: &Local,
    operation: Operation,
    object: usize,
) -> Result<(), Interrupt> {
    if local.must_yield() {
        yield_as_spent(local, Step { operation, object });
    }
    interrupted().map_or(Ok(()), Err)
}

/// Returns true if the fiber has no limit, token or cancellation.
#[inline(always)]
fn has_no_limits(header: &Header) -> bool {
    header.state.is_wanted() && header.scope().has_no_limits()
}

fn limit_of(fiber: FiberPtr) -> Option<LimitRef> {
    // H2: the caller's own header.
    let region = fiber.header().scope().region();
    region.and_then(|region| region.get().limit())
}

/// Like [`interrupted`], for a caller that only checks: nothing counts as reported.
pub(crate) fn pending() -> Option<Interrupt> {
    let local = current::local();
    token_registration::see_cancellation_of_all(local);
    let fiber = current::known(local)?;
    if token_registration::would_be_cancelled(fiber.header()) {
        return Some(Interrupt::Cancelled);
    }
    let limit = limit_of(fiber)?;
    is_over(limit.get()).then_some(Interrupt::TimedOut)
}

/// Returns the innermost region of the running code.
#[inline]
pub(crate) fn in_force() -> Option<RegionRef> {
    let fiber = current::known(current::local())?;
    // H2: the caller's own header.
    fiber.header().scope().region()
}

/// Returns the nearest limit of the running code.
#[inline]
pub(crate) fn nearest() -> Option<LimitRef> {
    current::known(current::local()).and_then(limit_of)
}

/// Runs `f` under the deadline `at`; also returns whether that was reported to any code in it.
pub(crate) fn under<T>(at: Instant, f: impl FnOnce() -> T) -> (T, bool) {
    let fiber = current::identity(current::local());
    if limit_of(fiber).is_some_and(|outer| outer.get().at() <= at) {
        return (f(), false);
    }
    let limit = Limit::new(at);
    let value = within_limit(fiber, &limit, f);
    (value, limit.is_reported())
}

/// Returns true if the limit has expired. Once that was reported, without reading the clock.
#[cold]
pub(super) fn is_over(limit: &Limit) -> bool {
    limit.is_reported() || limit.at() <= now()
}

/// Returns the interrupt of a call that `deadline` has ended.
#[cold]
pub(super) fn report(fiber: FiberPtr, limit: &Limit) -> Interrupt {
    if token_registration::is_cancelled(fiber) {
        return Interrupt::Cancelled;
    }
    limit.report();
    Interrupt::TimedOut
}
