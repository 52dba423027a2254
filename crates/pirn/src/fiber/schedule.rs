//! The interface between a fiber and its scheduler.
//!
//! Waits wake workers and workers run waiters; this trait is the one place that breaks the cycle.
//! It uses only terms of `fiber`. `sched` implements it (for settled fibers, by the inbox of their
//! worker), and so does `current::identity`, for plain threads, which park themselves.

use std::ptr::NonNull;
use std::time::Instant;

use super::current::{AfterSwitch, Local};
use super::fiber_ptr::{FiberPtr, FiberRef};
use super::panic_payload::Witness;
use super::stackless::BorrowTarget;
use super::waking::ticket::Ticket;
use crate::base::choice::Pick;
use crate::context::Stack;
use crate::shim;
use crate::timer::Timer;

/// The scheduler of a fiber that has been started.
///
/// The default methods are for parties that are not fibers: a thread, or a future. They have no
/// stack of this library to leave, keep no timers in its wheels, and delay no fiber.
pub(crate) trait Schedule: Sync {
    /// Takes a fiber that the caller has claimed while it was parked, and makes it run again. Any
    /// thread; called exactly once for each such claim.
    fn schedule(&self, fiber: FiberPtr);

    /// Runs another fiber in place of `fiber`, which runs now and has parked; returns when it is
    /// resumed.
    ///
    /// # Safety
    /// Called by the fiber itself, with no lock held; a waker will make it ready.
    unsafe fn suspend(&self, _local: &Local, _fiber: FiberPtr) {
        unreachable!("{NO_STACK}");
    }

    /// As [`suspend`](Schedule::suspend), for a fiber that is to run again when all other ready
    /// fibers have run.
    ///
    /// # Safety
    /// Called by the fiber itself, with no lock held.
    unsafe fn requeue(&self, _local: &Local, _fiber: FiberPtr) {
        unreachable!("{NO_STACK}");
    }

    /// Runs another fiber in place of `fiber`, which may migrate; returns when it is resumed,
    /// perhaps on another thread.
    ///
    /// # Safety
    /// Called by the fiber itself, with no lock held; if it is to park, a waker will end that wait.
    unsafe fn leave(&self, _local: &Local, _fiber: FiberPtr, _after: AfterSwitch) {
        unreachable!("a settled fiber stays on its thread");
    }

    /// Returns the home of a fiber that may migrate, while it has to stay on this thread. Called by
    /// the fiber itself, which ends this by [`unpin`](Schedule::unpin).
    fn pin(&self, _local: &Local) -> &'static dyn Schedule {
        unreachable!("a settled fiber stays on its thread");
    }

    /// Ends the effect of [`pin`](Schedule::pin). Called on the same thread.
    fn unpin(&self, _local: &Local) {
        unreachable!("a settled fiber stays on its thread");
    }

    /// Called first by a fiber on its stack: does the pending work for the fiber that ran before.
    fn on_arrival(&self, _local: &Local) {
        unreachable!("{NO_STACK}");
    }

    /// Leaves `fiber`, which has ended, for good. Returns only if its stack has gone to
    /// another fresh fiber, which the caller runs next. `joiner`: the address of the fiber that its
    /// end has woken, or 0.
    ///
    /// # Safety
    /// Called by the fiber itself, at the root of its stack.
    unsafe fn ended(&self, _local: &Local, _fiber: FiberPtr, _joiner: usize) -> FiberPtr {
        unreachable!("{NO_STACK}");
    }

    /// Arms `timer` to claim its ticket at `deadline` (nanoseconds, as `base::clock` counts).
    /// Returns the number of its wheel.
    ///
    /// # Safety
    /// Called on the thread that runs the fiber; `timer` stays pinned until it has fired or
    /// was disarmed.
    unsafe fn arm(&self, _timer: NonNull<Timer<Ticket>>, _deadline: u64) -> usize {
        unreachable!("{NO_WHEEL}");
    }

    /// Removes `timer` from that wheel; false if it has fired.
    ///
    /// # Safety
    /// Called on the thread that armed it, unless the fiber may migrate.
    unsafe fn disarm(&self, _timer: NonNull<Timer<Ticket>>, _wheel: usize) -> bool {
        unreachable!("{NO_WHEEL}");
    }

    /// Returns whether other fibers wait for the thread that runs this one, or with `observers` an
    /// observer. Called by a fiber that blocks its thread in place.
    fn others_wait(&self, _observers: bool) -> bool {
        false
    }

    /// Returns whether this scheduler has cancelled all its fibers and may not have reached this
    /// one, since it runs. Called by the fiber itself.
    fn has_cancelled_all(&self, _local: &Local) -> bool {
        false
    }

    /// Returns the present moment of the fiber's clock. Called by the fiber itself.
    fn now(&self, _local: &Local) -> Instant {
        shim::now()
    }

    /// Starts a `wanted` fiber for which there is no stack, if necessary on one beyond
    /// `max_stacks`. `None`: there was no such fiber, or the system has no stack. Called by the
    /// fiber that waits for its end.
    fn lend(&self, _local: &Local, _wanted: BorrowTarget) -> Option<FiberRef> {
        None
    }

    /// Returns a stack of the usual size for polls of the calling fiber; none if there are too few.
    fn spare_stack(&self, _local: &Local) -> Option<Stack> {
        None
    }

    /// Takes back a stack that [`spare_stack`](Schedule::spare_stack) has returned, perhaps to
    /// another fiber of the same runtime. Called by a fiber of it.
    fn keep_spare(&self, _local: &Local, _stack: Stack) {
        unreachable!("{NO_STACK}");
    }

    /// Returns the function that is notified if the panic of the calling fiber is not taken.
    fn witness(&self) -> Option<Witness> {
        None
    }

    /// Records that the calling fiber has closed the channel at this address.
    fn saw_close(&self, _local: &Local, _fiber: FiberPtr, _channel: usize) {}

    /// Lets the strategy of the present run choose, if there is one, before other fibers can notice
    /// the end of `fiber`. Called by the fiber itself.
    #[cfg(feature = "sim")]
    fn before_end(&self, _fiber: FiberPtr) {}

    /// Returns the number below `count` that the strategy of the present run picks; 0 if there is
    /// none. Called by the fiber.
    fn pick(&self, _pick: Pick, _count: usize) -> usize {
        0
    }

    /// Returns whether that clock moves only when this thread runs no fiber. Called by the fiber.
    fn time_is_virtual(&self) -> bool {
        false
    }
}

const NO_STACK: &str = "a thread without a fiber has no stack to leave";
const NO_WHEEL: &str = "a thread without a fiber waits without a worker's timer";
