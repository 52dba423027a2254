//! A worker's own stacks: acquired and released without a lock or an atomic operation.
//!
//! The stack that came back last is taken first: its top page is in the cache, and so is its
//! record. A full cache gives its older half to the pool at once. So a worker that frees stacks
//! which others take locks the pool once for each half of a cache.

use super::out_of_stacks::OutOfStacks;
use super::pool::StackPool;
use super::stack::Stack;
use crate::context::sanitizer;

/// The stacks that one worker keeps; all of the default size and of one pool.
#[derive(Debug)]
pub(crate) struct StackCache {
    /// The stack that came back last is at the end.
    stacks: Vec<Stack>,
    max: usize,
}

impl StackCache {
    /// Creates an empty cache for at most `max` stacks.
    pub(crate) fn new(max: usize) -> StackCache {
        StackCache {
            stacks: Vec::with_capacity(max),
            max,
        }
    }

    /// Takes the stack that came back last, or one from the pool.
    ///
    /// # Errors
    /// As [`StackPool::take`].
    #[inline]
    pub(crate) fn take(&mut self, pool: &StackPool) -> Result<Stack, OutOfStacks> {
        match self.take_kept() {
            Some(stack) => Ok(stack),
            None => self.take_from(pool),
        }
    }

    /// Takes the stack that came back last; `None` if there is none.
    #[inline]
    pub(crate) fn take_kept(&mut self) -> Option<Stack> {
        let stack = self.stacks.pop()?;
        sanitizer::taken(&stack);
        Some(stack)
    }

    /// Keeps a stack of `pool`, or returns it to the pool if it has another size.
    #[inline]
    pub(crate) fn give(&mut self, stack: Stack, pool: &StackPool) {
        if let Err(stack) = self.keep(stack) {
            self.give_slowly(stack, pool);
        }
    }

    /// Keeps a stack of the pool.
    ///
    /// # Errors
    /// The stack, if there is no room, or it has another size: see [`give_slowly`](Self::give_slowly).
    #[inline]
    pub(crate) fn keep(&mut self, stack: Stack) -> Result<(), Stack> {
        if stack.place().class != 0 || self.stacks.len() >= self.max {
            return Err(stack);
        }
        sanitizer::given_back(&stack);
        self.stacks.push(stack);
        Ok(())
    }

    /// Returns all stacks to their pool; false if there were none. Called before the worker sleeps:
    /// other workers may be out of stacks.
    pub(crate) fn flush(&mut self, pool: &StackPool) -> bool {
        let some = !self.stacks.is_empty();
        pool.rest(self.stacks.drain(..));
        some
    }

    /// Takes a stack from the pool.
    ///
    /// # Errors
    /// As [`StackPool::take`].
    #[cold]
    pub(crate) fn take_from(&mut self, pool: &StackPool) -> Result<Stack, OutOfStacks> {
        self.max = self.max.min(pool.cache_share());
        pool.take()
    }

    /// Makes room for a stack, or returns it to the pool.
    #[cold]
    pub(crate) fn give_slowly(&mut self, stack: Stack, pool: &StackPool) {
        if stack.place().class != 0 || self.max == 0 {
            return pool.give(stack);
        }
        let older = self.stacks.len() - self.max / 2;
        pool.rest(self.stacks.drain(..older));
        sanitizer::given_back(&stack);
        self.stacks.push(stack);
    }
}
