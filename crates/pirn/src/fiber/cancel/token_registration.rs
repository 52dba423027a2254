//! Registrations: how a fiber that runs code under a token is notified of its cancellation.
//!
//! Owns: entering and leaving regions, and the check whether the running code has been cancelled,
//! which registers the fiber. Does not own: the records (`scope`), or the tables (`token`).
//!
//! The order of leaving: 1. the fiber is deregistered, so that REVOKED is no longer set because
//! of it; 2. the header points to the region outside, without the mark `NO_LIMITS`; 3. REVOKED is
//! cleared. If a token outside has set the bit as well, it was cancelled before, and the next check
//! finds its flag set: clearing the bit and setting it are read-modify-writes of one word.

use std::ptr::NonNull;
use std::sync::Arc;

use super::deadline::Limit;
use super::scope::{
    CancelScope, CurrentScope, Kind, LimitRef, RegionRef, TokenRegistration,
};
use super::token::Node;
use crate::base::mutant::mutant;
use crate::fiber::current::{self, Local};
use crate::fiber::fiber_ptr::FiberPtr;
use crate::fiber::header::Header;

impl CancelScope {
    /// Registers the owner with the token in force, unless it is registered; returns false if that
    /// token is cancelled. Called by the owner, on its innermost region.
    fn register(&self, fiber: FiberPtr) -> bool {
        let may_register = |region: &&CancelScope| {
            matches!(region.kind, Kind::Token { .. } | Kind::Bottom)
        };
        let Some(place) = self.own().find(may_register) else {
            return true;
        };
        if let Some(registration) = place.registration.get() {
            // SAFETY: RG3: the token outlives the registration.
            return !unsafe { registration.node.as_ref() }.is_cancelled();
        }
        let Some(node) = place.token_in_force() else {
            return true;
        };
        let key = node.register(fiber);
        let node = NonNull::from(&**node);
        place
            .registration
            .set(key.map(|key| TokenRegistration { node, key }));
        key.is_some()
    }

    #[inline]
    fn deregister(&self) {
        if let Some(registration) = self.registration.take() {
            registration.deregister();
        }
    }
}

impl TokenRegistration {
    #[cold]
    fn deregister(self) {
        // SAFETY: RG3: the token outlives the registration.
        unsafe { self.node.as_ref() }.deregister(self.key);
    }
}

/// Makes the running `fiber` enter `region`.
///
/// # Safety
/// RG1: it leaves the region ([`leave`]) before the region moves or ends.
#[inline]
pub(in crate::fiber) unsafe fn enter(fiber: FiberPtr, region: &CancelScope) {
    // H2: the caller's own header.
    let header = fiber.header();
    if matches!(region.kind, Kind::Shield) {
        deregister_outer(header, region);
    }
    if !matches!(region.kind, Kind::Bottom) {
        region.noted.set(current::local().jobs().newest());
    }
    // SAFETY: the caller's promise.
    let inside = unsafe { RegionRef::new(region) };
    header.set_scope(CurrentScope::of(inside));
}

#[cold]
fn deregister_outer(header: &Header, shield: &CancelScope) {
    if let Some(outside) = shield.outer {
        outside.get().own().for_each(CancelScope::deregister);
    }
    header.state.restore();
}

/// Makes the running `fiber` leave `region`, the innermost one. The next interruption point
/// checks the region outside again.
#[inline]
fn leave(fiber: FiberPtr, region: &CancelScope) {
    // H2: the caller's own header.
    let header = fiber.header();
    region.deregister();
    let outermost = matches!(
        region.kind,
        Kind::Token {
            outermost: true,
            ..
        }
    );
    if let Some(node) = region.made().filter(|_| outermost) {
        hide_from_canceller(header, node);
    }
    header.set_scope(region.outer.map_or(CurrentScope::NONE, CurrentScope::of));
    if !mutant!("left_revoked") && header.state.is_revoked() {
        header.state.restore();
    }
}

#[cold]
fn hide_from_canceller(header: &Header, node: &Arc<Node>) {
    // Dropped outside the lock.
    let (own, is_whole) = {
        let mut join = header.join.lock();
        match join.whole {
            true => (join.own.clone(), true),
            false => (join.own.take(), false),
        }
    };
    let is_linked = is_whole && !mutant!("left_token_linked");
    if let Some(whole) = own.filter(|_| is_linked) {
        whole.let_go(node);
    }
}

