//! Waiters and their queues.
//!
//! A waiter lives on the stack of the fiber (or thread) that waits, for as long as it waits. A
//! queue links waiters in order of arrival. It is part of the object that is waited for, under that
//! object's lock.
//!
//! Invariants:
//! * W1. A waiter is linked and unlinked only under the lock of its queue.
//! * W2. A linked waiter is pinned and alive: its owner acquires the lock and unlinks it before it
//!   leaves the frame that holds it, unless a claim on Parked has unlinked it already.
//! * W3. A waker claims under the lock, in the same critical section hands over through the
//!   waiter's payload, and enqueues after releasing the lock. A claim on Parked lets the owner run
//!   only after the enqueue; an owner that was claimed before it parked acquires the lock once
//!   before it continues. So two parties never access the payload at once.

use std::mem::offset_of;
use std::ptr::NonNull;

use super::ticket::{Ticket, Wake};
use crate::base::list::{DoublyLinked, Links, List};
use crate::base::mutant::mutant;
use crate::fiber::fiber_ptr::FiberPtr;
use crate::fiber::state::Code;
use crate::shim::UnsafeCell;

/// One party in one queue, with the payload that is handed over.
pub(crate) struct Waiter<P> {
    links: Links<Waiter<P>>,
    ticket: Ticket,
    code: Code,
    payload: UnsafeCell<P>,
}

// SAFETY: the links are a field of the waiter; they are used by one queue only (W1).
unsafe impl<P> DoublyLinked for Waiter<P> {
    #[inline(always)]
    fn links(node: NonNull<Self>) -> NonNull<Links<Self>> {
        // SAFETY: in bounds of a waiter that is alive (W2).
        unsafe { node.byte_add(offset_of!(Waiter<P>, links)) }.cast()
    }
}

impl<P> Waiter<P> {
    /// Creates a waiter for the wait that `ticket` names; a waker claims it with `code`.
    #[inline(always)]
    pub(crate) fn new(ticket: Ticket, code: Code, payload: P) -> Self {
        Waiter {
            links: Links::new(),
            ticket,
            code,
            payload: UnsafeCell::new(payload),
        }
    }

    #[inline(always)]
    pub(crate) fn into_payload(self) -> P {
        // The owner's own access, for the model to check.
        self.payload.with_mut(|_| ());
        self.payload.into_inner()
    }
}

/// Waiters in order of arrival; guarded by the lock of the containing object (W1).
pub(crate) struct WaitQueue<P> {
    list: List<Waiter<P>>,
}

// SAFETY: W1, W3: waiters are reached under the queue's lock only, and payloads are handed
// from one thread to another, which is what `P: Send` allows.
unsafe impl<P: Send> Send for WaitQueue<P> {}

impl<P> WaitQueue<P> {
    pub(crate) const fn new() -> Self {
        WaitQueue { list: List::new() }
    }

    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the number of waiters in the queue, but at most 1,000, for reports.
    pub(crate) fn count(&self) -> usize {
        self.list.iter().take(1_000).count()
    }

    /// Returns whether a party other than that of `ticket` is in the queue with a payload that is
    /// `meant`. Some of them may no longer wait.
    pub(crate) fn has_other(
        &self,
        ticket: Option<Ticket>,
        meant: impl Fn(&P) -> bool,
    ) -> bool {
        self.list.iter().any(|place| {
            // SAFETY: W2: it is linked, so it is alive until the lock is released.
            let waiter = unsafe { place.as_ref() };
            // SAFETY: W3: the payload is written only under the lock, which is held.
            let meant = waiter.payload.with(|payload| meant(unsafe { &*payload }));
            meant && ticket.is_none_or(|own| waiter.ticket.fiber() != own.fiber())
        })
    }

    /// Calls `f` with each party in the queue. Some of them may no longer wait.
    pub(crate) fn each_fiber(&self, mut f: impl FnMut(FiberPtr)) {
        for place in self.list.iter() {
            // SAFETY: W2: it is linked, so it is alive until the lock is released.
            f(unsafe { place.as_ref() }.ticket.fiber());
        }
    }

