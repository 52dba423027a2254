//! All schedules with a bounded number of preemptions, one after the other.
//!
//! Without a bound, a schedule that differs from an earlier one only in the order of independent
//! steps is left out, by sleep sets (Godefroid: Partial-Order Methods for the Verification of
//! Concurrent Systems, LNCS 1032, 1996). A *turn* is what a fiber does from one choice to the next
//! one. When all schedules that begin with the turn of a fiber have run, the fiber is asleep for
//! the other options of that choice: it is no option until a turn runs that depends on its own.
//! The fiber is at the same step until then, and its turn would do the same.
//!
//! SOUND: two turns change places if none of them is *open* and their steps do not conflict
//! (`conflict`). A turn is open if
//! * its step has no known object, or is not one of [`is_closed`]: the object of a turn is all
//!   that it changes then. What fibers share besides objects of the library is used right after a
//!   `point`, which has no object, by the rules of this crate;
//! * after it another fiber is ready that was not before: it was woken or spawned, or a timer
//!   ended;
//! * after it the fiber has ended, waits, or has asked for others to run;
//! * the choice before one of its operations was put off.
//!
//! The end of a lock has no choice: a turn may release a lock besides its step. Another fiber's
//! turn notices that only if it is about the lock. If the lock is held, that turn waits, and so
//! is open; an attempt that does not wait (`TryLock`) and a look at an object are open always. If
//! the lock is not held, nothing is released. If a fiber waits for it already, the release wakes
//! that one, and is open.
//!
//! A select with several ready cases is a choice within a turn. That turn is always open: it begins
//! with the step of the select, which is not closed, or after a wait.
//!
//! With a bound this is not sound: a schedule within the bound may be left out for one that has
//! more preemptions (Coons, Musuvathi, McKinley: Bounded Partial-Order Reduction, OOPSLA 2013). So
//! sleep sets are used without a bound only, and choices take no time then: a turn that reads the
//! clock does not depend on its place among the others.

use std::sync::{Arc, Mutex, PoisonError};

use pirn::dev::sim::{self as dev, Choose, Operation, Pick, Step};

use super::conflict::conflicts;
use super::kind::canonical;
use crate::trace::{Names, Of, usual};

/// The enumeration: a search in depth, of which each run takes one path.
///
/// A run follows the path of the last one to the deepest choice with an option that is left, takes
/// that, and then the first option of each choice. The first option is the canonical fiber, unless
/// it is asleep. Another one than the canonical fiber counts as a preemption if that could
/// continue. So does another case of a select: a loop of selects with a case that stays ready, such
/// as a closed channel, would have endlessly many schedules.
#[derive(Debug, Clone)]
pub(crate) struct Exhaustive(Arc<Mutex<Search>>);

#[derive(Debug)]
struct Search {
    preemptions: u32,
    /// The choices of the present path.
    path: Vec<Choice>,
    /// Choices of the present run so far.
    depth: usize,
    /// Where in the path the turn that ran last was chosen.
    turn: Option<usize>,
    /// The selects of the present run.
    names: Names,
    /// The step of the turn that ran last.
    step: Option<Step>,
    /// In the present run all options of a choice were asleep: the rest repeats earlier runs.
    repeats: bool,
    /// A run did not repeat the path so far: something besides the choices decides, and schedules
    /// may be left out.
    strays: bool,
    /// A choice was put off, or something besides the choices happened: there are schedules without
    /// a path.
    misses: bool,
}

#[derive(Debug)]
struct Choice {
    /// Which option is taken; 0 is the canonical fiber, if it is an option.
    taken: usize,
    /// Numbers of fibers, or indexes of the ready cases of a select.
    options: Vec<u32>,
    /// Of these the options were made: the ready fibers, or all ready cases.
    of: Vec<u32>,
    /// An option but the first counts as a preemption.
    costs: bool,
    /// It is of a select.
    is_case: bool,
    /// The fibers that are asleep.
    asleep: Vec<u32>,
    /// The turn of the option that is taken is open, as far as is known.
    is_open: bool,
}

impl Exhaustive {
    pub(crate) fn new(preemptions: u32) -> Exhaustive {
        Exhaustive(Arc::new(Mutex::new(Search {
            preemptions,
            path: Vec::new(),
            depth: 0,
            turn: None,
            names: Names::default(),
            step: None,
            repeats: false,
            strays: false,
            misses: false,
        })))
    }

    /// Returns true if a run did not repeat the choices before the first that differs.
    pub(crate) fn strays(&self) -> bool {
        let search = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        search.strays
    }

    /// Notes that something besides the choices happened.
    pub(crate) fn note_escape(&self) {
        let mut search = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        search.misses = true;
    }

    /// Returns true if there are schedules that no path has.
    pub(crate) fn misses(&self) -> bool {
        let search = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        search.strays || search.misses
    }

    /// Returns true if independent steps are not run in each order.
    pub(crate) fn is_reduced(&self) -> bool {
        let search = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        search.preemptions == UNBOUNDED
    }

