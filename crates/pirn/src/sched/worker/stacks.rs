//! The stacks that a worker has at hand: for fibers that start, for polls, and, if the pool has no
//! more, for fibers that others wait for.
//!
//! Owns: which stack a fiber gets, and the wait of a fiber without one. Does not own: the pool of
//! stacks (`context::stacks::pool`), the list of fibers that wait (`sched::pool::stack_waiters`),
//! the loan of the stack for one poll (`wait::poll::poll_stack`), nor which fibers may get a stack
//! beyond `max_stacks` (`fiber::stackless`, `wait::parking::stack_borrow`).
//!
//! The stack for polls is one of the pool's, and counts as one at hand. So there is none where
//! stacks are so few that workers keep none, and a worker that gives up the stacks it keeps gives
//! up this one too.
//!
//! # Stacks beyond the bound
//! A fiber that waits for the end of a fiber without a stack holds a stack and cannot run. If the
//! bound applied there, fibers could wait for each other indefinitely. So the waiter does not count
//! against the bound while the other fiber lives. That one has a whole stack of its own, of the
//! size that it was promised.
//!
//! # Invariants
//! * LE1. Each stack beyond the bound is out for one fiber, and one waiter waits for the end of
//!   that fiber; or has waited, if an interrupt has ended that wait.
//! * LE2. Such a stack goes back to the pool when its fiber has ended: no cache keeps it (its class
//!   is not 0), and no other fiber inherits it (`StackWaiters::is_watched`). So loans do not add
//!   up.

use crate::context::{OutOfStacks, Stack, StackPool};
use crate::fiber::current::{self, Local};
use crate::fiber::stackless::BorrowTarget;
use crate::fiber::{FiberPtr, FiberRef};
use crate::sched::pool::phase::Phase;
use crate::sched::pool::shared::Pool;
use crate::sched::worker::run::Worker;
use crate::shim::atomic::{Ordering, fence};

impl Worker {
    /// Takes a stack of `size` bytes, or of the usual size.
    #[inline]
    pub(super) fn take_stack(&self, size: Option<usize>) -> Result<Stack, OutOfStacks> {
        // SAFETY: K1.
        let stacks = unsafe { &mut *self.stacks.get() };
        match size {
            // No poll is running; the stack for polls counts as one at hand.
            None => match stacks.take_kept() {
                Some(stack) => Ok(stack),
                None => self
                    .at_pool(|pool| stacks.take_from(pool))
                    .or_else(|why| current::local().take_spare().ok_or(why)),
            },
            Some(size) => self.at_pool(|pool| pool.take_sized(size)),
        }
    }

    /// Gives back the stack of a fiber that has ended.
    #[inline]
    pub(super) fn give_stack(&self, stack: Stack, size: Option<usize>) {
        // SAFETY: K1.
        let stacks = unsafe { &mut *self.stacks.get() };
        if size.is_some() {
            self.at_pool(|pool| pool.give(stack));
        } else if let Err(stack) = stacks.keep(stack) {
            self.at_pool(|pool| stacks.give_slowly(stack, pool));
        }
    }

    /// Calls `f`, which uses the pool of stacks. It may wait for the pool's lock or for the system:
    /// the monitor shall not take that for a wait of the fiber that has run here, or runs next.
    #[cold]
    fn at_pool<T>(&self, f: impl FnOnce(&StackPool) -> T) -> T {
        let notes = &self.remote().notes;
        notes.set_at_stacks(true);
        let result = f(&self.pool.stacks);
        notes.set_at_stacks(false);
        result
    }

    /// Puts a fresh fiber aside until a stack becomes available.
    #[cold]
    pub(super) fn wait_for_stack(&self, fiber: FiberPtr, why: &OutOfStacks) {
        self.remote().counters.stack_waits.increment();
        self.pool.stack_waiters.push(fiber, why);
        // LIVENESS: stacks may be in the caches of workers that sleep: they wake and give them up
        // (`release_cached_stacks`). A stack that becomes available from now on finds the fiber on
        // the list (`finish`); one that became available before is found by this worker's own
        // `release_cached_stacks`.
        self.pool.wake_all_workers();
    }

    /// Called before the worker rests. While fibers wait for stacks, gives up the stacks that the
    /// worker keeps, and takes one of those fibers if there is a stack for it now. True if it took
    /// one, which is in its ring; under `SingleQueue` no other worker looks there.
    #[must_use = "a worker with a fiber in its ring does not rest"]
    pub(in crate::sched) fn release_cached_stacks(&self) -> bool {
        if self.pool.stack_waiters.is_empty() {
            return false;
        }
        self.put_spare_away(current::local());
        let gave = self.give_stacks_back();
        if self.is_taken() {
            if gave {
                // LIVENESS: this worker takes none of those fibers, and the others may have
                // looked for a stack before.
                self.pool.wake_all_workers();
            }
            return false;
        }
        let fed = self.pop_stackless();
        if let Some(fiber) = fed {
            self.keep_fresh(fiber);
        }
        fed.is_some()
    }

