//! How a fiber leaves its stack in order to wait or to yield, and how it resumes.
//!
//! Owns: the two ways, with the timer that may end the wait. Does not own: when a fiber leaves
//! (`park`), nor what runs instead (`fiber::Schedule`).
//!
//! *Settled*: only its own thread can resume it, and that still runs it. So it parks on its own
//! stack, and a later claim enqueues it behind the thread's next step.
//!
//! *Free*: any thread may resume it, so it parks when it is off its stack: it leaves with a
//! [`AfterSwitch`], which is completed on the next stack. That step also finds an earlier claim and
//! then enqueues the fiber, and its header records that the claim was early. The timer is on the
//! wheel of the thread that was left. That wheel is locked, and the timer is removed from it.
//!
//! *Pinned*: a free fiber that unwinds. `std` counts panics by thread, so it parks and wakes as if
//! it had settled on this one.

use std::pin::pin;
use std::ptr::{self, NonNull};

use super::spec::{End, Spec};
use crate::base::clock;
use crate::context;
use crate::fiber::current::Local;
use crate::fiber::state::Parked;
use crate::fiber::state_names::State;
use crate::fiber::{AfterSwitch, FiberPtr, Header, Schedule, Ticket};
use crate::timer::Timer;

/// Suspends a fiber that has settled on this thread.
#[inline(always)]
pub(super) fn suspend(
    local: &Local,
    header: &Header,
    ticket: Ticket,
    spec: &Spec,
) -> End {
    header.life.step(State::Parking);
    if let Parked::Claimed(code) = header.state.park(ticket.epoch(), spec.accepts) {
        header.life.step(State::Running);
        return End::new(code, true);
    }
    header.life.parked();
    // LIVENESS: from here on a claim enqueues this fiber with its own worker. That is this thread,
    // so it cannot resume the fiber before it has left its stack.
    let home = header.home();
    // SAFETY: parked: the party that claims the ticket makes the fiber ready again.
    let leave = || unsafe { home.suspend(local, ticket.fiber()) };
    under_timer(home, ticket, spec, leave);
    context::take_over(ptr::from_ref(header).cast());
    End::new(header.state.code(), false)
}

/// Suspends a fiber that may resume on another thread.
#[inline(never)]
pub(super) fn suspend_free(
    local: &Local,
    header: &Header,
    ticket: Ticket,
    spec: &Spec,
) -> End {
    if header.state.epoch() != ticket.epoch() {
        // Already over, possibly with later waits since: only this distinguishes them.
        return match header.state.park(ticket.epoch(), spec.accepts) {
            Parked::Claimed(code) => End::new(code, true),
            Parked::Yes => unreachable!("a spent ticket parks no fiber"),
        };
    }
    let home = header.home();
    header.life.step(State::Parking);
    let after = AfterSwitch::Park {
        epoch: ticket.epoch(),
        accepts: spec.accepts,
    };
    // SAFETY: the party that claims the ticket makes the fiber ready again.
    let leave = || unsafe { home.leave(local, ticket.fiber(), after) };
    under_timer(home, ticket, spec, leave);
    context::take_over(ptr::from_ref(header).cast());
    end_of(header)
}

/// Suspends a migratable fiber that must stay on this thread now.
#[cold]
pub(super) fn suspend_pinned(
    local: &Local,
    header: &Header,
    ticket: Ticket,
    spec: &Spec,
) -> End {
    if !local.is_free() {
        return suspend(local, header, ticket, spec);
    }
    let end = pinned(local, header, || suspend(local, header, ticket, spec));
    End {
        early: header.flags.take_claimed_early() || end.early,
        ..end
    }
}

/// Calls `leave` with a timer armed for the wait's deadline, if any.
#[inline(always)]
fn under_timer(home: &dyn Schedule, ticket: Ticket, spec: &Spec, leave: impl FnOnce()) {
    let Some(deadline) = spec.deadline else {
        return leave();
    };
    let timer = pin!(Timer::new(ticket));
    let timer = NonNull::from(timer.as_ref().get_ref());
    // SAFETY: on the thread that runs the fiber; the timer stays in this frame until disarmed.
    let wheel = unsafe { home.arm(timer, clock::nanos(deadline)) };
    leave();
    // SAFETY: a settled or pinned fiber is still on the worker that armed the timer. For a free one
    // `wheel` is that worker's shared one, which is used under its lock.
    unsafe { home.disarm(timer, wheel) };
}

/// Lets all other ready fibers run first.
#[inline]
pub(super) fn requeue(local: &Local, fiber: FiberPtr) {
    match local.is_free() {
        true => requeue_free(local, fiber),
        false => requeue_settled(local, fiber),
    }
}

/// Like [`requeue`], for a fiber that has settled on this thread.
#[inline(always)]
pub(super) fn requeue_settled(local: &Local, fiber: FiberPtr) {
    let header = fiber.header();
    header.spans.leave();
    header.life.step(State::Runnable);
    // SAFETY: called by the fiber; no runtime lock is held where user code may yield.
    unsafe { header.home().requeue(local, fiber) };
    header.spans.resume();
}

/// Like [`requeue`], for a fiber that may resume on another thread.
#[inline(never)]
fn requeue_free(local: &Local, fiber: FiberPtr) {
    let header = fiber.header();
    header.spans.leave();
    header.life.step(State::Runnable);
    // SAFETY: as in `requeue`.
    unsafe { header.home().leave(local, fiber, AfterSwitch::RunAgain) };
    header.spans.resume();
}

/// Like [`requeue`], for a fiber that resumes on this thread.
#[cold]
pub(super) fn requeue_pinned(local: &Local, fiber: FiberPtr) {
    if !local.is_free() {
        return requeue(local, fiber);
    }
    let header = fiber.header();
    header.spans.leave();
    header.life.step(State::Runnable);
    // SAFETY: as in `requeue`.
    pinned(local, header, || unsafe {
        header.home().requeue(local, fiber);
    });
    header.spans.resume();
}

fn pinned<T>(local: &Local, header: &Header, f: impl FnOnce() -> T) -> T {
    let home = header.home();
    header.set_home(home.pin(local));
    let result = f();
    header.set_home(home);
    home.unpin(local);
    result
}

/// Returns how a wait ended, for a fiber that may have been claimed before it had parked or while
/// it was held.
pub(super) fn end_of(header: &Header) -> End {
    End::new(header.state.code(), header.flags.take_claimed_early())
}
