//! Parts of the scheduler for the benchmarks, and functions by which tests break invariants on
//! purpose.

use std::ops::Range;
use std::ptr::NonNull;

use crate::base::list::NodePtr;
use crate::fiber::current;
use crate::readiness;
use crate::sched::queue::ring::Ring;

/// Stops switches between fibers from counting as an order for ThreadSanitizer: from then on only
/// the primitives that fibers use order their accesses.
#[cfg(pirn_tsan)]
pub fn order_no_switches() {
    crate::context::order_no_switches();
}

/// An item of a [`StealRing`].
#[derive(Debug)]
#[repr(align(8))]
pub struct Item(pub u64);

/// A worker's ring, without the worker.
#[derive(Debug)]
pub struct StealRing(Ring<Item>);

impl StealRing {
    /// Creates an empty ring.
    #[must_use]
    pub fn new() -> StealRing {
        StealRing(Ring::new())
    }

    /// Appends an item; false if the ring is full, or a thief has not yet released what it claimed.
    ///
    /// # Safety
    /// The caller's thread is the only one that pushes to this ring, clears it, or steals
    /// into it: its owner.
    pub unsafe fn push(&self, item: &'static Item) -> bool {
        // SAFETY: the item is static, and only ever shared.
        let item = unsafe { NodePtr::new(NonNull::from(item)) };
        self.0.push(item).is_ok()
    }

    /// Steals half of the items, rounded up, and returns the address of the oldest of them; the
    /// others are in `own`. `None` if the ring is empty, another thief is active, or `own` is more
    /// than half full.
    ///
    /// # Safety
    /// The caller's thread is the owner of `own`.
    pub unsafe fn steal_into(&self, own: &StealRing) -> Option<usize> {
        self.0.steal_into(&own.0).map(|(item, _)| item.addr())
    }

    /// Empties the ring.
    ///
    /// # Safety
    /// The caller's thread is the ring's owner.
    pub unsafe fn clear(&self) {
        while self.0.pop().is_some() {}
    }
}

impl Default for StealRing {
    fn default() -> Self {
        StealRing::new()
    }
}

/// Sets the running fiber's state word to ended, although the fiber has not ended. Where states are
/// checked, the next switch or end of the fiber then aborts the process.
///
/// # Panics
/// On a plain thread.
///
/// # Safety
/// Only yields and the end of the fiber follow, and no other fiber, thread or report refers to it
/// except by a join.
pub unsafe fn break_running_fiber() {
    let fiber = current::local().fiber().expect("a fiber");
    fiber.header().state.finish();
}

/// Returns the addresses of the running fiber's stack; `None` on a plain thread.
#[must_use]
pub fn running_stack() -> Option<Range<usize>> {
    let fiber = current::local().fiber()?;
    let header = fiber.header();
    // SAFETY: H2: the caller is the fiber itself, and its stack does not move.
    let stack = unsafe { &*header.stack() };
    stack.as_ref().map(crate::context::Stack::range)
}

/// Returns the largest number of readiness sources (sockets, pipes, ends of children) that have
/// existed at once. The slot of a closed source is reused.
#[must_use]
pub fn sources_ever() -> usize {
    readiness::ever()
}