    /// Links a waiter at the end of the queue.
    ///
    /// # Safety
    /// The caller holds the queue's lock and keeps W2.
    #[inline]
    pub(crate) unsafe fn push(&mut self, waiter: NonNull<Waiter<P>>) {
        // SAFETY: W2, and the waiter is in no other queue.
        unsafe { self.list.push_back(waiter) };
    }

    /// Unlinks a waiter; false if a waker has unlinked it already.
    ///
    /// # Safety
    /// The caller holds the queue's lock; `waiter` was pushed to this queue.
    #[inline]
    pub(crate) unsafe fn remove(&mut self, waiter: NonNull<Waiter<P>>) -> bool {
        // SAFETY: W1: this queue is the only one that the waiter can be in.
        unsafe { self.list.remove(waiter) }
    }

    /// Claims the waiter that has waited longest and is still waiting, and hands over through
    /// `transfer`. Returns the duty to enqueue it, due after the lock is released (W3). Waiters
    /// with waits that have already ended are unlinked on the way.
    #[inline]
    pub(crate) fn claim_first(&mut self, transfer: impl FnOnce(&mut P)) -> Option<Wake> {
        self.claim_first_if(|_| true, transfer)
    }

    /// As [`claim_first`](Self::claim_first), but stops at the first waiter with a payload that is
    /// not `due`.
    #[inline]
    pub(crate) fn claim_first_if(
        &mut self,
        due: impl Fn(&P) -> bool,
        transfer: impl FnOnce(&mut P),
    ) -> Option<Wake> {
        while let Some(place) = self.list.front() {
            // SAFETY: W2: it is linked, so it is alive until the lock is released.
            let waiter = unsafe { place.as_ref() };
            // SAFETY: W3: the payload is written only under the lock, which is held.
            if !waiter.payload.with(|payload| due(unsafe { &*payload })) {
                return None;
            }
            self.list.pop_front();
            if mutant!("transfer_before_claim") {
                // SAFETY: none: this is the bug.
                waiter
                    .payload
                    .with_mut(|payload| transfer(unsafe { &mut *payload }));
                return waiter.ticket.claim(waiter.code);
            }
            if let Some(wake) = waiter.ticket.claim(waiter.code) {
                // SAFETY: W3: between the claim and the end of this critical section only the waker
                // accesses the payload.
                waiter
                    .payload
                    .with_mut(|payload| transfer(unsafe { &mut *payload }));
                return Some(wake);
            }
            if mutant!("next_waiter_is_due") {
                return self.claim_first(transfer);
            }
        }
        None
    }

    /// As [`claim_first`](Self::claim_first), but skips waiters with a payload that is not `ours`,
    /// which stay linked. Checks all waiters before the one that it claims.
    pub(crate) fn claim_first_where(
        &mut self,
        ours: impl Fn(&P) -> bool,
        transfer: impl FnOnce(&mut P),
    ) -> Option<Wake> {
        loop {
            let place = self.list.iter().find(|place| {
                // SAFETY: W2: it is linked, so it is alive until the lock is released.
                let waiter = unsafe { place.as_ref() };
                // SAFETY: W3: the payload is written only under the lock, which is held.
                waiter.payload.with(|payload| ours(unsafe { &*payload }))
            })?;
            // SAFETY: W2: just found in this list.
            unsafe { self.list.remove(place) };
            // SAFETY: W2: its owner cannot leave before it has had the lock.
            let waiter = unsafe { place.as_ref() };
            if let Some(wake) = waiter.ticket.claim(waiter.code) {
                // SAFETY: W3: between the claim and the end of this critical section only the waker
                // accesses the payload.
                waiter
                    .payload
                    .with_mut(|payload| transfer(unsafe { &mut *payload }));
                return Some(wake);
            }
        }
    }
}
