//! Cases that are published with a ticket, and their withdrawal.

use std::pin::Pin;

use super::case::{Call, Case, Needs, Outcome};
use super::sequence::{Order, Sequence};
use crate::base::mutant::mutant;
use crate::fiber::Ticket;
use crate::fiber::current;
use crate::fiber::state::Code;
use crate::fiber::ticket::Wake;
use crate::wait::object::{Describe, ObjectKind};
use crate::wait::park::{call_in, lend_ticket, park_on, ticket};
use crate::wait::spec::{End, How, Spec};
use crate::wait::wait_info::Subject;
use crate::wait::waiter_slot::Handed;

/// Cases that are published with a ticket; dropping this withdraws them, also when user code
/// unwinds.
pub(super) struct Published<'a> {
    cases: &'a [&'a dyn Case],
    sequence: Sequence,
    /// The number of steps of the sequence that are published.
    count: usize,
    ticket: Ticket,
    /// Whether user code has the ticket.
    loan: bool,
    won: Option<(usize, Outcome)>,
}

impl<'a> Published<'a> {
    /// Takes a ticket; no case is published yet.
    pub(super) fn new(cases: &'a [&'a dyn Case]) -> Self {
        let loan = needed(cases, Needs::Loan);
        Published {
            cases,
            sequence: Sequence::new(cases.len(), Order::Random, 0),
            count: 0,
            ticket: if loan { lend_ticket() } else { ticket() },
            loan,
            won: None,
        }
    }

    /// Publishes until a case is found to be possible; false if one was.
    pub(super) fn publish_all(&mut self) -> bool {
        while self.count < self.cases.len() {
            let index = self.sequence.at(self.count);
            let call = self.call(index);
            if !self.case(index).publish(call) {
                return false;
            }
            self.count += 1;
        }
        true
    }

    /// Ends the wait before it has begun; false if another party has ended it.
    pub(super) fn revoke(&self) -> bool {
        // A claim of one's own wait: the owner runs, so there is nothing to enqueue.
        self.ticket.claim(Code::RETRY).map(Wake::enqueue).is_some()
    }

    /// Waits, and withdraws all cases.
    #[track_caller]
    pub(super) fn park(mut self, spec: &Spec) -> How {
        let all = Cases(self.cases);
        let subject = Some(Subject::plain(&all));
        let End { how, early } = park_on(current::local(), self.ticket, spec, subject);
        if let How::Woken(code) = how {
            let early = early && !mutant!("select_early_claim_skips_lock");
            let outcome = match early {
                true => Outcome::Won,
                // SAFETY: W3: passed to the case with the index of the claim.
                false => Outcome::Handed(unsafe { Handed::new() }),
            };
            self.won = code.index().map(|index| (index, outcome));
        }
        how
    }

    fn case(&self, index: usize) -> Pin<&(dyn Case + 'a)> {
        // SAFETY: borrowed until `self` is dropped, which withdraws the case. Afterwards it may be
        // moved: what a case concludes from being pinned ends there (`Case::publish`). `Case` is
        // sealed: only this crate implements it.
        unsafe { Pin::new_unchecked(self.cases[index]) }
    }

    fn call(&self, index: usize) -> Call {
        Call {
            ticket: self.ticket,
            code: Code::case(index as u16),
        }
    }
}

impl Drop for Published<'_> {
    fn drop(&mut self) {
        if self.loan {
            // First, since a user's `unregister` may unwind.
            call_in(self.ticket);
        }
        // UNWIND: if one unwinds, the others are withdrawn on the way out.
        Withdrawal(self).run();
    }
}

/// The cases that are still to be withdrawn.
struct Withdrawal<'a, 'b>(&'a mut Published<'b>);

impl Withdrawal<'_, '_> {
    fn run(&mut self) {
        let won = self.0.won;
        while self.0.count > 0 {
            self.0.count -= 1;
            let index = self.0.sequence.get(self.0.count);
            let outcome = match won {
                Some((winner, outcome)) if winner == index => outcome,
                _ => Outcome::Lost,
            };
            self.0.case(index).withdraw(self.0.call(index), outcome);
        }
    }
}

impl Drop for Withdrawal<'_, '_> {
    fn drop(&mut self) {
        self.run();
    }
}

/// The object that a choice waits for.
struct Cases<'a>(&'a [&'a dyn Case]);

impl Describe for Cases<'_> {
    fn describe(&self) -> ObjectKind {
        let describe = |subject: Subject<'_>| {
            // SAFETY: the cases are published, so they and their objects stay (NO2).
            unsafe { subject.describe() }
        };
        let of = self.0.iter().filter_map(|case| case.subject());
        ObjectKind::Select {
            cases: self.0.len(),
            of: of.map(describe).collect(),
        }
    }
}

/// Returns true if some case has this requirement.
pub(super) fn needed(cases: &[&dyn Case], needs: Needs) -> bool {
    cases.iter().any(|case| case.needs() == needs)
}
