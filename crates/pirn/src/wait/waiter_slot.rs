//! A waiter's place outside of a frame: in a case of a choice.
//!
//! [`wait_in`](super::wait_in) keeps its waiter in its own frame. A choice has one waiter for each
//! of its cases, and keeps them in the cases.
//!
//! Invariants:
//! * B1. A slot holds a waiter iff that waiter has joined a queue and has not been taken out of the
//!   slot again. All access is through a shared reference, since a party with the queue's lock may
//!   access the waiter meanwhile.
//! * B2. The slot of a waiter stays in place: it is pinned, and the process ends if it is dropped.
//! * B3. `link` gets a queue inside of a lock, of an object that the case borrows or has a
//!   reference to. So the queue stays in place, outlives the waiter, and is accessed under its
//!   lock. This is checked where `link` is called: in the cases of `channel`, `cancel`, `join` and
//!   `readiness`.

use std::marker::PhantomPinned;
use std::pin::Pin;
use std::process::abort;
use std::ptr::{self, NonNull};

use crate::fiber::Ticket;
use crate::fiber::state::Code;
use crate::fiber::waiter::{WaitQueue, Waiter};
use crate::shim::Cell;

/// A slot for one waiter.
pub(crate) struct WaiterSlot<P> {
    waiter: std::cell::UnsafeCell<Option<Waiter<P>>>,
    /// B1: the address of the queue while there is a waiter, else 0. Only the owner accesses it.
    queue: Cell<usize>,
    _pinned: PhantomPinned,
}

// SAFETY: B1: only the owner accesses an empty slot. One with a waiter stays in place (B2),
// and the waiter is accessed under the queue's lock, so it does not matter which thread owns the
// slot.
unsafe impl<P: Send> Send for WaiterSlot<P> {}

impl<P> WaiterSlot<P> {
    pub(crate) fn new() -> Self {
        WaiterSlot {
            waiter: std::cell::UnsafeCell::new(None),
            queue: Cell::new(0),
            _pinned: PhantomPinned,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queue.get() == 0
    }

    /// Joins `queue` at its end.
    ///
    /// # Panics
    /// If there is a waiter in the slot.
    pub(crate) fn link(
        self: Pin<&Self>,
        queue: &mut WaitQueue<P>,
        ticket: Ticket,
        code: Code,
        payload: P,
    ) {
        assert!(self.is_empty(), "the same case was added to a select twice");
        self.queue.set(address(queue));
        let waiter = Waiter::new(ticket, code, payload);
        // SAFETY: B1: empty, so no other code accesses it.
        let place = unsafe { (*self.waiter.get()).insert(waiter) };
        let place = NonNull::from(place);
        // SAFETY: the lock is held (B3); W2: B2.
        unsafe { queue.push(place) };
    }

    /// Unlinks the waiter from `queue`, unless that was done already, and returns the payload.
    ///
    /// B3: `queue` is the one that was joined.
    ///
    /// # Panics
    /// If the slot is empty.
    pub(crate) fn unlink(self: Pin<&Self>, queue: &mut WaitQueue<P>) -> P {
        let joined = self.queue.get() == address(queue);
        debug_assert!(joined, "a case was withdrawn from another queue");
        // SAFETY: B1: there is a waiter. Its links are reached through this pointer only.
        let place = unsafe { (*self.waiter.get()).as_ref() }.map(NonNull::from);
        if let Some(place) = place {
            // SAFETY: the lock is held; the waiter was pushed to this queue.
            unsafe { queue.remove(place) };
        }
        // SAFETY: unlinked under the lock, by a waker or just now, so it is the owner's.
        unsafe { self.take() }
    }

    /// Returns the payload of a waiter that a waker has unlinked.
    pub(crate) fn take_payload(&self, _: Handed) -> P {
        // SAFETY: W3: the waker has finished.
        unsafe { self.take() }
    }

    /// # Safety
    /// The waiter is unlinked, and no other code accesses it.
    unsafe fn take(&self) -> P {
        self.queue.set(0);
        // SAFETY: by contract.
        let waiter = unsafe { (*self.waiter.get()).take() };
        waiter.expect("a case that was published").into_payload()
    }
}

/// The proof that the waker of a case has finished. The case that was claimed passes it to its
/// slot.
#[expect(unnameable_types, reason = "cases are made here only")]
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct Handed(());

impl Handed {
    /// # Safety
    /// Passed only to the case that was claimed: after its owner had parked, and has been resumed
    /// (W3).
    pub(super) unsafe fn new() -> Handed {
        Handed(())
    }
}

impl<P> Drop for WaiterSlot<P> {
    fn drop(&mut self) {
        if !self.is_empty() {
            // B2: a waker could access freed memory.
            eprintln!("pirn: a waiter was dropped while it was in a queue");
            abort();
        }
    }
}

fn address<P>(queue: &WaitQueue<P>) -> usize {
    ptr::from_ref(queue).addr()
}
