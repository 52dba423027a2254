//! A fresh fiber for which there is no stack gets one beyond `max_stacks`, on behalf of a fiber that
//! waits for its end.
//!
//! Owns: the loan. Does not own: which fibers may get one (`fiber::hunger`, `wait::lend`), nor the
//! stacks beyond the bound (`context::pool`).
//!
//! A fiber that waits for the end of a fiber without a stack holds a stack and cannot run. If the bound
//! applied there, fibers could wait for each other indefinitely. So the waiter does not count against
//! the bound while the other fiber lives. That one has a whole stack of its own, of the size that it
//! was promised.
//!
//! # Invariants
//! * LE1. Each stack beyond the bound is out for one fiber, and one waiter waits for the end of that
//!   fiber; or has waited, if an interrupt has ended that wait.
//! * LE2. Such a stack goes back to the pool when its fiber has ended: no cache keeps it (its class is
//!   not 0), and no other fiber inherits it (`Starved::is_watched`). So loans do not add up.

use crate::context::OutOfStacks;
use crate::fiber::FiberRef;
use crate::fiber::hunger::Wanted;
use crate::sched::pool::shared::Pool;
use crate::sched::worker::run::{Worker, header};

impl Worker {
    /// As [`Schedule::lend`](crate::fiber::Schedule::lend).
    pub(in crate::sched) fn lend(&self, wanted: Wanted) -> Option<FiberRef> {
        let wanted = |fiber| wanted.is(fiber, header(fiber));
        let Pool {
            starved, stacks, ..
        } = &*self.pool;
        let mut is_loan = false;
        let (fiber, stack) = starved.take_with(wanted, |fiber| {
            let size = header(fiber).stack_size();
            let stack = self.take_stack(size);
            is_loan = matches!(stack, Err(OutOfStacks::Cap { .. }));
            match is_loan {
                true => stacks.take_beyond(size).ok(),
                false => stack.ok(),
            }
        })?;
        if is_loan {
            self.remote().counters.loans.increment();
            // LE2: before the fiber can end.
            starved.set_beyond(|| stacks.beyond());
        }
        // It has not started, so the runtime still holds a reference.
        let borrower = FiberRef::of(fiber);
        self.start_on(fiber, stack);
        self.start_settled(fiber);
        Some(borrower)
    }
}
