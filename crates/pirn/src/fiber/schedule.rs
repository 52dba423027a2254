//! The seam: what a fiber asks of whoever runs it.
//!
//! Waiting wakes workers and workers run waiters; this trait is the one place where that
//! knot is cut. It is stated in the terms of `fiber` and implemented by `sched` (for
//! settled fibers, by the mailbox of their worker) and here, by [`InPerson`], for plain
//! threads, which park themselves.

use std::ptr::NonNull;
use std::time::Instant;

use super::current::Local;
use super::header::{FiberRef, Header};
use super::hunger::Wanted;
use super::state::{Accepts, Epoch};
use super::ticket::Ticket;
use super::unwound::Witness;
use crate::context::Stack;
use crate::shim;
use crate::timer::Timer;

/// What a fiber that may migrate wants when it leaves its stack. Done on the stack that is
/// switched to: as soon as it is done, another thread may be on the one that was left.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum Wish {
    /// To park, for the wait `epoch`, which what it `accepts` ends too.
    Park { epoch: Epoch, accepts: Accepts },
    /// To run again when everything else that is ready has run.
    RunAgain,
}

/// Where a fiber lives once it has been started.
///
/// What is given here is for those who are no fibers: a thread, or a future. They have no stack of this
/// library's to leave, keep no timers in its wheels, and hold up nobody.
pub(crate) trait Schedule: Sync {
    /// Takes a fiber whose wait the caller has claimed, and sees to it that it runs again.
    /// Any thread; called exactly once for each claim of a parked fiber.
    fn schedule(&self, fiber: NonNull<Header>);

    /// Runs something else in place of `fiber`, which runs now and has parked; returns when
    /// it is resumed.
    ///
    /// # Safety
    /// Called by the fiber itself, with no lock held; something will make it ready.
    unsafe fn suspend(&self, _local: &Local, _fiber: NonNull<Header>) {
        unreachable!("{NO_STACK}");
    }

    /// As [`suspend`](Schedule::suspend), for a fiber that is to run again when everything
    /// else that is ready has run.
    ///
    /// # Safety
    /// Called by the fiber itself, with no lock held.
    unsafe fn requeue(&self, _local: &Local, _fiber: NonNull<Header>) {
        unreachable!("{NO_STACK}");
    }

    /// Runs something else in place of `fiber`, which may migrate; returns when it is resumed,
    /// perhaps on another thread.
    ///
    /// # Safety
    /// Called by the fiber itself, with no lock held; if it is to park, somebody will end that
    /// wait.
    unsafe fn leave(&self, _local: &Local, _fiber: NonNull<Header>, _wish: Wish) {
        unreachable!("a settled fiber stays on its thread");
    }

    /// Where a fiber lives that may migrate, for as long as it is to stay on this thread.
    /// Called by the fiber itself, which says when that is over ([`unpin`](Schedule::unpin)).
    fn pin(&self, _local: &Local) -> &'static dyn Schedule {
        unreachable!("a settled fiber stays on its thread");
    }

    /// Ends what [`pin`](Schedule::pin) began. Called on the same thread.
    fn unpin(&self, _local: &Local) {
        unreachable!("a settled fiber stays on its thread");
    }

    /// The first act of a fiber on its stack: what is owed to the one that ran before.
    fn landed(&self, _local: &Local) {
        unreachable!("{NO_STACK}");
    }

    /// Leaves `fiber`, which has ended, for good. Returns only if its stack has gone to
    /// another fresh fiber, which the caller runs next.
    ///
    /// # Safety
    /// Called by the fiber itself, at the root of its stack.
    unsafe fn ended(&self, _local: &Local, _fiber: NonNull<Header>) -> NonNull<Header> {
        unreachable!("{NO_STACK}");
    }

    /// Arms `timer` to claim its ticket at `deadline` (nanoseconds, as `base::clock` counts).
    /// Returns the number of the wheel that it is on.
    ///
    /// # Safety
    /// Called on the thread that runs the fiber; `timer` stays pinned until it has fired or
    /// was disarmed.
    unsafe fn arm(&self, _timer: NonNull<Timer<Ticket>>, _deadline: u64) -> usize {
        unreachable!("{NO_WHEEL}");
    }

    /// Takes `timer` back from that wheel; false if it has fired.
    ///
    /// # Safety
    /// Called on the thread that armed it, unless the fiber may migrate.
    unsafe fn disarm(&self, _timer: NonNull<Timer<Ticket>>, _wheel: usize) -> bool {
        unreachable!("{NO_WHEEL}");
    }

    /// Whether other fibers wait for the thread that runs this one. Asked by a fiber that
    /// blocks its thread in place.
    fn others_wait(&self) -> bool {
        false
    }

    /// The present moment of the fiber's clock. Called by the fiber itself.
    fn now(&self, _local: &Local) -> Instant {
        shim::now()
    }

    /// Starts a fiber that is `wanted` and for which there is no stack, if need be on one beyond
    /// `max_stacks`. `None`: there was no such fiber, or the system has no stack. Called by the
    /// fiber that waits for its end.
    fn lend(&self, _local: &Local, _wanted: Wanted) -> Option<FiberRef> {
        None
    }

    /// A stack of the usual size for polls of the fiber, which calls; none if there are too few.
    fn spare_stack(&self, _local: &Local) -> Option<Stack> {
        None
    }

    /// Takes back what [`spare_stack`](Schedule::spare_stack) has given, perhaps to another fiber of the same
    /// runtime. Called by a fiber of it.
    fn keep_spare(&self, _local: &Local, _stack: Stack) {
        unreachable!("{NO_STACK}");
    }

    /// Who is to be told if nobody takes the panic of the fiber, which calls.
    fn witness(&self) -> Option<Witness> {
        None
    }

    /// Notes that the fiber, which calls, has closed the channel at this address.
    fn saw_close(&self, _local: &Local, _fiber: NonNull<Header>, _channel: usize) {}

    /// Whether that clock moves only when this thread is free to let it. Asked by the fiber.
    fn time_is_virtual(&self) -> bool {
        false
    }
}

/// The home of a plain thread, and of a fiber while it blocks its thread in place: whoever
/// is woken sleeps on the gate of its own header.
pub(crate) struct InPerson;

impl Schedule for InPerson {
    fn schedule(&self, fiber: NonNull<Header>) {
        // SAFETY: H1.
        unsafe { fiber.as_ref() }.gate.unpark();
    }
}

const NO_STACK: &str = "who is no fiber has no stack to leave";
const NO_WHEEL: &str = "who is no fiber waits without a timer of a worker's";