/// Removes the registration that a fiber may have by `bottom`, at the fiber's end.
#[inline]
pub(in crate::fiber) fn leave_for_good(fiber: FiberPtr, bottom: &CancelScope) {
    if let Some(registration) = bottom.registration.get() {
        registration.deregister();
    }
    // H2: the caller's own header.
    let header = fiber.header();
    header.set_scope(CurrentScope::NONE);
    if header.state.is_revoked() {
        header.state.restore();
    }
}

/// Returns whether the code that `fiber` is running has been cancelled. Registers it, so that a
/// later cancellation notifies the fiber.
#[inline]
pub(crate) fn is_cancelled(fiber: FiberPtr) -> bool {
    let header = fiber.header();
    let in_force = header.scope();
    if in_force.has_no_limits() {
        return !header.state.is_wanted();
    }
    is_cancelled_in(header, fiber, in_force)
}

#[cold]
fn is_cancelled_in(header: &Header, fiber: FiberPtr, in_force: CurrentScope) -> bool {
    let Some(region) = in_force.region() else {
        return !header.state.is_wanted();
    };
    let region = region.get();
    let shielded = region.is_shielded();
    if header.state.is_revoked() || header.state.is_cancelled() && !shielded {
        return true;
    }
    if !region.register(fiber) {
        // Its own bit, while it runs: there is no fiber to wake.
        header.state.revoke();
        return true;
    }
    if region.limit().is_none() && !shielded {
        header.set_scope(in_force.without_limits());
    }
    false
}

/// Called at the start of `fiber`, which inherits `outer`. If that has been cancelled, so is the
/// fiber, and its closure is not run (`entry`).
#[inline(always)]
pub(in crate::fiber) fn refuse_if_late(fiber: FiberPtr, outer: RegionRef) {
    // H2: the fiber's own header.
    let header = fiber.header();
    if outer.get().is_cancelled() && !header.flags.must_run() {
        // Its own bit, while it runs: there is no fiber to wake.
        header.state.cancel();
    }
}

/// Cancels the running fiber if its scheduler has cancelled all of them. A worker does that to its
/// fibers between two of them: too late for one that does not let it.
#[inline]
pub(crate) fn see_cancellation_of_all(local: &Local) {
    if let Some(fiber) = local.fiber()
        && fiber.header().home().has_cancelled_all(local)
    {
        // Its own bit, while it runs: there is no fiber to wake.
        fiber.header().cancel_with_runtime();
    }
}

/// As [`is_cancelled`], without a registration.
pub(crate) fn would_be_cancelled(header: &Header) -> bool {
    let region = header.scope().region();
    let shielded = region.is_some_and(|region| region.get().is_shielded());
    header.state.is_revoked()
        || header.state.is_cancelled() && !shielded
        || region.is_some_and(|region| region.get().is_cancelled())
}

/// Runs `f`, the code of the running `fiber`, in `region`. Nothing that inherits it outlives this
/// call (RG1).
pub(crate) fn within<T>(
    fiber: FiberPtr,
    region: &CancelScope,
    f: impl FnOnce() -> T,
) -> T {
    let inside = Inside { fiber, region };
    // SAFETY: RG1: left when `inside` is dropped, and the region is borrowed until then.
    unsafe { enter(fiber, region) };
    let value = f();
    drop(inside);
    value
}

/// As [`within`], in a region with the deadline `limit`.
pub(crate) fn within_limit<T>(
    fiber: FiberPtr,
    limit: &Limit,
    f: impl FnOnce() -> T,
) -> T {
    // SAFETY: RG1: the region ends here, and the limit is borrowed.
    let inside = unsafe { LimitRef::new(limit) };
    within(fiber, &CancelScope::limited(fiber, Some(inside)), f)
}

/// An entered region; dropping this leaves it.
struct Inside<'a> {
    fiber: FiberPtr,
    region: &'a CancelScope,
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        leave(self.fiber, self.region);
    }
}
