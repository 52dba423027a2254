//! Agents: who stands in queues for a future.
//!
//! A future runs only while it is polled, by anybody, on any thread, and belongs to none of them.
//! So it has an agent: a header of its own, borrowed from the slab as a plain thread's, which takes
//! tickets and parks like any party. No room can tell the difference. What differs is the enqueue step: the
//! agent's home, [`ByWaker`], calls the waker of the last poll.
//!
//! Owns: the agent's life, and the step from a claim to the waker. Does not own: what an agent
//! waits for (`awaiting`).
//!
//! | agent | word | out | next |
//! |---|---|---|---|
//! | idle | Active e | nothing | a poll publishes, and parks it |
//! | parked | Parked e | the ticket e, the reference of AG2 | a claim; the future withdraws |
//! | claimed | Active e+1 | until it is withdrawn, the waiter | a poll, or the drop, withdraws |
//!
//! # Invariants
//! * AG1. An agent has one future, which alone takes tickets, parks it, and ends it; it is
//!   pinned, and polled and dropped by one party at a time.
//! * AG2. While an agent is parked one more reference to its header is held, for whoever ends the wait. The
//!   one whose claim turns Parked into Active gives it back, after the last look at the header: that
//!   is `ByWaker::schedule`, or the future itself.
//! * AG3. The payload of the header holds a [`Slot`], from the agent's birth until the header
//!   is recycled. It is empty by then, and so needs no drop.
//!
//! LIVENESS: no wake is lost. A poll leaves its waker in the slot and then looks whether the agent has been
//! claimed; whoever claims takes the waker after that. Both go through the slot's lock. If the waker is
//! left first, it is found and called. If the taking comes first, the claim is older still, and the poll sees it.
//! A claim before the agent has parked calls nobody: parking finds it.

use std::panic::Location;
use std::ptr::NonNull;
use std::task::Waker;

use super::polling::call;
use crate::fiber::current;
use crate::fiber::entry::class_for;
use crate::fiber::state::{Accepts, Claim, Code, Parked};
use crate::fiber::{FiberPtr, Header, Schedule, Ticket};
use crate::shim::Lock;

/// Who waits in a future's place.
pub(super) struct Agent(FiberPtr);

// SAFETY: H1, AG1: the header goes with the future, whose owner alone acts on it.
unsafe impl Send for Agent {}

/// The waker of the last poll, while the agent waits.
struct Slot(Lock<Option<Waker>>);

/// The home of agents.
struct ByWaker;

impl Agent {
    pub(super) fn new() -> Agent {
        const { assert!(size_of::<Slot>() <= Header::payload_size(CLASS)) };
        const { assert!(align_of::<Slot>() <= align_of::<Header>()) };
        let local = current::local();
        let fiber = Header::alone(local, CLASS, Location::caller(), &ByWaker);
        let slot = Header::payload(fiber).cast::<Slot>();
        // SAFETY: AG3: just allocated, so the payload is free, and the slot fits.
        unsafe { slot.write(Slot(Lock::new(None))) };
        Agent(fiber)
    }

    /// The right to wake the future from the wait that it is about to begin.
    pub(super) fn ticket(&self) -> Ticket {
        Header::ticket(self.0)
    }

    /// Has `waker` be called when the agent is claimed.
    pub(super) fn call(&self, waker: &Waker) {
        let slot = slot(self.0);
        let known = slot.0.lock().take();
        // The wakers are the user's: cloned, compared and dropped with the lock free.
        let (next, rest) = match known {
            Some(known) if known.will_wake(waker) => (known, None),
            known => (waker.clone(), known),
        };
        *slot.0.lock() = Some(next);
        drop(rest);
    }

    /// Parks, or stays so; says what has ended the wait if something has.
    pub(super) fn park(&self, ticket: Ticket, parked: bool) -> Option<Code> {
        if !parked {
            // AG2: before others can claim it.
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

    /// Ends the wait that the agent is parked in; says what has, if somebody else did before.
    pub(super) fn recall(&self, ticket: Ticket) -> Option<Code> {
        match self.header().state.claim(ticket.epoch(), Code::RETRY) {
            Claim::Parked => {
                // AG2: the claim was the future's own.
                self.release();
                None
            }
            Claim::Active | Claim::Stale => self.park(ticket, true),
        }
    }

    fn header(&self) -> &Header {
        // SAFETY: H1.
        unsafe { self.0.as_ref() }
    }

    fn release(&self) {
        // SAFETY: AG2: the parked agent's reference, which is the caller's.
        unsafe { Header::release(self.0) };
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let waker = slot(self.0).0.lock().take();
        self.header().state.finish();
        // AG2: the reference from birth; who has claimed the agent may hold another one.
        self.release();
        drop(waker);
    }
}

impl Schedule for ByWaker {
    /// Calls the waker. Not in a room's critical section, and so as any code of the user's.
    fn schedule(&self, fiber: NonNull<Header>) {
        let waker = slot(fiber).0.lock().take();
        // SAFETY: AG2: this is the winner of the claim on Parked.
        unsafe { Header::release(fiber) };
        if let Some(waker) = waker {
            call(waker);
        }
    }
}

fn slot<'a>(fiber: FiberPtr) -> &'a Slot {
    // SAFETY: AG3: an agent's header, which the caller holds a reference to.
    unsafe { &*Header::payload(fiber).cast::<Slot>() }
}

/// The least, but under a model checker.
const CLASS: u8 = class_for::<Slot>();
