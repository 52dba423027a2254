//! Waiters and the queues they stand in.
//!
//! A waiter lives on the stack of the fiber (or thread) that waits, for as long as it
//! waits; a queue links waiters in order of arrival and lives inside the thing that is
//! waited for, under that thing's lock.
//!
//! Invariants:
//! * W1. A waiter is linked and unlinked only under the lock of its queue.
//! * W2. A linked waiter is pinned and alive: its owner takes the lock and unlinks it before
//!   it leaves the frame that holds it, unless a claim on Parked has unlinked it already.
//! * W3. A waker claims under the lock, in the same critical section hands over through the
//!   waiter's payload, and enqueues after the lock is free. A claim on Parked lets the owner
//!   run only after the enqueue; an owner that was claimed before it parked takes the lock
//!   once before it goes on. So the payload is never touched by two parties.

use std::mem::offset_of;
use std::ptr::NonNull;

use super::header::Header;
use super::state::Code;
use super::ticket::{Ticket, Wake};
use crate::base::list::{DoublyLinked, Links, List};
use crate::base::mutant::mutant;
use crate::shim::UnsafeCell;

/// One party in one queue, with what is handed over through it.
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
    /// A waiter for the wait that `ticket` names; who claims it does so with `code`.
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
        // The owner's own access, where loom can see it.
        self.payload.with_mut(|_| ());
        self.payload.into_inner()
    }
}

/// Waiters in order of arrival; guarded by the lock of whatever contains it (W1).
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

    /// How many are in the queue, but no more than 1,000, for reports.
    pub(crate) fn count(&self) -> usize {
        self.list.iter().take(1_000).count()
    }

    /// Whether anybody, but not the party with `ticket`, is in the queue with a payload that
    /// is `meant`. Some of them may not wait any more.
    pub(crate) fn has_other(
        &self,
        ticket: Option<Ticket>,
        meant: impl Fn(&P) -> bool,
    ) -> bool {
        self.list.iter().any(|place| {
            // SAFETY: W2: it is linked, so it is alive until the lock is free.
            let waiter = unsafe { place.as_ref() };
            // SAFETY: W3: nobody writes the payload but under the lock, which is held.
            let meant = waiter.payload.with(|payload| meant(unsafe { &*payload }));
            meant && ticket.is_none_or(|own| waiter.ticket.fiber() != own.fiber())
        })
    }

    /// Calls `f` with each party in the queue. Some of them may not wait any more.
    pub(crate) fn each_fiber(&self, mut f: impl FnMut(NonNull<Header>)) {
        for place in self.list.iter() {
            // SAFETY: W2: it is linked, so it is alive until the lock is free.
            f(unsafe { place.as_ref() }.ticket.fiber());
        }
    }

    /// Joins the queue at its end.
    ///
    /// # Safety
    /// The caller holds the queue's lock and keeps W2.
    #[inline]
    pub(crate) unsafe fn push(&mut self, waiter: NonNull<Waiter<P>>) {
        // SAFETY: W2, and the waiter is in no other queue.
        unsafe { self.list.push_back(waiter) };
    }

    /// Leaves the queue; false if a waker has unlinked the waiter already.
    ///
    /// # Safety
    /// The caller holds the queue's lock; `waiter` was pushed to this queue.
    #[inline]
    pub(crate) unsafe fn remove(&mut self, waiter: NonNull<Waiter<P>>) -> bool {
        // SAFETY: W1: this queue is the only one that the waiter can be in.
        unsafe { self.list.remove(waiter) }
    }

    /// Claims the waiter that has waited longest and is still waiting, hands over through
    /// `transfer`, and returns the duty to enqueue it, due after the lock is free (W3).
    /// Waiters whose wait has ended otherwise are unlinked on the way.
    #[inline]
    pub(crate) fn claim_first(&mut self, transfer: impl FnOnce(&mut P)) -> Option<Wake> {
        self.claim_first_if(|_| true, transfer)
    }

    /// As [`claim_first`](Self::claim_first), but goes no further than the first waiter whose
    /// payload is not `due`.
    #[inline]
    pub(crate) fn claim_first_if(
        &mut self,
        due: impl Fn(&P) -> bool,
        transfer: impl FnOnce(&mut P),
    ) -> Option<Wake> {
        while let Some(place) = self.list.front() {
            // SAFETY: W2: it is linked, so it is alive until the lock is free.
            let waiter = unsafe { place.as_ref() };
            // SAFETY: W3: nobody writes the payload but under the lock, which is held.
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
                // SAFETY: W3: between the claim and the end of this critical section the
                // payload is the waker's alone.
                waiter
                    .payload
                    .with_mut(|payload| transfer(unsafe { &mut *payload }));
                return Some(wake);
            }
            if mutant!("who_is_next_is_due") {
                return self.claim_first(transfer);
            }
        }
        None
    }

    /// As [`claim_first`](Self::claim_first), but passes over those whose payload is not
    /// `ours`, who stay where they are. Looks at all that stand in front of who is claimed.
    pub(crate) fn claim_first_where(
        &mut self,
        ours: impl Fn(&P) -> bool,
        transfer: impl FnOnce(&mut P),
    ) -> Option<Wake> {
        loop {
            let place = self.list.iter().find(|place| {
                // SAFETY: W2: it is linked, so it is alive until the lock is free.
                let waiter = unsafe { place.as_ref() };
                // SAFETY: W3: nobody writes the payload but under the lock, which is held.
                waiter.payload.with(|payload| ours(unsafe { &*payload }))
            })?;
            // SAFETY: W2: just found in this list.
            unsafe { self.list.remove(place) };
            // SAFETY: W2: its owner cannot leave before it has had the lock.
            let waiter = unsafe { place.as_ref() };
            if let Some(wake) = waiter.ticket.claim(waiter.code) {
                // SAFETY: W3: between the claim and the end of this critical section the
                // payload is the waker's alone.
                waiter
                    .payload
                    .with_mut(|payload| transfer(unsafe { &mut *payload }));
                return Some(wake);
            }
        }
    }
}
