//! Parking: the one place where a fiber voluntarily stops running.
//!
//! Owns: the step from "published to wakers" to "not running", for fibers, for plain threads, and
//! for fibers that must not leave their thread. Does not own: where a waiter is published (`queue`,
//! or a module's own structure), which code wakes it, or how a fiber leaves its stack (`suspend`).
//!
//! A caller takes a [`ticket`], publishes it under the lock of the object it waits for, checks once
//! more whether it still has to wait, and calls [`park`]. Whatever `park` returns, the ticket is
//! spent. [`End::early`] decides whether the caller has to take the lock once before it accesses
//! data that a waker may still be handing over (W3 in `fiber::waking::waiter`).
//!
//! A fiber that is unwinding (`std::thread::panicking()`) blocks its thread in place: the panic
//! count of `std` is per thread, and another fiber on this thread would see it. It switches only if
//! others have waited behind it for [`PATIENCE`], or an observer for [`OBSERVERS_WAIT`]. The same
//! rule applies to a panic hook that waits. If it has to wait longer than that behind others, and
//! one of them panics meanwhile, `std` ends the process. Staying in place in a hook would prevent
//! that. But `std` does not distinguish a hook from a destructor, which may wait for a fiber of its
//! own thread. Where fibers may migrate, one that leaves its stack while it unwinds stays on its
//! thread: the count is there.

use std::ptr;

use super::spec::{End, How, Spec};
use super::suspend::{end_of, suspend, suspend_free, suspend_pinned};
use super::yielding::{OBSERVERS_WAIT, PATIENCE, unwinds, yields_as_usual};
use crate::base::diagnostics_enabled::KEEPS_REPORT_DATA;
use crate::base::mutant::mutant;
use crate::fiber::current::{self, Local};
use crate::fiber::deadline::Limit;
use crate::fiber::jobs::promote_all;
use crate::fiber::state::{Claim, Code, Parked};
use crate::fiber::state_names::State;
use crate::fiber::thread_registry;
use crate::fiber::token_registration;
use crate::fiber::{BlockInPlace, Header, Ticket};
use crate::shim;
use crate::wait::deadline::{is_over, report};
use crate::wait::polling;
use crate::wait::wait_info::{Notice, Subject};

/// Returns the right to wake the caller from the wait that it is about to begin.
#[inline]
pub(crate) fn ticket() -> Ticket {
    ticket_on(current::local())
}

/// Like [`ticket`], with the caller's thread record.
#[inline]
pub(crate) fn ticket_on(local: &Local) -> Ticket {
    let fiber = current::identity(local);
    if fiber.header().flags.is_ticket_exposed() {
        call_in(Header::ticket(fiber));
    }
    Header::ticket(fiber)
}

/// Like [`ticket_on`], for a caller that parks next; none inside a poll (`polling`).
#[inline]
pub(in crate::wait) fn ticket_to_park(local: &Local) -> Option<Ticket> {
    match polling::forbids_waiting(local) {
        true => None,
        false => Some(ticket_on(local)),
    }
}

/// Returns a ticket that user code may keep. No other wait of the caller uses the same one before
/// it has been revoked: [`ticket`] revokes it first. So a user's ticket, whatever is done with it,
/// ends no wait but its own.
pub(crate) fn lend_ticket() -> Ticket {
    let ticket = ticket();
    ticket.fiber().header().flags.set_ticket_exposed(true);
    ticket
}

/// Revokes a lent ticket of the caller.
#[cold]
pub(crate) fn call_in(ticket: Ticket) {
    if mutant!("ticket_never_called_in") {
        return;
    }
    ticket.fiber().header().flags.set_ticket_exposed(false);
    // A claim of one's own wait: the owner runs, so there is nothing to enqueue. No case has won by
    // it, so a party that still parks with it checks again.
    if let Some(wake) = ticket.claim(Code::RETRY) {
        wake.enqueue();
    }
}

/// Returns true if the caller has a token.
pub(crate) fn has_token() -> bool {
    let fiber = current::identity(current::local());
    fiber.header().state.has_token()
}

/// Consumes the caller's token; true if it had one.
pub(crate) fn take_token() -> bool {
    let fiber = current::identity(current::local());
    fiber.header().state.take_token()
}

/// Suspends the caller until the wait of `ticket` ends.
///
/// # Panics
/// Inside a poll (`polling`).
#[track_caller]
pub(crate) fn park(ticket: Ticket, spec: &Spec) -> End {
    let local = current::local();
    if polling::forbids_waiting(local) {
        polling::refuse();
    }
    park_on(local, ticket, spec, None)
}

/// Like [`park`], with the caller's thread record and the object of the wait.
///
/// PERF: inlined, so that the notice is built in place, not copied together: 18 instructions less
/// for each wait (bench guard, `rendezvous`).
#[inline(always)]
#[track_caller]
pub(crate) fn park_on(
    local: &Local,
    ticket: Ticket,
    spec: &Spec,
    subject: Option<Subject<'_>>,
) -> End {
    let header = ticket.fiber().header();
    let notice = Notice {
        spec,
        at: spec.place(),
        since: local.moment(),
        subject,
    };
    // NO1: cleared below; nothing in between unwinds.
    if KEEPS_REPORT_DATA {
        header.set_notice((&raw const notice).cast());
    } else {
        // Callers pass their place in every build; it is part of the interface.
        std::hint::black_box(notice.at);
    }
    let end = park_here(local, header, ticket, spec);
    if KEEPS_REPORT_DATA {
        header.set_notice(ptr::null());
    }
    end
}

