//! A case of a choice as a future: tried, published and withdrawn from poll to poll.
//!
//! Owns: the rounds of one case that an [`FutureWaiter`] waits for. Does not own: the agent, the case, or
//! the public future (`channel`, `join`).
//!
//! A poll withdraws the case if the agent has been claimed, and then works in rounds. It tries the
//! case with no ticket published. If that is not possible, it publishes the case and parks the
//! agent. It never waits. Dropping the future recalls the agent and withdraws the case, so that no
//! other party refers to it any more. A result that the case has won by then stays in the case, as
//! in any select.
//!
//! # Invariants
//! * AW1. From the first poll until it is dropped it is pinned (by contract of `poll`). While `out`
//!   holds a ticket, the case is published with it. Meanwhile only the methods that a published
//!   case allows are called, through shared references.

use std::cell::{Cell, OnceCell};
use std::marker::PhantomPinned;
use std::task::{Context, Poll, Waker};

use super::choice::{Call, Case, Outcome};
use super::future_waiter::FutureWaiter;
use super::polling::is_spent;
use crate::base::mutant::mutant;
use crate::fiber::Ticket;
use crate::fiber::state::Code;

/// A case, and the agent that waits for it.
pub(crate) struct Awaiting<C: Case> {
    case: C,
    /// Set at the first time that the case was not possible at once.
    agent: OnceCell<FutureWaiter>,
    /// The ticket that the case is published with (AW1).
    out: Cell<Option<Ticket>>,
    _pinned: PhantomPinned,
}

impl<C: Case> Awaiting<C> {
    pub(crate) fn new(case: C) -> Self {
        Awaiting {
            case,
            agent: OnceCell::new(),
            out: Cell::new(None),
            _pinned: PhantomPinned,
        }
    }

    pub(crate) fn case(&self) -> &C {
        &self.case
    }

    /// Polls the case. Ready: it is complete. Pending: the waker will be called when it may be.
    ///
    /// # Safety
    /// AW1: pinned from now on.
    pub(crate) unsafe fn poll(&self, context: &mut Context<'_>) -> Poll<()> {
        let waker = context.waker();
        if let Some(ticket) = self.out.get() {
            let agent = self.agent();
            if !mutant!("agent_keeps_first_waker") {
                agent.call(waker);
            }
            match agent.park(ticket, true) {
                None => return Poll::Pending,
                code => self.withdraw(ticket, code),
            }
        }
        if is_spent() {
            waker.wake_by_ref();
            return Poll::Pending;
        }
        for _ in 0..ROUNDS {
            if self.case.attempt() {
                return Poll::Ready(());
            }
            // SAFETY: AW1: by contract.
            if unsafe { self.publish(waker) } {
                return Poll::Pending;
            }
        }
        waker.wake_by_ref();
        Poll::Pending
    }

    /// Withdraws the case if it is published.
    pub(crate) fn retract(&self) {
        if let Some(ticket) = self.out.get() {
            let code = self.agent().recall(ticket);
            self.withdraw(ticket, code);
        }
    }

    /// Publishes the case and parks the agent; false if the case may be possible now.
    ///
    /// # Safety
    /// Like [`poll`](Self::poll).
    unsafe fn publish(&self, waker: &Waker) -> bool {
        let agent = self.agent();
        agent.call(waker);
        let ticket = agent.ticket();
        // SAFETY: AW1: pinned; withdrawn at the latest when it is dropped.
        if !unsafe { self.case.publish(call(ticket)) } {
            return false;
        }
        self.out.set(Some(ticket));
        match agent.park(ticket, false) {
            None => true,
            code => {
                self.withdraw(ticket, code);
                false
            }
        }
    }

    fn withdraw(&self, ticket: Ticket, code: Option<Code>) {
        self.out.set(None);
        // The claiming party may still be at work, so the outcome is not `Handed`.
        let outcome = match code.and_then(Code::index) {
            Some(_) => Outcome::Won,
            None => Outcome::Lost,
        };
        // SAFETY: AW1: it was published.
        unsafe { self.case.withdraw(call(ticket), outcome) };
    }

    fn agent(&self) -> &FutureWaiter {
        self.agent.get_or_init(FutureWaiter::new)
    }
}

impl<C: Case> Drop for Awaiting<C> {
    fn drop(&mut self) {
        self.retract();
    }
}

fn call(ticket: Ticket) -> Call {
    Call {
        ticket,
        code: Code::case(0),
    }
}

/// The number of rounds in one poll. Arbitrary: two parties that check at the same moment diverge
/// within a few.
const ROUNDS: u32 = 4;
