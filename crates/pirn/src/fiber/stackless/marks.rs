//! Stackless fibers: fresh ones that found no stack. The waiters for the end of a stackless fiber
//! may borrow a stack for it.
//!
//! Owns: the choice of the waiters that are notified when a fiber becomes stackless or no longer
//! is. Does not own: the list of such fibers (`sched::pool::stack_waiters`), or the loan
//! (`sched::worker::stacks`).
//!
//! A fiber's end is waited for in two places: at the fiber (its `join`), and at its end hook, by
//! the scope or group that has spawned it. Each keeps, under its own lock, a mark whether its fiber
//! or children are stackless. The two functions here change the marks. They are called under the
//! lock of the list, so the list and the marks agree whenever that lock is free.
//!
//! LIVENESS: a waiter checks the mark in the critical section in which it joins the queue. If the
//! mark comes first, the waiter finds it and tries to borrow. If the waiter comes first, setting
//! the mark claims it. A waiter may find the mark and then no fiber on the list (the fiber has been
//! taken, or belongs to another runtime). It then records the number of that request, and waits: a
//! later request has another number.
//!
//! LOCK: the list of stackless fibers, then the lock of a fiber's `join` or of a scope. Never in
//! the opposite order.

use super::words::{BorrowTarget, StackOwner};
use crate::base::mutant::mutant;
use crate::fiber::end_hook::EndHook;
use crate::fiber::fiber_ptr::FiberPtr;
use crate::fiber::header::Header;
use crate::fiber::waking::ticket::Wake;

impl BorrowTarget {
    /// Returns whether this includes the stackless `fiber`.
    pub(crate) fn is(self, fiber: FiberPtr, header: &Header) -> bool {
        match self {
            BorrowTarget::Fiber(wanted) => wanted == fiber,
            BorrowTarget::ChildOf(data) => {
                header.on_end().is_some_and(|hook| hook.data == data)
            }
        }
    }
}

/// Flags a fresh fiber as stackless. The `wakes` are due when no lock is held.
pub(crate) fn begin(header: &Header, wakes: &mut Vec<Wake>) {
    {
        let mut join = header.join.lock();
        if !mutant!("stackless_unmarked") {
            join.stackless = join.stackless.wrapping_add(1);
        }
        let borrows = |joiner: &StackOwner| {
            *joiner == StackOwner::Borrower && !mutant!("stackless_asks_none")
        };
        let ask = |joiner: &mut StackOwner| *joiner = StackOwner::Asked;
        while let Some(wake) = join.waiters.claim_first_where(borrows, ask) {
            wakes.push(wake);
        }
    }
    notify_scope(header, true, wakes);
}

/// Clears the mark: the fiber has been taken from the list.
pub(crate) fn end(header: &Header) {
    if !mutant!("stackless_unmarked") {
        let mut join = header.join.lock();
        join.stackless = join.stackless.wrapping_add(1);
    }
    notify_scope(header, false, &mut Vec::new());
}

fn notify_scope(header: &Header, stackless: bool, wakes: &mut Vec<Wake>) {
    if let Some(EndHook { table, data }) = header.on_end() {
        // SAFETY: `data` is there until the fiber's end: the scope that set the hook waits for that,
        // and for a group it is a counted reference. The fiber is fresh and on the list; the caller
        // holds the lock of the list.
        unsafe { (table.set_stackless)(data, stackless, wakes) };
    }
}
