//! Hunger: a fresh fiber finds no stack, and the waiters for its end may borrow one for it.
//!
//! Owns: who is told that a fiber is hungry, and that it is not any more. Does not own: the
//! list of such fibers (`sched::starved`), nor the loan (`sched::lend`).
//!
//! A fiber's end is waited for in two places: at the fiber (its `join`), and by whoever has
//! spawned it (its end hook: a scope, a group). Each keeps, under its own lock, whether what it
//! stands for is hungry. The two functions here change that; they are called under the
//! lock of the list, so the list and the marks agree whenever that lock is free.
//!
//! LIVENESS: a waiter looks at the mark in the critical section in which it joins the queue.
//! If the mark comes first, the waiter finds it and tries to borrow; if the waiter comes first,
//! who sets the mark claims it. A waiter that finds the mark and then no fiber on the list (it
//! has been taken, or belongs to another runtime) notes which asking that was, and waits: a
//! later asking is another one.
//!
//! LOCK: the list of hungry fibers, then the lock of a fiber's `join` or of a scope. Nobody takes
//! them the other way round.

use super::header::{EndHook, FiberPtr, Header};
use super::ticket::Wake;
use crate::base::mutant::mutant;

/// One who waits for a fiber's end, as the fiber's queue knows it.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum Joiner {
    /// Waits for other things too, or not for long: borrows nothing.
    Other,
    /// Would borrow a stack for the fiber.
    Borrower,
    /// Has been woken to borrow it.
    Asked,
}

/// Which hungry fibers a waiter borrows a stack for.
#[derive(Debug, Copy, Clone)]
pub(crate) enum Wanted {
    /// This fiber's.
    Fiber(FiberPtr),
    /// That of any fiber whose end hook has this data: a child of this scope or group.
    ChildOf(*const ()),
}

impl Wanted {
    /// Whether `fiber`, which is hungry, is meant.
    pub(crate) fn is(self, fiber: FiberPtr, header: &Header) -> bool {
        match self {
            Wanted::Fiber(wanted) => wanted == fiber,
            Wanted::ChildOf(data) => {
                header.on_end.get().is_some_and(|hook| hook.data == data)
            }
        }
    }
}

/// Marks a fresh fiber as hungry. The `wakes` are due when no lock is held.
pub(crate) fn begin(header: &Header, wakes: &mut Vec<Wake>) {
    {
        let mut join = header.join.lock();
        if !mutant!("hunger_unmarked") {
            join.hunger = join.hunger.wrapping_add(1);
        }
        let borrows = |joiner: &Joiner| {
            *joiner == Joiner::Borrower && !mutant!("hunger_asks_nobody")
        };
        let ask = |joiner: &mut Joiner| *joiner = Joiner::Asked;
        while let Some(wake) = join.waiters.claim_first_where(borrows, ask) {
            wakes.push(wake);
        }
    }
    tell(header, true, wakes);
}

/// Takes the mark back: the fiber has been taken from the list.
pub(crate) fn end(header: &Header) {
    if !mutant!("hunger_unmarked") {
        let mut join = header.join.lock();
        join.hunger = join.hunger.wrapping_add(1);
    }
    tell(header, false, &mut Vec::new());
}

fn tell(header: &Header, hungry: bool, wakes: &mut Vec<Wake>) {
    if let Some(EndHook { table, data }) = header.on_end.get() {
        // SAFETY: whoever set the hook waits for the fiber's end, and the fiber is fresh and on
        // the list, whose lock the caller holds.
        unsafe { (table.hunger)(data, hungry, wakes) };
    }
}
