//! A run of a strategy on a deterministic worker.
//!
//! Owns: the ready fibers of the run by number, the operation before which each was stopped, how
//! many choices are left, and the runner, which is the fiber that waits for the end of the run.
//! Does not own: the strategy (`base::choice`), what fibers ask of it (`control`), when nothing can
//! happen any more (`draw`), or virtual time (`seeded`).
//!
//! | state | next |
//! |---|---|
//! | no run | `control::begin`, on the runner: a run without an end |
//! | a run | `control::settle`, on the runner: it parks; the worker ends the run when no fiber is ready and no timer is armed, or when the last choice is spent, and wakes the runner |
//! | an ended run | the runner alone is chosen; `control::finish`, on the runner: no run |
//!
//! All of it happens on the worker's thread, so no wake is lost: the runner's ticket is stored
//! before it parks, and claimed by the worker, which runs no fiber at that time.
//!
//! Fibers that are ready when the last choice is spent are never resumed. They stay in this record
//! until the run is finished, and are leaked then, with everything on their stacks.

use std::collections::HashMap;
use std::panic::Location;

use crate::base::choice::{Choice, Choose, Fibers, Step};
use crate::fiber::current;
use crate::fiber::state::Code;
use crate::fiber::state_names::State;
use crate::fiber::{FiberId, FiberPtr, Ticket};
use crate::report::fiber_info::FiberInfo;

/// How a run has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// No fiber is ready, and no timer is armed.
    Quiet,
    /// All choices are spent.
    Spent,
}

/// One run.
pub(super) struct Run {
    pub(super) strategy: Box<dyn Choose>,
    /// The numbers of the fibers by identity, in the order in which they became ready first.
    numbers: HashMap<u64, u32>,
    /// Ready fibers in the order in which they became ready, and their numbers.
    fibers: Vec<FiberPtr>,
    ready: Vec<u32>,
    /// The identity and the address of each fiber, by number.
    pub(super) identities: Vec<(FiberId, usize)>,
    /// The operation before which each fiber was stopped, by number.
    steps: Vec<Option<Step>>,
    /// The fiber that ran last.
    last: Option<u32>,
    /// The choices that are left.
    left: u64,
    /// The number of fibers that other threads had woken when that was last recorded.
    remote_wakes: Option<u64>,
    /// They have woken some since the last choice.
    woken_by_others: bool,
    /// The virtual time of choices that has not passed yet, in nanoseconds.
    pub(super) nanos: u64,
    pub(super) runner: FiberPtr,
    runner_is_ready: bool,
    /// Where the runner waits.
    pub(super) ticket: Option<Ticket>,
    pub(super) ended: Option<Ended>,
}

impl Run {
    pub(super) fn new(strategy: Box<dyn Choose>, most: u64, runner: FiberPtr) -> Run {
        Run {
            strategy,
            numbers: HashMap::new(),
            fibers: Vec::new(),
            ready: Vec::new(),
            identities: Vec::new(),
            steps: Vec::new(),
            last: None,
            left: most,
            remote_wakes: None,
            woken_by_others: false,
            nanos: 0,
            runner,
            runner_is_ready: false,
            ticket: None,
            ended: None,
        }
    }

    /// Adds a fiber that is ready.
    pub(super) fn add(&mut self, fiber: FiberPtr) {
        if fiber == self.runner {
            self.runner_is_ready = true;
            return;
        }
        let next = u32::try_from(self.numbers.len()).expect("fewer than 2^32 fibers");
        let number = *self.numbers.entry(fiber.header().id()).or_insert(next);
        if number == next {
            let header = fiber.header();
            let id = FiberId::of_number(header.id());
            self.identities.push((id, (&raw const *header).addr()));
            self.steps.push(None);
        }
        self.fibers.push(fiber);
        self.ready.push(number);
    }

    /// Records how many fibers other threads have woken.
    pub(super) fn note_remote_wakes(&mut self, wakes: u64) {
        let before = self.remote_wakes.replace(wakes);
        self.woken_by_others |= before.is_some_and(|before| before != wakes);
    }

    /// Takes the fiber that runs next, if one is ready.
    pub(super) fn next_fiber(&mut self) -> Option<FiberPtr> {
        if std::mem::take(&mut self.runner_is_ready) {
            return Some(self.runner);
        }
        if self.fibers.is_empty() || self.ended.is_some() {
            return None;
        }
        if self.left == 0 {
            self.end(Ended::Spent);
            return None;
        }
        self.left -= 1;
        let local = current::local();
        let step = local.take_step();
        if let Some(last) = self.last {
            self.steps[last as usize] = step;
        }
        let chosen = self.strategy.choose(&Choice {
            ready: &self.ready,
            last: self.last,
            can_continue: step.is_some(),
            put_off: local.take_put_off(),
            woken_by_others: std::mem::take(&mut self.woken_by_others),
            fibers: &Described {
                fibers: &self.fibers,
                ready: &self.ready,
                steps: &self.steps,
            },
        });
        self.nanos += self.strategy.duration();
        self.last = Some(self.ready.remove(chosen));
        Some(self.fibers.remove(chosen))
    }

    /// Ends the run and wakes the runner, if it waits for that. Returns true if so.
    pub(super) fn end(&mut self, ended: Ended) -> bool {
        let Some(ticket) = self.ticket.take() else {
            return false;
        };
        self.ended = Some(ended);
        let wake = ticket.claim(Code::case(0));
        wake.expect("only the end of the run wakes the runner")
            .enqueue();
        true
    }
}

/// The ready fibers of a run, at a choice.
struct Described<'a> {
    fibers: &'a [FiberPtr],
    ready: &'a [u32],
    steps: &'a [Option<Step>],
}

impl Fibers for Described<'_> {
    fn step(&self, index: usize) -> Option<Step> {
        self.steps[self.ready[index] as usize]
    }

    fn spawned_at(&self, index: usize) -> &'static Location<'static> {
        self.fibers[index].header().location()
    }

    fn frames(&self, index: usize) -> Vec<String> {
        let fiber = self.fibers[index];
        if fiber.header().is_fresh() {
            return Vec::new();
        }
        // SAFETY: the fiber is ready, on the only worker of its runtime, which is choosing here and
        // runs no fiber meanwhile.
        let sighting = unsafe { FiberInfo::sight(0, fiber, State::Runnable, true, true) };
        sighting.info.frames()
    }
}
