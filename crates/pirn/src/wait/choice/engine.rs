//! The rounds of a choice: active pass, passive pass, wait.

use std::time::Instant;

use super::case::{Case, Needs};
use super::published::{Published, needed};
use super::sequence::{Order, Sequence};
use crate::base::choice::{Operation, Pick};
use crate::base::mutant::mutant;
use crate::fiber::current;
use crate::fiber::state::Code;
use crate::wait::clock::{now, picker, random_case};
use crate::wait::deadline::{begin, interrupted};
use crate::wait::interrupt::Interrupt;
use crate::wait::park::has_token;
use crate::wait::polling::{forbids_waiting, refuse};
use crate::wait::reason::Reason;
use crate::wait::spec::{How, Spec};
use crate::wait::yielding::yield_now;

/// The result of a choice.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum Choice {
    /// This case is complete.
    Case(usize),
    /// The limit expired first.
    TimedOut,
}

/// Completes a case that is possible now, without waiting. `None` means that there was a moment
/// during the call at which none was. So a case that becomes possible before another one ceases to
/// be is not missed, in whichever order they are checked. (But see [`Glance::Unsure`].)
#[inline]
pub(crate) fn choose_now(cases: &[&dyn Case], order: Order) -> Option<usize> {
    let chosen = match attempt_each(cases, order) {
        None if cases.len() > 1 && !mutant!("select_looks_one_by_one") => {
            choose_at_once(cases, order)
        }
        chosen => chosen,
    };
    match chosen {
        None if needed(cases, Needs::Events) => attempt_anew(cases, order),
        chosen => chosen,
    }
}

/// Asks the system for the cases that rely on its events, in the order of a pass.
#[cold]
fn attempt_anew(cases: &[&dyn Case], order: Order) -> Option<usize> {
    let mut sequence = Sequence::new(cases.len(), order, 0);
    (0..cases.len())
        .map(|step| sequence.at(step))
        .find(|&i| cases[i].needs() == Needs::Events && cases[i].attempt_anew())
}

/// Continues after checking the cases one by one has found nothing.
#[inline(never)]
fn choose_at_once(cases: &[&dyn Case], order: Order) -> Option<usize> {
    for _ in 0..ROUNDS {
        match glance(cases) {
            Glance::Case(index) => return Some(index),
            Glance::Nothing => return None,
            Glance::Unsure => {}
        }
        if let Some(index) = attempt_each(cases, order) {
            return Some(index);
        }
    }
    None
}

/// Tries the cases one by one, and completes the first that is possible.
#[inline]
fn attempt_each(cases: &[&dyn Case], order: Order) -> Option<usize> {
    // PERF: most often the first case is possible, so nothing is shuffled yet.
    let first = match order {
        Order::Random if cases.len() > 1 => random_case(cases.len()),
        _ => 0,
    };
    let Some(case) = cases.get(first) else {
        // In the run of a strategy `first` is the number of cases.
        return attempt_picked(cases);
    };
    if case.attempt() {
        return Some(first);
    }
    attempt_others(cases, order, first)
}

/// Tries the cases one by one where a strategy picks one of those that are ready.
#[cold]
fn attempt_picked(cases: &[&dyn Case]) -> Option<usize> {
    // Only among those that are ready: else a search would try what makes no difference.
    let mut ready = Vec::new();
    for (index, case) in cases.iter().enumerate() {
        // User code is not called more often than usual: its cases may be ready.
        let is_asked = case.needs() != Needs::Loan;
        match is_asked.then(|| look(&cases[index..=index])) {
            Some(Glance::Case(_)) => return Some(index),
            Some(Glance::Nothing) => {}
            Some(Glance::Unsure) | None => ready.push(index),
        }
    }
    if ready.len() > 1 {
        let count = ready.len();
        let picked = picker().map_or(0, |local| local.pick(Pick::Case, count));
        ready.swap(0, picked);
    }
    ready.into_iter().find(|&index| cases[index].attempt())
}

