//! Polls on a separate stack, which the worker keeps for them.
//!
//! Owns: the loan of that stack for one poll. Does not own: the call that changes stacks
//! (`context::call_on_stack`), where a worker gets the stack (`sched::worker::stacks`), the rules
//! inside a poll (`polling`).
//!
//! A poll goes deep; that of an HTTP connection writes five kilobytes of frames. On the fiber's own
//! stack these are cache lines and pages of its own, cold by its next turn if there are many
//! fibers. A poll does not wait, so one stack serves all polls of a worker, and stays hot. The
//! future stays in place, in a frame of the fiber that waits for it. The fiber remains the running
//! one.
//!
//! | the stack is | when |
//! |---|---|
//! | with the runtime | the worker has not polled yet; it has ended; fibers wait for stacks |
//! | in the thread's record | no poll is in progress |
//! | in a `Loan`, in a frame of the polling fiber | a poll is in progress |
//!
//! 1. A poll takes the stack out of its thread's record; if there is none, it takes one of the
//!    runtime's. Where stacks are scarce it gets none, and runs on the fiber's own.
//! 2. On every path out, the stack goes into the record of the thread that the fiber is on by then.
//!    If that has one, the stack goes back to the runtime.
//!
//! A fiber may still leave in the middle of a poll: one that unwinds, and one that continues
//! without the mark (`polling`). It keeps the stack, and the next poll on the thread gets another
//! one. So no two fibers run on one stack, because the handle has one owner (SK1).
//!
//! A fiber with its own stack size polls on its own stack, since that size was requested. So does
//! one that is already on a stack for polls.

use crate::context::{CALLS_ON_STACK, Stack, call_on_stack};
use crate::fiber::current::{self, Local};
use crate::fiber::{FiberPtr, Header};

/// Runs `poll`, of the fiber that runs here.
///
/// PERF: not inlined, so that its frame on the fiber's stack overlaps the frames of the wait that
/// follows, and costs no cache lines of its own.
#[inline(never)]
pub(super) fn run<T>(local: &Local, fiber: FiberPtr, poll: impl FnOnce() -> T) -> T {
    let header = fiber.header();
    if !CALLS_ON_STACK || header.flags.polls_where_it_is() {
        return poll();
    }
    let spare = local
        .take_spare()
        .or_else(|| header.home().spare_stack(local));
    let Some(stack) = spare else {
        return poll();
    };
    Header::own(fiber, &stack);
    header.flags.set_on_poll_stack(true);
    let mut loan = Loan {
        stack: Some(stack),
        fiber,
    };
    match &mut loan.stack {
        Some(stack) => call_on_stack(stack, poll),
        None => unreachable!("it has been put there"),
    }
}

/// The stack of a poll.
struct Loan {
    stack: Option<Stack>,
    fiber: FiberPtr,
}

impl Drop for Loan {
    #[inline]
    fn drop(&mut self) {
        let header = self.fiber.header();
        header.flags.set_on_poll_stack(false);
        let local = current::local();
        let other = self.stack.take().and_then(|stack| local.put_spare(stack));
        if let Some(other) = other {
            header.home().keep_spare(local, other);
        }
    }
}
