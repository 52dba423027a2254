//! A waiter's place outside of a frame: in a case of a choice.
//!
//! [`wait_in`](super::wait_in) keeps its waiter in its own frame. A choice has one waiter for each
//! of its cases, and keeps them in the cases.
//!
//! Invariant B1: a slot holds a waiter iff that waiter has joined a queue and has not been taken
//! out of the slot again. All access is through a shared reference, since a party with the queue's
//! lock may access the waiter meanwhile.

use std::ptr::NonNull;

use crate::fiber::Ticket;
use crate::fiber::state::Code;
use crate::fiber::waiter::{WaitQueue, Waiter};
use crate::shim::Cell;

/// A slot for one waiter.
pub(crate) struct WaiterSlot<P> {
    waiter: std::cell::UnsafeCell<Option<Waiter<P>>>,
    /// B1: set while there is a waiter. Used by the owner.
    taken: Cell<bool>,
}

// SAFETY: B1: only the owner accesses an empty slot. One with a waiter stays in place (`link`),
// and the waiter is accessed under the queue's lock, so it does not matter which thread owns the
// slot.
unsafe impl<P: Send> Send for WaiterSlot<P> {}

impl<P> WaiterSlot<P> {
    pub(crate) fn new() -> Self {
        WaiterSlot {
            waiter: std::cell::UnsafeCell::new(None),
            taken: Cell::new(false),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        !self.taken.get()
    }

    /// Joins `queue` at its end.
    ///
    /// # Safety
    /// * The caller holds the queue's lock.
    /// * The slot is empty, and stays alive and in place until [`unlink`](Self::unlink) or
    ///   [`take_payload`](Self::take_payload) has been called.
    pub(crate) unsafe fn link(
        &self,
        queue: &mut WaitQueue<P>,
        ticket: Ticket,
        code: Code,
        payload: P,
    ) {
        let before = self.taken.replace(true);
        assert!(!before, "the same case was added to a select twice");
        let waiter = Waiter::new(ticket, code, payload);
        // SAFETY: B1: empty, so no other code accesses it.
        let place = unsafe { (*self.waiter.get()).insert(waiter) };
        let place = NonNull::from(place);
        // SAFETY: the lock is held; W2: by contract.
        unsafe { queue.push(place) };
    }

    /// Unlinks the waiter from `queue`, unless that was done already, and returns the payload.
    ///
    /// # Safety
    /// The caller holds the lock of the queue that was joined.
    pub(crate) unsafe fn unlink(&self, queue: &mut WaitQueue<P>) -> P {
        // SAFETY: B1: there is a waiter. Its links are reached through this pointer only.
        let place = unsafe { (*self.waiter.get()).as_ref() }.map(NonNull::from);
        if let Some(place) = place {
            // SAFETY: the lock is held; the waiter was pushed to this queue.
            unsafe { queue.remove(place) };
        }
        // SAFETY: unlinked under the lock, by a waker or just now, so it is the owner's.
        unsafe { self.take_payload() }
    }

    /// Returns the payload of an unlinked waiter.
    ///
    /// # Safety
    /// The waiter was claimed after its owner had parked, and the owner has been resumed (W3).
    pub(crate) unsafe fn take_payload(&self) -> P {
        self.taken.set(false);
        // SAFETY: W3: no other code accesses the waiter any more.
        let waiter = unsafe { (*self.waiter.get()).take() };
        waiter.expect("a case that was published").into_payload()
    }
}
