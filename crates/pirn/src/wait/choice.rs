//! Waiting for whichever of several things comes first: the engine of `select`.
//!
//! Owns: the order in which cases are tried, and the wait on all of them at once. Does not
//! own: what a case is (channels, joins, timers implement [`Case`]), or the macro.
//!
//! One round, until a case is complete:
//!
//! 1. *Active pass*: no ticket is out. Every case is tried, in random order unless biased.
//! 2. *Passive pass*: a ticket is taken and each case published with it, in its own queue
//!    under its own lock. There a case only looks whether it would be ready: with a ticket
//!    out, this party may itself be claimed at any moment, so it completes nobody.
//! 3. If some case was ready, the party claims its own ticket with the code `RETRY`. If that
//!    wins, everything is withdrawn and the round begins again; if it loses, somebody has
//!    completed a case already.
//! 4. Otherwise it parks. The code of the claim names the case that won; its waker has handed
//!    over through that case's waiter. Code `RETRY` (a waker that completes nothing): again.
//! 5. All cases are withdrawn before anything of the user's runs.
//!
//! A choice that must not wait does 1; if that finds nothing it does 2 and 3 in any case, so
//! that it looks at all of its cases at one moment and not at one after the other ([`glance`]).
//!
//! Only a party without a ticket out completes another party's case, so one claim decides each
//! meeting, and no two locks are ever held together.
//!
//! LIVENESS: no meeting is missed. Of two parties whose cases fit, the one that takes the lock
//! later sees the waiter of the other, in its active pass (and completes it) or in its
//! passive pass (and starts over, with its own cases withdrawn; then it finds the other's
//! waiter, or the other has gone on to something else). Two parties may see each other
//! in their passive passes and both withdraw, over several channels in opposite order. Each
//! publishes in a random order, and after a few rounds gives way ([`ROUNDS`]), so that they do
//! not stay in step.

use std::time::Instant;

use super::interrupt::Interrupt;
use super::park::{
    End, How, Spec, call_in, interrupted, lend_ticket, park, spend, ticket, yield_now,
};
use super::reason::Reason;
use crate::base::mutant::mutant;
use crate::fiber::Ticket;
use crate::fiber::current;
use crate::fiber::state::Code;
use crate::fiber::ticket::Wake;
use crate::shim;

/// Something that a choice can be completed by.
#[expect(unnameable_types, reason = "cases are made here only")]
pub trait Case {
    /// Completes the case if that is possible without waiting; true if it is complete, also
    /// from before. No ticket of the caller's is out.
    fn attempt(&self) -> bool;

    /// When the case becomes possible by itself, if ever.
    fn due(&self) -> Option<Instant> {
        None
    }

    /// What else the wait has to allow for.
    fn needs(&self) -> Needs {
        Needs::Nothing
    }

    /// Remembers `call` for whoever makes the case possible. False if it is possible by now:
    /// nothing is remembered then.
    ///
    /// # Safety
    /// The case stays alive and where it is, and no other method is called, until it has been
    /// withdrawn.
    unsafe fn publish(&self, call: Call) -> bool;

    /// Forgets what was published.
    ///
    /// # Safety
    /// Once after a `publish` that returned true. `outcome` is true.
    unsafe fn withdraw(&self, call: Call, outcome: Outcome);
}

/// The right to be woken for one case.
#[expect(unnameable_types, reason = "cases are made here only")]
#[derive(Debug, Copy, Clone)]
pub struct Call {
    pub(crate) ticket: Ticket,
    pub(crate) code: Code,
}

/// What a case needs beyond a waker.
#[expect(unnameable_types, reason = "cases are made here only")]
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum Needs {
    /// Nothing.
    Nothing,
    /// The token of `unpark` ends the wait and completes the case.
    Token,
    /// The ticket is given to code of the user's.
    Loan,
}

/// How the wait has ended, for one case.
#[expect(unnameable_types, reason = "cases are made here only")]
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Not by this case.
    Lost,
    /// By this case. The waker may still be at work under the lock.
    Won,
    /// By this case, and the waker has finished.
    Handed,
}

/// Which case is preferred when several are possible.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum Order {
    Random,
    First,
}

/// What a choice came to.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum Choice {
    /// This case is complete.
    Case(usize),
    /// The time was up first.
    TimedOut,
}

