//! Future waiters: they wait in queues for a future.
//!
//! A future runs only while it is polled, on any thread, and belongs to none. So it has a future
//! waiter: a header of its own, borrowed from the slab like a plain thread's, which takes tickets
//! and parks like any party. Primitives cannot tell the difference. Only the enqueue step differs:
//! the waiter's home, [`ByWaker`], calls the waker of the last poll.
//!
//! Owns: the waiter's life, and the step from a claim to the waker. Does not own: the object that
//! a waiter waits for (`awaiting`).
//!
//! | waiter | word | published | next |
//! |---|---|---|---|
//! | idle | Active e | nothing | a poll publishes, and parks it |
//! | parked | Parked e | the ticket e, the reference of FW2 | a claim; the future withdraws |
//! | claimed | Active e+1 | until it is withdrawn, the case | a poll, or the drop, withdraws |
//!
//! # Invariants
//! * FW1. A waiter has one future, which alone takes tickets, parks it, and ends it. It is pinned,
//!   and polled and dropped by one party at a time.
//! * FW2. While a waiter is parked, one more reference to its header is held, for the party that
//!   ends the wait. The claim that turns Parked into Active releases it, after the last access to
//!   the header: in `ByWaker::schedule`, or in the future itself.
//! * FW3. The payload of the header holds a [`Slot`], from the waiter's birth until the header is
//!   recycled. It is empty by then, and so needs no drop.
//!
//! LIVENESS: no wake is lost. A poll stores its waker in the slot and then checks whether the
//! waiter has been claimed. A claiming party takes the waker after its claim. Both go through the
//! slot's lock. If the store is first, the waker is found and called. If the taking is first, the
//! claim is even earlier, and the poll sees it. A claim before the waiter has parked calls no
//! waker: parking finds it.

use std::panic::Location;
use std::task::Waker;

use super::polling::call;
use crate::fiber::current;
use crate::fiber::entry::class_for;
use crate::fiber::state::{Accepts, Claim, Code, Parked};
use crate::fiber::{FiberPtr, Header, Schedule, Ticket};
use crate::shim::Lock;

/// The party that waits in a future's place.
pub(super) struct FutureWaiter(FiberPtr);

// SAFETY: H1, FW1: the header moves with the future, and only its owner acts on it.
unsafe impl Send for FutureWaiter {}

/// The waker of the last poll, while the waiter waits.
struct Slot(Lock<Option<Waker>>);

/// The home of future waiters.
struct ByWaker;

impl FutureWaiter {
    pub(super) fn new() -> FutureWaiter {
        const { assert!(size_of::<Slot>() <= Header::payload_size(CLASS)) };
        const { assert!(align_of::<Slot>() <= align_of::<Header>()) };
        let local = current::local();
        let fiber = Header::alone(local, CLASS, Location::caller(), &ByWaker);
        let slot = Header::payload(fiber).cast::<Slot>();
        // SAFETY: FW3: just allocated, so the payload is free, and the slot fits.
        unsafe { slot.write(Slot(Lock::new(None))) };
        FutureWaiter(fiber)
    }

    /// Returns the right to wake the future from the wait that it is about to begin.
    pub(super) fn ticket(&self) -> Ticket {
        Header::ticket(self.0)
    }

    /// Registers `waker` to be called when the waiter is claimed.
    pub(super) fn call(&self, waker: &Waker) {
        let slot = slot(self.0);
        let known = slot.0.lock().take();
        // The wakers are user code: cloned, compared and dropped with the lock free.
        let (next, rest) = match known {
            Some(known) if known.will_wake(waker) => (known, None),
            known => (waker.clone(), known),
        };
        *slot.0.lock() = Some(next);
        drop(rest);
    }

    /// Parks, or stays parked; returns the code that has ended the wait, if any.
    pub(super) fn park(&self, ticket: Ticket, parked: bool) -> Option<Code> {
        if !parked {
            // FW2: before others can claim it.
            self.header().retain();
        }
        match self.header().state.park(ticket.epoch(), Accepts::NOTHING) {
            Parked::Yes => None,
            Parked::Claimed(code) => {
                if !parked {
                    self.release();
                }
                Some(code)
            }
        }
    }

    /// Ends the wait that the waiter is parked in; returns the code if another party has ended it
    /// before.
    pub(super) fn recall(&self, ticket: Ticket) -> Option<Code> {
        match self.header().state.claim(ticket.epoch(), Code::RETRY) {
            Claim::Parked => {
                // FW2: the claim was the future's own.
                self.release();
                None
            }
            Claim::Active | Claim::Stale => self.park(ticket, true),
        }
    }

    fn header(&self) -> &Header {
        self.0.header()
    }

    fn release(&self) {
        // SAFETY: FW2: the parked waiter's reference, which the caller owns.
        unsafe { Header::release(self.0) };
    }
}

impl Drop for FutureWaiter {
    fn drop(&mut self) {
        let waker = slot(self.0).0.lock().take();
        self.header().state.finish();
        // FW2: the reference from birth; a claiming party may hold another one.
        self.release();
        drop(waker);
    }
}

impl Schedule for ByWaker {
    /// Calls the waker. Outside of critical sections, like any user code.
    fn schedule(&self, fiber: FiberPtr) {
        let waker = slot(fiber).0.lock().take();
        // SAFETY: FW2: this is the winner of the claim on Parked.
        unsafe { Header::release(fiber) };
        if let Some(waker) = waker {
            call(waker);
        }
    }
}

fn slot<'a>(fiber: FiberPtr) -> &'a Slot {
    // SAFETY: FW3: a future waiter's header, which the caller holds a reference to.
    unsafe { &*Header::payload(fiber).cast::<Slot>() }
}

/// The smallest class, except under a model checker.
const CLASS: u8 = class_for::<Slot>();
