//! Interrupts: what the caller is under, and the deadlines that hold for a part of its code.
//!
//! Owns: entering and leaving a limit, and the one rule for which interrupt there is:
//! cancellation before a deadline, of several deadlines the nearest. Does not own: the
//! record itself (`fiber::limit`), nor the wait that a limit ends (`park`).
//!
//! Only the nearest limit is ever looked at: one that is entered inside an earlier one, or
//! at the same moment, changes nothing. So an interrupt is reported to the limit that it is
//! due to, and to no other.

use std::time::Instant;

use super::clock::now;
use super::interrupt::Interrupt;
use super::park::yield_now;
use crate::fiber::current::{self, Local};
use crate::fiber::limit::{Limit, LimitRef};
use crate::fiber::{FiberPtr, Header};

/// The interrupt that the caller is under, if any. Interruptible calls ask before they try
/// anything.
#[inline]
pub(crate) fn interrupted() -> Option<Interrupt> {
    let local = current::local();
    match local.fiber() {
        // SAFETY: H1.
        Some(fiber) => interrupt_of(unsafe { fiber.as_ref() }),
        None => thread_interrupted(local),
    }
}

#[cold]
fn thread_interrupted(local: &Local) -> Option<Interrupt> {
    // SAFETY: H1.
    current::known(local).and_then(|person| interrupt_of(unsafe { person.as_ref() }))
}

#[inline(always)]
fn interrupt_of(header: &Header) -> Option<Interrupt> {
    if header.state.is_cancelled() {
        return Some(Interrupt::Cancelled);
    }
    match header.limit.get() {
        None => None,
        Some(limit) => interrupt_by(header, limit.get()),
    }
}

/// Begins an operation that may wait: counts it (`park::spend`), and then says whether the caller
/// is [`interrupted`]. One look at the thread's record in place of two.
#[inline]
pub(crate) fn begin() -> Result<(), Interrupt> {
    let local = current::local();
    let calm = match current::known(local) {
        None => true,
        // SAFETY: H1.
        Some(fiber) => is_calm(unsafe { fiber.as_ref() }),
    };
    if local.spend() || !calm {
        return begin_slowly(local.is_spent());
    }
    Ok(())
}

#[cold]
#[inline(never)]
fn begin_slowly(spent: bool) -> Result<(), Interrupt> {
    if spent {
        yield_now();
    }
    interrupted().map_or(Ok(()), Err)
}

/// Nothing at all stands against the fiber's waiting.
#[inline]
fn is_calm(header: &Header) -> bool {
    !header.state.is_cancelled() && header.limit.get().is_none()
}

#[cold]
fn interrupt_by(header: &Header, limit: &Limit) -> Option<Interrupt> {
    is_over(limit).then(|| report(header, limit))
}

/// As [`interrupted`], for a caller that only looks: nothing counts as reported.
pub(crate) fn pending() -> Option<Interrupt> {
    let fiber = current::known(current::local())?;
    // SAFETY: H1.
    let header = unsafe { fiber.as_ref() };
    if header.state.is_cancelled() {
        return Some(Interrupt::Cancelled);
    }
    let limit = header.limit.get()?;
    is_over(limit.get()).then_some(Interrupt::TimedOut)
}

/// The nearest limit of the code that runs, for fibers that run on its behalf.
#[inline]
pub(crate) fn nearest() -> Option<LimitRef> {
    let fiber = current::known(current::local())?;
    // SAFETY: H1, H2: the caller's own header.
    unsafe { fiber.as_ref() }.limit.get()
}

/// Runs `f` under the deadline `at`; also tells whether that was reported to anything in it.
pub(crate) fn under<T>(at: Instant, f: impl FnOnce() -> T) -> (T, bool) {
    let fiber = current::identity(current::local());
    // SAFETY: H1, H2: the caller's own header.
    let outer = unsafe { fiber.as_ref() }.limit.get();
    if outer.is_some_and(|outer| outer.get().at() <= at) {
        return (f(), false);
    }
    let limit = Limit::new(at);
    // SAFETY: LI1: taken out of the header before this frame ends, and nobody who inherits
    // it outlives `f`.
    let inside = unsafe { LimitRef::new(&limit) };
    let entered = Entered { fiber, outer };
    // SAFETY: H1, H2: as above.
    unsafe { fiber.as_ref() }.limit.set(Some(inside));
    let value = f();
    drop(entered);
    (value, limit.is_reported())
}

/// Whether the time is up. Once it was reported, without a look at the clock.
#[cold]
pub(super) fn is_over(limit: &Limit) -> bool {
    limit.is_reported() || limit.at() <= now()
}

/// The interrupt of a call that `limit` has ended.
#[cold]
pub(super) fn report(header: &Header, limit: &Limit) -> Interrupt {
    if header.state.is_cancelled() {
        return Interrupt::Cancelled;
    }
    limit.report();
    Interrupt::TimedOut
}

/// A limit has been entered; dropping this leaves it.
struct Entered {
    fiber: FiberPtr,
    outer: Option<LimitRef>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        // SAFETY: H1, H2: whoever has entered a limit leaves it, on the same fiber.
        unsafe { self.fiber.as_ref() }.limit.set(self.outer);
    }
}