/// Completes a case that is possible now, without waiting. `None` means that at one moment of
/// the call none was: a case that becomes possible before another one ceases to be is not
/// missed, whichever is looked at first. (But see [`Glance::Unsure`].)
pub(crate) fn choose_now(cases: &[&dyn Case], order: Order) -> Option<usize> {
    for _ in 0..ROUNDS {
        if let Some(index) = attempt_each(cases, order) {
            return Some(index);
        }
        if cases.len() < 2 {
            return None;
        }
        match glance(cases) {
            Glance::Case(index) => return Some(index),
            Glance::Nothing => return None,
            Glance::Unsure => {}
        }
    }
    None
}

/// Completes the first case that turns out to be possible, one after the other.
fn attempt_each(cases: &[&dyn Case], order: Order) -> Option<usize> {
    let mut sequence = Sequence::new(cases.len(), order);
    (0..cases.len())
        .map(|step| sequence.at(step))
        .find(|&index| cases[index].attempt())
}

/// Completes whichever case is possible first; waits for one until `limit`.
///
/// # Panics
/// If there are more cases than codes, or if code of the user's in a case panics; what was
/// published is withdrawn then.
pub(crate) fn choose(
    cases: &[&dyn Case],
    order: Order,
    limit: Option<Instant>,
) -> Result<Choice, Interrupt> {
    assert!(
        cases.len() <= usize::from(Code::CASES),
        "more than {} cases in one select",
        Code::CASES
    );
    spend();
    for round in 0_u32.. {
        if let Some(interrupt) = interrupted() {
            return Err(interrupt);
        }
        if limit.is_some_and(|limit| limit <= shim::now()) {
            return Ok(choose_now(cases, order).map_or(Choice::TimedOut, Choice::Case));
        }
        if let Some(index) = attempt_each(cases, order) {
            return Ok(Choice::Case(index));
        }
        if round >= ROUNDS {
            yield_now();
        }
        match wait_once(cases, limit) {
            How::Woken(code) => {
                if let Some(index) = code.index() {
                    return Ok(Choice::Case(index));
                }
            }
            How::Token => {
                let token = |case: &&dyn Case| case.needs() == Needs::Token;
                let index = cases.iter().position(token);
                return Ok(Choice::Case(index.expect("a case for the token")));
            }
            // Whose time it was shows in the next round.
            How::TimedOut => {}
            How::Cancelled => return Err(Interrupt::Cancelled),
        }
    }
    unreachable!("2^32 rounds take centuries")
}

/// Publishes all cases, parks, and withdraws them.
fn wait_once(cases: &[&dyn Case], limit: Option<Instant>) -> How {
    let mut published = Published::new(cases);
    if !published.publish_all() && !mutant!("select_parks_over_ready_case") {
        published.revoke();
    }
    let due = cases.iter().filter_map(|case| case.due());
    let spec = Spec {
        token: needed(cases, Needs::Token),
        ..Spec::interruptible(Reason::Select).until(due.chain(limit).min())
    };
    published.park(&spec)
}

/// What a look at all cases at once has shown.
enum Glance {
    /// This case has been completed, by another party.
    Case(usize),
    /// When the last case had been looked at, none was possible.
    Nothing,
    /// Some case looked possible, or its time has come. Two parties may see each other in this
    /// way again and again, so that is no reason to go on for ever.
    Unsure,
}

/// Publishes all cases and withdraws them, without waiting. If none was found possible, and
/// nobody has claimed the ticket before its owner did, none has become possible up to then.
fn glance(cases: &[&dyn Case]) -> Glance {
    if cases.len() > usize::from(Code::CASES) {
        return Glance::Nothing;
    }
    let mut published = Published::new(cases);
    let complete = published.publish_all();
    let unclaimed = published.revoke();
    // The ticket has been claimed, so this spends it and returns at once.
    let how = published.park(&Spec::of(Reason::Select));
    if let How::Woken(code) = how
        && let Some(index) = code.index()
    {
        return Glance::Case(index);
    }
    let is_due = |case: &&dyn Case| case.due().is_some_and(|due| due <= shim::now());
    if complete && unclaimed && !cases.iter().any(is_due) {
        Glance::Nothing
    } else {
        Glance::Unsure
    }
}

fn needed(cases: &[&dyn Case], needs: Needs) -> bool {
    cases.iter().any(|case| case.needs() == needs)
}

