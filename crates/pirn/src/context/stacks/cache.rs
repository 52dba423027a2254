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
        match self.stacks.pop() {
            Some(stack) => {
                sanitizer::taken(&stack);
                Ok(stack)
            }
            None => self.take_from(pool),
        }
    }

    /// Keeps a stack of `pool`, or returns it to the pool if it has another size.
    #[inline]
    pub(crate) fn give(&mut self, stack: Stack, pool: &StackPool) {
        if stack.place().class != 0 || self.stacks.len() >= self.max {
            return self.give_slowly(stack, pool);
        }
        sanitizer::given_back(&stack);
        self.stacks.push(stack);
    }

    /// Returns all stacks to their pool; false if there were none. Called before the worker sleeps:
    /// other workers may be out of stacks.
    pub(crate) fn flush(&mut self, pool: &StackPool) -> bool {
        let some = !self.stacks.is_empty();
        pool.rest(self.stacks.drain(..));
        some
    }

    #[cold]
    fn take_from(&mut self, pool: &StackPool) -> Result<Stack, OutOfStacks> {
        self.max = self.max.min(pool.cache_share());
        pool.take()
    }

    #[cold]
    fn give_slowly(&mut self, stack: Stack, pool: &StackPool) {
        if stack.place().class != 0 || self.max == 0 {
            return pool.give(stack);
        }
        let older = self.stacks.len() - self.max / 2;
        pool.rest(self.stacks.drain(..older));
        sanitizer::given_back(&stack);
        self.stacks.push(stack);
    }
}
