//! Lending: who waits for a fiber that finds no stack has it run on his own.
//!
//! Owns: who may lend, and what reports see meanwhile. Does not own: how such a fiber is known
//! (`fiber::hunger`), nor its run (`sched::lend`).
//!
//! The lender has no ticket out while it lends, so nobody can wake it; what comes in that time,
//! a cancellation or a token, it finds when the fiber has ended. So a wait that a deadline ends
//! lends nothing, and one that has been interrupted does not begin to.

use std::ptr;
use std::thread::panicking;

use super::notice::{Notice, Subject};
use super::park::Spec;
use crate::fiber::hunger::Wanted;
use crate::fiber::jobs::promote_all;
use crate::fiber::{current, seat};

/// Has a fresh fiber that is `wanted`, and finds no stack, run on the caller's, in place of a
/// wait for `subject`. True: it has ended; false: nothing was done.
#[cold]
#[track_caller]
pub(crate) fn lend(subject: Subject<'_>, spec: &Spec, wanted: Wanted) -> bool {
    let local = current::local();
    let Some(fiber) = local.fiber() else {
        return false;
    };
    // UNWIND: the panic count of `std` is the thread's, so nobody else runs amid a panic. Nor amid
    // a poll, which may have entered something of its thread's.
    if spec.deadline.is_some() || panicking() || local.is_polling() {
        return false;
    }
    // SAFETY: H1.
    let header = unsafe { fiber.as_ref() };
    if spec.accepts.interrupts() {
        let region = header.region.get().region();
        let limited = region.is_some_and(|region| region.get().limit().is_some());
        if limited || seat::is_cancelled(fiber) {
            return false;
        }
    }
    // JO1: another fiber is about to run here.
    promote_all(local);
    let notice = Notice {
        spec,
        at: spec.place(),
        since: local.moment(),
        subject: Some(subject),
    };
    // NO1: cleared below; the fiber that runs keeps its panics to itself.
    header.notice.set((&raw const notice).cast());
    header.spans.leave();
    // SAFETY: called by the fiber; no room holds a lock here, and its last ticket is spent.
    let lent = unsafe { header.home().lend(fiber, wanted) };
    header.spans.resume();
    header.notice.set(ptr::null());
    lent
}
