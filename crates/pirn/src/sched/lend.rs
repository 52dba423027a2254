//! A fresh fiber for which there is no stack runs on that of a fiber that waits for its end.
//!
//! Owns: the loan. Does not own: who lends to whom (`fiber::hunger`, `wait::lend`).
//!
//! The fiber settles on the lender's worker, gets the lender's stack and the context that goes
//! with it, and is called, as a function. Whatever it does there it does as itself: it has a
//! header, a state word, fiber-locals and regions of its own; it may park, and others run on
//! this thread meanwhile; it may lend the stack on. When it has ended the call returns, and the
//! lender goes on.
//!
//! # Invariants
//! * LE1. While a fiber lends it has no stack and its context is void; its state word says
//!   Active, no ticket of its present epoch is out, and it is in no queue. So nobody can wake
//!   it (ST3), and nobody can switch to it.
//! * LE2. The frames of a loan lie on the stack in the order in which it was lent: whoever runs
//!   on it is the last borrower. The loan goes back when that one has ended, by the return to
//!   the lender's frame.
//!
//! A buried lender waits for the borrower's end and for nothing that it could do itself; that is
//! why only such waits lend (`wait::lend`). A borrower that needs what another hungry
//! fiber does waits for it as it would on a stack of its own.

use std::mem::swap;
use std::ptr;

use super::checks;
use super::events::Kind;
use super::worker::{Worker, header};
use crate::context::Stack;
use crate::fiber::FiberPtr;
use crate::fiber::current;
use crate::fiber::entry::live;
use crate::fiber::hunger::Wanted;
use crate::fiber::life::State;
use crate::shim::atomic::Ordering;
use crate::wait::Reason;

/// The part of a stack that must be left for a fiber of the usual size: an eighth. Arbitrary:
/// half of the stacks' size would be kinder to deep calls, and end nests of scopes earlier.
const SHARE: usize = 8;

impl Worker {
    /// As [`Schedule::lend`](crate::fiber::Schedule::lend).
    ///
    /// # Safety
    /// As there, on this worker.
    pub(super) unsafe fn lend(&self, lender: FiberPtr, wanted: Wanted) -> bool {
        checks::leaving(lender);
        // SAFETY: H2: the lender runs here.
        let Some(stack) = (unsafe { &*header(lender).stack.get() }) else {
            return false;
        };
        let here = 0_u8;
        // A sanitizer may keep variables elsewhere: then nothing is known to be left.
        let here = ptr::from_ref(&here).addr();
        let range = stack.range();
        if !range.contains(&here) {
            return false;
        }
        let left = here - range.start;
        let usual = self.pool.stacks.usual_size() / SHARE;
        let fits = |fiber: FiberPtr| {
            wanted.is(fiber, header(fiber))
                && left >= header(fiber).stack_size().unwrap_or(usual)
        };
        let Some(borrower) = self.pool.starved.take(fits) else {
            return false;
        };
        let reason = Reason::Scope;
        self.saw_with(Kind::Park, lender, reason as usize);
        self.remote().counters.loans.increment();
        header(lender).life.step(State::Parking);
        header(lender).life.parked();
        if let Some(stack) = self.hand_over(lender, borrower) {
            self.settle(borrower, stack);
        }
        self.saw(Kind::Start, borrower);
        self.saw(Kind::Run, borrower);
        self.note(current::local(), borrower);
        // SAFETY: once: it was fresh, and the list gave it to nobody else.
        unsafe { live(borrower) };
        // Another one, if fibers may migrate: the lender has come along on its stack.
        let worker = Worker::here(current::local());
        // SAFETY: on the worker that the borrower has ended on.
        unsafe { worker.take_back(lender, borrower) };
        true
    }

    /// The borrower has ended: the lender goes on.
    ///
    /// # Safety
    /// Called on the stack in question, on this worker.
    unsafe fn take_back(&self, lender: FiberPtr, borrower: FiberPtr) {
        checks::leaving(borrower);
        self.saw(Kind::Done, borrower);
        let stack = self.hand_over(borrower, lender);
        if let Some(stack) = &stack {
            // SAFETY: the header holds the stack until the fiber has left it.
            unsafe { stack.set_owner(lender.as_ptr().cast()) };
        }
        // SAFETY: H2: the lender runs again.
        unsafe { *header(lender).stack.get() = stack };
        self.retire(borrower);
        header(lender).life.step(State::Running);
        // ORDERING: Release: as in `note`.
        self.remote()
            .running
            .store(lender.as_ptr(), Ordering::Release);
        current::local().set_fiber(Some(lender));
        self.saw(Kind::Run, lender);
    }

    /// Takes the stack of one fiber, which runs on it, for another that goes on there, and
    /// has them exchange their contexts: the one of the two that is alive goes with the stack.
    fn hand_over(&self, from: FiberPtr, to: FiberPtr) -> Option<Stack> {
        // SAFETY: H2: both are this worker's; a context that runs may be moved.
        let from_context = unsafe { &mut *header(from).context.get() };
        // SAFETY: as above.
        let to_context = unsafe { &mut *header(to).context.get() };
        swap(from_context, to_context);
        // SAFETY: H2.
        unsafe { (*header(from).stack.get()).take() }
    }
}