    /// Takes a fiber that waits for a stack, if there is one for it now.
    fn pop_stackless(&self) -> Option<FiberPtr> {
        let stacks = &self.pool.stacks;
        self.pool.stack_waiters.pop_if(|fiber| {
            let stack = match fiber.header().stack_size() {
                None => stacks.take(),
                Some(size) => stacks.take_sized(size),
            };
            stack.map(|stack| stacks.give(stack)).is_ok()
        })
    }

    /// The last look of a worker before its thread ends. After the end of the pool, returns a fiber
    /// that no other worker may be left to take: placed here, in the injector, or waiting for a
    /// stack.
    ///
    /// LIVENESS: a worker that queues a fiber for others looks for it here before it ends; a thread
    /// that spawns from outside looks in `Pool::takes_back`, which has the proof. Of two workers,
    /// one that queues a fiber for lack of a stack and one that has a stack, the later one to look
    /// here finds both, by the locks of the two lists.
    #[cold]
    pub(super) fn last_look(&self) -> Option<FiberPtr> {
        if self.pool.phase() != Phase::Stopped {
            return None;
        }
        fence(Ordering::SeqCst);
        // What is found is not to run.
        self.follow_phase();
        self.put_spare_away(current::local());
        self.give_stacks_back();
        let shard = self.pool.shard(self.index);
        self.take_placed()
            .or_else(|| self.pool.injector.pop_any(shard, 1).pop_front())
            .or_else(|| self.pop_stackless())
    }

    /// Returns the unused stacks here to the pool; false if there were none.
    pub(in crate::sched) fn give_stacks_back(&self) -> bool {
        // SAFETY: K1.
        unsafe { (*self.stacks.get()).flush(&self.pool.stacks) }
    }

    /// A stack has become available: starts one of the fibers that wait for one, if possible. (It
    /// may have been one beyond the bound, of no use to that fiber. Then the fiber waits again, and
    /// so its waiters are asked again, which may have been refused one before.)
    #[cold]
    pub(super) fn start_stackless(&self) {
        self.pool
            .stack_waiters
            .set_beyond(|| self.pool.stacks.beyond());
        if let Some(fiber) = self.pool.stack_waiters.pop_if(|_| true) {
            if self.pool.phase() >= Phase::Cancelled {
                // No other worker may be left to take it. It is not to run.
                self.follow_phase();
                self.keep_fresh(fiber);
            } else if !self.role.is_draining() {
                self.keep_fresh(fiber);
            } else if self.pool.inject_from(self.index, fiber) {
                self.remote().counters.wakes.increment();
            }
        }
    }

    /// As [`Schedule::spare_stack`](crate::fiber::Schedule::spare_stack).
    #[cold]
    pub(in crate::sched) fn spare_stack(&self) -> Option<Stack> {
        if !self.pool.stack_waiters.is_empty() || !self.pool.stacks.lets_keep() {
            return None;
        }
        // SAFETY: K1.
        let stacks = unsafe { &mut *self.stacks.get() };
        stacks.take(&self.pool.stacks).ok()
    }

    /// As [`Schedule::keep_spare`](crate::fiber::Schedule::keep_spare).
    #[cold]
    pub(in crate::sched) fn keep_spare(&self, stack: Stack) {
        // SAFETY: K1.
        unsafe { (*self.stacks.get()).give(stack, &self.pool.stacks) };
        if !self.pool.stack_waiters.is_empty() {
            self.start_stackless();
        }
    }

    /// Moves the stack for polls, unless a poll is on it, to those that the worker keeps.
    pub(in crate::sched) fn put_spare_away(&self, local: &Local) {
        if let Some(stack) = local.take_spare() {
            // SAFETY: K1.
            unsafe { (*self.stacks.get()).give(stack, &self.pool.stacks) };
        }
    }

    /// As [`Schedule::lend`](crate::fiber::Schedule::lend).
    pub(in crate::sched) fn lend(&self, wanted: BorrowTarget) -> Option<FiberRef> {
        let wanted = |fiber| wanted.is(fiber, fiber.header());
        let Pool {
            stack_waiters,
            stacks,
            ..
        } = &*self.pool;
        let mut is_loan = false;
        let (fiber, stack) = stack_waiters.take_with(wanted, |fiber| {
            let size = fiber.header().stack_size();
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
            stack_waiters.set_beyond(|| stacks.beyond());
        }
        // It has not started, so the runtime still holds a reference.
        let borrower = FiberRef::of(fiber);
        self.start_on(fiber, stack);
        self.start_settled(fiber);
        Some(borrower)
    }
}
