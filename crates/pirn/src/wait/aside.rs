//! Polls beside the fiber's own frames: on a stack that its worker has for that.
//!
//! Owns: the loan of that stack for one poll. Does not own: the call that changes stacks
//! (`context::aside`), where a worker has the stack from (`sched::spare`), what a poll may do
//! (`polling`).
//!
//! A poll goes deep; that of an HTTP connection writes five kilobytes of frames. On the fiber's own stack these are
//! cache lines and pages of its own, cold by its next turn if there are many fibers. A poll does not wait, so
//! one stack does for all of a worker's, and stays hot. The future stays where it is: in a frame of the fiber that
//! waits for it. The fiber is the running one, as ever.
//!
//! | the stack is | when |
//! |---|---|
//! | with the runtime | the worker has not polled yet; it has ended; fibers wait for stacks |
//! | in the thread's record | nobody polls |
//! | in a `Loan`, in a frame of the fiber that polls | a poll is under way |
//!
//! 1. A poll takes the stack out of its thread's record; if there is none, one of the runtime's. Where stacks
//!    are short it gets none, and runs on the fiber's own.
//! 2. On every way out the stack goes into the record of the thread that the fiber is on by then. If there is one,
//!    it goes back to the runtime.
//!
//! A fiber may leave in the middle of a poll all the same: one that unwinds, and one that goes on without the
//! mark (`polling`). It has the stack with it, and whoever polls on the thread meanwhile gets another. So nobody
//! runs on a stack that others are on; that follows from the handle having one owner (SK1).
//!
//! A fiber whose stack has a size of its own polls there, since it was asked for. So does one that is on a stack for
//! polls already.

use crate::context::{ASIDE, Stack, aside};
use crate::fiber::FiberPtr;
use crate::fiber::current::{self, Local};

/// Runs `poll`, of the fiber that runs here.
///
/// PERF: not inlined, so that what it leaves on the fiber's stack lies where the wait that follows has its
/// frames, and costs no cache lines of its own.
#[inline(never)]
pub(super) fn run<T>(local: &Local, fiber: FiberPtr, poll: impl FnOnce() -> T) -> T {
    // SAFETY: H1.
    let header = unsafe { fiber.as_ref() };
    if !ASIDE || header.marks.polls_where_it_is() {
        return poll();
    }
    let spare = local
        .take_spare()
        .or_else(|| header.home().spare_stack(local));
    let Some(stack) = spare else {
        return poll();
    };
    // SAFETY: H1: headers stay for ever.
    unsafe { stack.set_owner(fiber.as_ptr().cast()) };
    header.marks.set_aside(true);
    let mut loan = Loan {
        stack: Some(stack),
        fiber,
    };
    match &mut loan.stack {
        Some(stack) => aside(stack, poll),
        None => unreachable!("it has been put there"),
    }
}

/// The stack that a poll is on.
struct Loan {
    stack: Option<Stack>,
    fiber: FiberPtr,
}

impl Drop for Loan {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: H1.
        let header = unsafe { self.fiber.as_ref() };
        header.marks.set_aside(false);
        let local = current::local();
        let other = self.stack.take().and_then(|stack| local.put_spare(stack));
        if let Some(other) = other {
            header.home().keep_spare(local, other);
        }
    }
}