#[inline(never)]
fn park_here(local: &Local, header: &Header, ticket: Ticket, spec: &Spec) -> End {
    match spec.accepts.interrupts() && !header.scope().has_no_limits() {
        true => park_within(local, header, ticket, spec),
        false => park_as(local, header, ticket, spec),
    }
}

#[inline]
fn park_as(local: &Local, header: &Header, ticket: Ticket, spec: &Spec) -> End {
    if local.fiber().is_none() {
        park_thread(header, ticket, spec)
    } else {
        // JO1: no other worker may find the jobs, and the wait may be for one of them.
        promote_all(local);
        park_fiber(local, header, ticket, spec)
    }
}

#[inline]
fn park_fiber(local: &Local, header: &Header, ticket: Ticket, spec: &Spec) -> End {
    if !yields_as_usual(local) {
        return park_unusually(local, header, ticket, spec);
    }
    // The next fiber on this thread runs outside of this fiber's spans.
    header.spans.leave();
    let end = suspend(local, header, ticket, spec);
    header.spans.resume();
    end
}

/// Like [`park_fiber`], if not [`yields_as_usual`].
#[inline(never)]
fn park_unusually(local: &Local, header: &Header, ticket: Ticket, spec: &Spec) -> End {
    if unwinds(local) {
        return park_in_place(local, header, ticket, spec);
    }
    header.spans.leave();
    let end = match local.is_free() && !local.left_unwinding() {
        true => suspend_free(local, header, ticket, spec),
        // This fiber may be the one that unwinds.
        false => suspend_pinned(local, header, ticket, spec),
    };
    header.spans.resume();
    end
}

/// Parks for as long as the deadlines of the caller's code allow.
#[cold]
fn park_within(local: &Local, header: &Header, ticket: Ticket, spec: &Spec) -> End {
    // Registers with the token, so that a cancellation ends the wait. The parking itself finds one
    // that has already come.
    current::as_thread(local, || token_registration::is_cancelled(ticket.fiber()));
    let Some(region) = header.scope().region() else {
        return park_as(local, header, ticket, spec);
    };
    let accepts = match region.get().is_shielded() {
        true => spec.accepts.shielded(),
        false => spec.accepts,
    };
    let spec = Spec { accepts, ..*spec };
    match region.get().limit() {
        None => park_as(local, header, ticket, &spec),
        Some(limit) => park_until(local, header, ticket, &spec, limit.get()),
    }
}

/// Parks until `limit` at most. Of it and the deadline of `spec`, the nearer one ends the wait; of
/// two equal ones, `limit`.
fn park_until(
    local: &Local,
    header: &Header,
    ticket: Ticket,
    spec: &Spec,
    limit: &Limit,
) -> End {
    if spec.deadline.is_some_and(|own| own < limit.at()) {
        return park_as(local, header, ticket, spec);
    }
    if is_over(limit)
        && let Some(wake) = ticket.claim(Code::TIMED_OUT)
    {
        // A claim of one's own wait: there is nothing to enqueue, and parking finds it.
        wake.enqueue();
    }
    let end = park_as(local, header, ticket, &spec.until(Some(limit.at())));
    match end.how {
        How::TimedOut => End {
            how: How::Interrupted(report(ticket.fiber(), limit)),
            ..end
        },
        _ => end,
    }
}

fn park_thread(header: &Header, ticket: Ticket, spec: &Spec) -> End {
    if let Parked::Claimed(code) = header.state.park(ticket.epoch(), spec.accepts) {
        return End::new(code, true);
    }
    let timed = spec.deadline.is_some();
    let woken = thread_registry::waiting(ticket.fiber(), timed, || match spec.deadline {
        None => {
            header.parker.park();
            true
        }
        Some(deadline) => header.parker.park_until(deadline),
    });
    if !woken {
        give_up(header, ticket);
    }
    End::new(header.state.code(), false)
}

/// Ends a parked wait by its deadline. If a waker was faster, waits for the waker's enqueue: it may
/// still be handing over a value.
fn give_up(header: &Header, ticket: Ticket) {
    match header.state.claim(ticket.epoch(), Code::TIMED_OUT) {
        Claim::Parked => {}
        Claim::Active | Claim::Stale if mutant!("give_up_ignores_waker") => {}
        Claim::Active | Claim::Stale => header.parker.park(),
    }
}

#[cold]
fn park_in_place(local: &Local, header: &Header, ticket: Ticket, spec: &Spec) -> End {
    let home = header.home();
    header.set_home(&BlockInPlace);
    header.life.step(State::Parking);
    if let Parked::Claimed(code) = header.state.park(ticket.epoch(), spec.accepts) {
        header.life.step(State::Running);
        header.set_home(home);
        return End::new(code, true);
    }
    let begun = shim::now();
    loop {
        let slice = shim::now() + PATIENCE;
        let until = spec.deadline.map_or(slice, |deadline| deadline.min(slice));
        if header.parker.park_until(until) {
            break;
        }
        if spec
            .deadline
            .is_some_and(|deadline| deadline <= shim::now())
        {
            give_up(header, ticket);
            break;
        }
        if home.others_wait(shim::now() - begun >= OBSERVERS_WAIT) {
            if header.state.unpark_self(ticket.epoch()) {
                header.life.step(State::Running);
                header.set_home(home);
                local.set_left_unwinding(true);
                header.spans.leave();
                let end = suspend_pinned(local, header, ticket, spec);
                header.spans.resume();
                return end;
            }
            // A waker has claimed the wait and will unpark the thread.
            header.parker.park();
            break;
        }
    }
    header.life.step(State::Running);
    header.set_home(home);
    end_of(header)
}