/// Cases that are out with a ticket; dropping it withdraws them, also when code of the
/// user's unwinds.
struct Published<'a> {
    cases: &'a [&'a dyn Case],
    sequence: Sequence,
    /// How many steps of the sequence are out.
    count: usize,
    ticket: Ticket,
    /// The ticket is with code of the user's.
    loan: bool,
    won: Option<(usize, Outcome)>,
}

impl<'a> Published<'a> {
    /// Nothing of `cases` is out yet.
    fn new(cases: &'a [&'a dyn Case]) -> Self {
        let loan = needed(cases, Needs::Loan);
        Published {
            cases,
            sequence: Sequence::new(cases.len(), Order::Random),
            count: 0,
            ticket: if loan { lend_ticket() } else { ticket() },
            loan,
            won: None,
        }
    }

    /// Publishes until a case is found to be possible; false if one was.
    fn publish_all(&mut self) -> bool {
        while self.count < self.cases.len() {
            let index = self.sequence.at(self.count);
            let call = self.call(index);
            // SAFETY: the cases are borrowed until `self` is dropped, which withdraws them.
            if !unsafe { self.cases[index].publish(call) } {
                return false;
            }
            self.count += 1;
        }
        true
    }

    /// Ends the wait before it has begun; false if somebody else has ended it.
    fn revoke(&self) -> bool {
        // A claim of one's own wait: the owner runs, so there is nothing to enqueue.
        self.ticket.claim(Code::RETRY).map(Wake::enqueue).is_some()
    }

    /// Waits, and withdraws all cases.
    fn park(mut self, spec: &Spec) -> How {
        let End { how, early } = park(self.ticket, spec);
        if let How::Woken(code) = how {
            let outcome = if early { Outcome::Won } else { Outcome::Handed };
            self.won = code.index().map(|index| (index, outcome));
        }
        how
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
            // First, since `unpublish` of the user's may unwind.
            call_in(self.ticket);
        }
        // UNWIND: if one unwinds, the others are withdrawn on the way out.
        Withdrawal(self).run();
    }
}

/// What is still to be withdrawn.
struct Withdrawal<'a, 'b>(&'a mut Published<'b>);

impl Withdrawal<'_, '_> {
    fn run(&mut self) {
        let Published { cases, won, .. } = *self.0;
        while self.0.count > 0 {
            self.0.count -= 1;
            let index = self.0.sequence.get(self.0.count);
            let outcome = match won {
                Some((winner, outcome)) if winner == index => outcome,
                _ => Outcome::Lost,
            };
            // SAFETY: published, and not withdrawn yet.
            unsafe { cases[index].withdraw(self.0.call(index), outcome) };
        }
    }
}

impl Drop for Withdrawal<'_, '_> {
    fn drop(&mut self) {
        self.run();
    }
}

/// The order in which cases are visited: as they come, or shuffled as it is asked for.
struct Sequence {
    order: Order,
    few: [u16; FEW],
    many: Vec<u16>,
    len: usize,
}

impl Sequence {
    fn new(len: usize, order: Order) -> Self {
        let mut sequence = Sequence {
            order,
            few: [0; FEW],
            many: Vec::new(),
            len,
        };
        if order == Order::Random {
            if len > FEW {
                sequence.many = (0..len as u16).collect();
            } else {
                (0..len).for_each(|i| sequence.few[i] = i as u16);
            }
        }
        sequence
    }

    /// The case of this step; every step is asked for once, in order.
    #[inline]
    fn at(&mut self, step: usize) -> usize {
        if self.order == Order::First {
            return step;
        }
        let other = step + current::local().below(self.len - step);
        let places = self.places();
        places.swap(step, other);
        usize::from(places[step])
    }

    /// The case of a step that was asked for before.
    fn get(&mut self, step: usize) -> usize {
        match self.order {
            Order::First => step,
            Order::Random => usize::from(self.places()[step]),
        }
    }

    fn places(&mut self) -> &mut [u16] {
        if self.len > FEW {
            &mut self.many
        } else {
            &mut self.few
        }
    }
}

/// A choice between so many cases needs no memory of its own.
const FEW: usize = 16;

/// After so many rounds a choice gives way before the next one. Arbitrary: two parties in step
/// part with every random order, so more than a few rounds in a row are rare.
const ROUNDS: u32 = 4;
