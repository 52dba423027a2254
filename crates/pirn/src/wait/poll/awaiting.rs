//! A case of a choice as a future: tried, published and withdrawn from poll to poll.
//!
//! Owns: the rounds of one case that a [`FutureWaiter`] waits for. Does not own: the waiter, the
//! case, or the public future (`channel`, `join`).
//!
//! A poll withdraws the case if the waiter has been claimed, and then works in rounds. It tries the
//! case with no ticket published. If that is not possible, it publishes the case and parks the
//! waiter. It never waits. Dropping the future recalls the waiter and withdraws the case, so that
//! no other party refers to it any more. A result that the case has won by then stays in the case,
//! as in any select.
//!
//! # Invariants
//! * AW1. From the first poll until it is dropped it is pinned (`poll` takes a pin). While `out`
//!   holds a ticket, the case is published with it. Meanwhile only the methods that a published
//!   case allows are called, through shared references.

use std::cell::{Cell, OnceCell};
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use pin_project_lite::pin_project;

use super::future_waiter::FutureWaiter;
use super::polling::is_spent;
use crate::base::mutant::mutant;
use crate::fiber::Ticket;
use crate::fiber::state::Code;
use crate::wait::choice::{Call, Case, Outcome};

pin_project! {
    /// A case, and the waiter that waits for it.
    pub(crate) struct Awaiting<C: Case> {
        #[pin]
        case: C,
        // Set at the first time that the case was not possible at once.
        waiter: OnceCell<FutureWaiter>,
        // The ticket that the case is published with (AW1).
        out: Cell<Option<Ticket>>,
        #[pin]
        _pinned: PhantomPinned,
    }

    impl<C: Case> PinnedDrop for Awaiting<C> {
        fn drop(this: Pin<&mut Self>) {
            this.as_ref().retract();
        }
    }
}

impl<C: Case> Awaiting<C> {
    pub(crate) fn new(case: C) -> Self {
        Awaiting {
            case,
            waiter: OnceCell::new(),
            out: Cell::new(None),
            _pinned: PhantomPinned,
        }
    }

    pub(crate) fn case(&self) -> &C {
        &self.case
    }

    /// Polls the case. Ready: it is complete. Pending: the waker will be called when it may be.
    pub(crate) fn poll(self: Pin<&Self>, context: &mut Context<'_>) -> Poll<()> {
        let waker = context.waker();
        if let Some(ticket) = self.out.get() {
            let waiter = self.waiter();
            if !mutant!("future_waiter_keeps_first_waker") {
                waiter.call(waker);
            }
            match waiter.park(ticket, true) {
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
            if self.publish(waker) {
                return Poll::Pending;
            }
        }
        waker.wake_by_ref();
        Poll::Pending
    }

    /// Withdraws the case if it is published.
    pub(crate) fn retract(self: Pin<&Self>) {
        if let Some(ticket) = self.out.get() {
            let code = self.waiter().recall(ticket);
            self.withdraw(ticket, code);
        }
    }

    /// Publishes the case and parks the waiter; false if the case may be possible now.
    fn publish(self: Pin<&Self>, waker: &Waker) -> bool {
        let waiter = self.waiter();
        waiter.call(waker);
        let ticket = waiter.ticket();
        // AW1: withdrawn at the latest when it is dropped.
        if !self.project_ref().case.publish(call(ticket)) {
            return false;
        }
        self.out.set(Some(ticket));
        match waiter.park(ticket, false) {
            None => true,
            code => {
                self.withdraw(ticket, code);
                false
            }
        }
    }

    fn withdraw(self: Pin<&Self>, ticket: Ticket, code: Option<Code>) {
        self.out.set(None);
        // The claiming party may still be at work, so the outcome is not `Handed`.
        let outcome = match code.and_then(Code::index) {
            Some(_) => Outcome::Won,
            None => Outcome::Lost,
        };
        self.project_ref().case.withdraw(call(ticket), outcome);
    }

    fn waiter(&self) -> &FutureWaiter {
        self.waiter.get_or_init(FutureWaiter::new)
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
