//! Waiters for the end of a stackless fiber, and the fibers that they may borrow a stack for.

use crate::fiber::fiber_ptr::FiberPtr;

/// A waiter for a fiber's end, in the fiber's queue.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum StackOwner {
    /// The waiter waits for other things too, or not for long: it borrows nothing.
    Other,
    /// The waiter would borrow a stack for the fiber.
    Borrower,
    /// The waiter has been woken to borrow one.
    Asked,
}

/// The stackless fibers for which a waiter borrows a stack.
#[derive(Debug, Copy, Clone)]
pub(crate) enum BorrowTarget {
    /// This fiber.
    Fiber(FiberPtr),
    /// Any fiber with an end hook that has this data: a child of this scope or group.
    ChildOf(*const ()),
}
