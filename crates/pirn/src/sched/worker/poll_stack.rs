//! The stack that a worker has for polls: its origin and its release.
//!
//! Owns: the stack. Does not own: the loan of it for one poll (`wait::aside`).
//!
//! It is one of the pool's, taken as for a fiber, and counts as one that a worker keeps at hand. So
//! there is none where stacks are so few that workers keep none. A worker that gives up the stacks it
//! keeps gives up this one too.

use crate::context::Stack;
use crate::fiber::current::Local;
use crate::sched::worker::run::Worker;

impl Worker {
    /// As [`Schedule::spare_stack`](crate::fiber::Schedule::spare_stack).
    #[cold]
    pub(in crate::sched) fn spare_stack(&self) -> Option<Stack> {
        if !self.pool.starved.is_empty() || !self.pool.stacks.lets_keep() {
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
        if !self.pool.starved.is_empty() {
            self.feed();
        }
    }

    /// Moves the stack for polls, unless a poll is on it, to those that the worker keeps.
    pub(in crate::sched) fn put_spare_away(&self, local: &Local) {
        if let Some(stack) = local.take_spare() {
            // SAFETY: K1.
            unsafe { (*self.stacks.get()).give(stack, &self.pool.stacks) };
        }
    }
}