    /// Turns to the next path. Returns false if there is none.
    pub(crate) fn advance(&self) -> bool {
        let search = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        search.strays |= search.depth < search.path.len();
        search.path.truncate(search.depth);
        search.depth = 0;
        search.turn = None;
        search.names = Names::default();
        search.repeats = false;
        while let Some(mut choice) = search.path.pop() {
            let spent = search.spent();
            let is_one_more = choice.is_case && search.cases() == CASES;
            let affordable = !choice.costs || spent < search.preemptions && !is_one_more;
            if choice.taken + 1 < choice.options.len() && affordable {
                if !choice.is_open {
                    choice.asleep.push(choice.options[choice.taken]);
                }
                choice.taken += 1;
                choice.is_open = true;
                search.path.push(choice);
                return true;
            }
        }
        false
    }
}

impl Search {
    /// Returns the preemptions of the present path.
    fn spent(&self) -> u32 {
        let preempts = |choice: &&Choice| choice.costs && choice.taken > 0;
        self.path.iter().filter(preempts).count() as u32
    }

    /// Returns the selects of the present path that take another case than the canonical one.
    fn cases(&self) -> u32 {
        let is_other = |choice: &&Choice| choice.is_case && choice.taken > 0;
        self.path.iter().filter(is_other).count() as u32
    }

    /// Returns the fibers that are asleep at a choice, after the turn that ran last.
    fn sleepers(&mut self, choice: &dev::Choice<'_>) -> Vec<u32> {
        let last = self.turn.map(|at| &mut self.path[at]);
        let Some(last) = last.filter(|_| self.preemptions == UNBOUNDED) else {
            return Vec::new();
        };
        let is_new = |number: &u32| !last.of.contains(number);
        let step = self.step.filter(|step| is_closed(*step));
        let continues = choice.can_continue && !choice.put_off;
        let closed = step.filter(|_| continues && !choice.ready.iter().any(is_new));
        last.is_open = closed.is_none();
        let Some(step) = closed else {
            return Vec::new();
        };
        let stays = |number: &&u32| {
            let index = choice.ready.iter().position(|it| it == *number);
            let own = index.and_then(|index| choice.fibers.step(index));
            own.is_some_and(|own| !conflicts(step, own))
        };
        last.asleep.iter().filter(stays).copied().collect()
    }

    /// Adds a choice to the path.
    fn add(&mut self, choice: &dev::Choice<'_>, asleep: Vec<u32>) {
        // A fiber that asks for others to run does not run before one of them has: a loop that
        // waits would have a schedule for each number of its turns.
        let asks = choice.last.filter(|_| !choice.can_continue);
        let first = choice.ready[canonical(choice)];
        let others = choice.ready.iter().copied();
        let others = others.filter(|number| *number != first && Some(*number) != asks);
        let mut options = vec![first];
        if !self.repeats {
            options.extend(others);
            options.retain(|number| !asleep.contains(number));
        }
        if options.is_empty() {
            options.push(first);
            self.repeats = true;
        }
        self.path.push(Choice {
            taken: 0,
            options,
            of: choice.ready.to_vec(),
            costs: choice.can_continue,
            is_case: false,
            asleep,
            is_open: true,
        });
    }
}

impl Choose for Exhaustive {
    fn choose(&mut self, choice: &dev::Choice<'_>) -> usize {
        let search = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let asleep = search.sleepers(choice);
        if search.depth == search.path.len() {
            search.add(choice, asleep);
        }
        let taken = &search.path[search.depth];
        let number = taken.options[taken.taken];
        search.turn = Some(search.depth);
        search.depth += 1;
        // A program that is not deterministic may have other fibers than before.
        let index = choice.ready.iter().position(|it| *it == number);
        search.strays |= taken.is_case || taken.of != choice.ready;
        search.misses |= choice.put_off;
        let index = index.unwrap_or_else(|| canonical(choice));
        search.names.run(choice.ready[index]);
        search.step = choice.fibers.step(index);
        index
    }

    fn pick(&mut self, _: Pick, count: usize) -> Option<usize> {
        let search = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let name = search.names.next_pick(Of::Case);
        if search.depth == search.path.len() {
            let first = usual(name, count) as u32;
            let others = (0..count as u32).filter(|it| *it != first);
            search.path.push(Choice {
                taken: 0,
                options: [first].into_iter().chain(others).collect(),
                of: (0..count as u32).collect(),
                costs: true,
                is_case: true,
                asleep: Vec::new(),
                is_open: true,
            });
        }
        let taken = &search.path[search.depth];
        let number = taken.options[taken.taken] as usize;
        search.strays |= !taken.is_case || taken.of.len() != count;
        search.depth += 1;
        Some(number)
    }
}

/// Returns true if a turn that begins with `step` changes nothing but the object of the step, and
/// looks at nothing else.
///
/// The others look at fibers, tokens or several objects, take a value at random, depend on the end
/// of a lock, or change what may be read without a choice.
fn is_closed(step: Step) -> bool {
    step.object != 0
        && matches!(
            step.operation,
            Operation::Lock
                | Operation::Read
                | Operation::Acquire
                | Operation::TryAcquire
                | Operation::Release
                | Operation::Send
                | Operation::TrySend
                | Operation::Receive
                | Operation::TryReceive
                | Operation::Close
                | Operation::Load
                | Operation::Store
        )
}

/// The selects of a run that take another case than the canonical one, at most. Arbitrary: without
/// it, a loop of selects with a case that stays ready would have endlessly many schedules.
const CASES: u32 = 4;

/// The number of preemptions that is no bound.
const UNBOUNDED: u32 = u32::MAX;