/// Glances at a case. Meanwhile no case of another fiber learns of a waiting party: the caller does
/// not wait yet.
fn look(case: &[&dyn Case]) -> Glance {
    let _ends = Look;
    current::local().set_looks(true);
    glance(case)
}

/// Ends a look, also if a case panics.
struct Look;

impl Drop for Look {
    fn drop(&mut self) {
        current::local().set_looks(false);
    }
}

/// Tries the cases other than `first`.
fn attempt_others(cases: &[&dyn Case], order: Order, first: usize) -> Option<usize> {
    let mut sequence = Sequence::new(cases.len(), order, first);
    (1..cases.len())
        .map(|step| sequence.at(step))
        .find(|&index| cases[index].attempt())
}

/// Completes the case that is possible first; waits for one until `deadline`.
///
/// There are no more than [`MOST`] cases.
///
/// # Panics
/// If user code in a case panics; published cases are withdrawn then.
#[inline]
#[track_caller]
pub(crate) fn choose(
    cases: &[&dyn Case],
    order: Order,
    limit: Option<Instant>,
) -> Result<Choice, Interrupt> {
    begin(Operation::Select, 0)?;
    match attempt_each(cases, order) {
        Some(index) => Ok(Choice::Case(index)),
        None => choose_waiting(cases, order, limit),
    }
}

/// Continues after the first active pass has found nothing.
#[inline(never)]
#[track_caller]
fn choose_waiting(
    cases: &[&dyn Case],
    order: Order,
    limit: Option<Instant>,
) -> Result<Choice, Interrupt> {
    debug_assert!(cases.len() <= MOST, "more cases than codes");
    for round in 1_u32.. {
        let is_over = limit.is_some_and(|limit| limit <= now());
        if is_over || forbids_waiting(current::local()) {
            match choose_now(cases, order) {
                Some(index) => return Ok(Choice::Case(index)),
                None if is_over => return Ok(Choice::TimedOut),
                None => refuse(),
            }
        }
        if round > ROUNDS {
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
            // The next pass shows which time has come.
            How::TimedOut => {}
            How::Interrupted(interrupt) => return Err(interrupt),
        }
        if let Some(interrupt) = interrupted() {
            return Err(interrupt);
        }
        if let Some(index) = attempt_each(cases, order) {
            return Ok(Choice::Case(index));
        }
    }
    unreachable!("2^32 rounds take centuries")
}

/// Publishes all cases, parks, and withdraws them.
#[track_caller]
fn wait_once(cases: &[&dyn Case], limit: Option<Instant>) -> How {
    let mut published = Published::new(cases);
    if !published.publish_all() && !mutant!("select_parks_over_ready_case") {
        published.revoke();
    }
    let due = cases.iter().filter_map(|case| case.due());
    let spec = Spec::interruptible(Reason::Select).until(due.chain(limit).min());
    match needed(cases, Needs::Token) {
        true => published.park(&spec.or_token()),
        false => published.park(&spec),
    }
}

/// The result of checking all cases at once.
enum Glance {
    /// Another party has completed this case.
    Case(usize),
    /// When the last case had been checked, none was possible.
    Nothing,
    /// Some case appeared possible, or its time has come. Two parties may see each other in this
    /// way repeatedly, so this is no reason to retry indefinitely.
    Unsure,
}

/// Publishes all cases and withdraws them, without waiting. If none was found possible, and the
/// owner's claim of the ticket came first, none has become possible up to then.
fn glance(cases: &[&dyn Case]) -> Glance {
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
    let is_due = |case: &&dyn Case| case.due().is_some_and(|due| due <= now());
    let unclaimed = unclaimed && !(needed(cases, Needs::Token) && has_token());
    if complete && unclaimed && !cases.iter().any(is_due) {
        Glance::Nothing
    } else {
        Glance::Unsure
    }
}

/// The most cases of one choice: each has a code.
pub(crate) const MOST: usize = Code::CASES as usize;

/// After this many rounds a choice yields before the next one. Arbitrary: two parties in step
/// diverge with every random order, so more than a few rounds in a row are rare.
const ROUNDS: u32 = 4;
