//! A case of a choice as a future: tried, published and withdrawn from poll to poll.
//!
//! Owns: the rounds of one case that an [`Agent`] waits for. Does not own: the agent, the case, or the
//! future that users see (`channel`, `join`).
//!
//! A poll withdraws the case if the agent has been claimed, and then goes in rounds: it tries the
//! case with no ticket out; if that is not possible it publishes it and parks the agent. It never waits.
//! Dropping it recalls the agent and withdraws the case, so that nobody refers to it any more. What
//! the case has won by then is the case's to keep, as in any select.
//!
//! # Invariants
//! * AW1. From the first poll until it is dropped it is pinned (the caller of `poll` sees to that). While
//!   `out` holds a ticket the case is published with it; nothing else of it is touched then but what a case
//!   allows, and all through shared references.

use std::cell::{Cell, OnceCell};
use std::marker::PhantomPinned;
use std::task::{Context, Poll, Waker};

use super::agent::Agent;
use super::choice::{Call, Case, Outcome};
use super::polling::is_spent;
use crate::base::mutant::mutant;
use crate::fiber::Ticket;
use crate::fiber::state::Code;

/// A case, and who waits for it.
pub(crate) struct Awaiting<C: Case> {
    case: C,
    /// From the first time on that the case was not possible at once.
    agent: OnceCell<Agent>,
    /// The ticket that the case is out with (AW1).
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

    /// Goes on. Ready: the case is complete. Pending: the waker will be called when it may be.
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
            // SAFETY: AW1: the caller's promise.
            if unsafe { self.publish(waker) } {
                return Poll::Pending;
            }
        }
        waker.wake_by_ref();
        Poll::Pending
    }

    /// Withdraws the case if it is out.
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
        // Whoever has claimed it may still be at work, so it is not called handed.
        let outcome = match code.and_then(Code::index) {
            Some(_) => Outcome::Won,
            None => Outcome::Lost,
        };
        // SAFETY: AW1: it was out.
        unsafe { self.case.withdraw(call(ticket), outcome) };
    }

    fn agent(&self) -> &Agent {
        self.agent.get_or_init(Agent::new)
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

/// Rounds in one poll. Arbitrary: two parties that look at the same moment part within a few.
const ROUNDS: u32 = 4;
