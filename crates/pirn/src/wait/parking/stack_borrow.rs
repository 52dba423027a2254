//! A waiter starts the fiber that it waits for on a stack beyond `max_stacks`, if that fiber finds
//! none.
//!
//! Owns: which waits may do so. Does not own: how such a fiber is identified (`fiber::stackless`),
//! nor its stack and its start (`sched::worker::stacks`).
//!
//! A wait with a deadline borrows no stack: when it expired, the waiter would continue, and the
//! stack would remain in use beyond the bound. A wait that is already interrupted borrows none
//! either.

use super::spec::Spec;
use crate::fiber::stackless::{BorrowTarget, StackOwner};
use crate::fiber::{current, token_registration};
use crate::wait::queue::{Attempt, wait_for};
use crate::wait::wait_info::Subject;

/// Starts a fresh fiber that is `wanted` and finds no stack, and waits for its end by `spec`. True:
/// the fiber has ended, or an interrupt has come. False: nothing was done.
#[cold]
#[track_caller]
pub(crate) fn lend(spec: &Spec, wanted: BorrowTarget) -> bool {
    let local = current::local();
    let Some(fiber) = local.fiber() else {
        return false;
    };
    if spec.deadline.is_some() || local.is_polling() {
        return false;
    }
    let header = fiber.header();
    if spec.accepts.interrupts() {
        let region = header.scope().region();
        let limited = region.is_some_and(|region| region.get().limit().is_some());
        if limited || token_registration::is_cancelled(fiber) {
            return false;
        }
    }
    let Some(borrower) = header.home().lend(local, wanted) else {
        return false;
    };
    // One at a time: the next one is started when this one has ended. An interrupt stays, so the
    // caller's next wait finds it.
    let _ = wait_for(
        Subject::end_of(borrower.ptr()),
        &borrower.header().join,
        |join| &mut join.waiters,
        spec,
        |join| match join.done {
            true => Attempt::Done(()),
            false => Attempt::Wait(StackOwner::Other),
        },
    );
    true
}
