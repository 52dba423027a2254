//! The seed of a deterministic worker: its random choices, and its virtual time.
//!
//! Owns: the clock of such a runtime, and the list from which a fiber is picked. Does not own: what
//! fills that list, and when time jumps (`draw`); nor the thread's random numbers
//! (`fiber::current`), which are seeded here.

use std::cell::{Cell, RefCell};
use std::time::Instant;

use crate::base::clock;
use crate::base::rng::Rng;
use crate::fiber::FiberPtr;
use crate::fiber::current::Local;
use crate::sched::config::SeedConfig;
use crate::sched::deterministic::hold::Hold;
use crate::sched::deterministic::run::{Ended, Run};

/// The part of a worker on a deterministic runtime.
pub(in crate::sched) struct Seeded {
    rng: RefCell<Rng>,
    /// Fibers that may run, in no meaningful order.
    ready: RefCell<Vec<FiberPtr>>,
    /// The current run of a strategy, in place of `ready` and `rng`.
    pub(super) run: RefCell<Option<Run>>,
    /// Choices since time last jumped, or the run began; at most `CHOICES_BEFORE_TIME_PASSES`.
    choices: Cell<u32>,
    /// When virtual time began: nanoseconds of the real clock.
    began: u64,
    /// Microseconds of virtual time since.
    passed: Cell<u64>,
    pub(in crate::sched) hold: Hold,
}

impl Seeded {
    pub(in crate::sched) fn new(config: SeedConfig) -> Seeded {
        Seeded {
            rng: RefCell::new(Rng::new(config.seed)),
            ready: RefCell::new(Vec::new()),
            run: RefCell::new(None),
            choices: Cell::new(0),
            began: clock::now(),
            passed: Cell::new(0),
            hold: Hold::new(config.outside),
        }
    }

    /// Seeds the thread's own random numbers, which `select` uses, and sets the clock of its
    /// fibers.
    pub(in crate::sched) fn take_thread(&self, local: &Local) {
        local.set_deterministic(Rng::new(self.rng.borrow_mut().next_u64()));
    }

    pub(in crate::sched) fn present(&self) -> Instant {
        let nanos = self.began.saturating_add(self.passed.get() * MICRO);
        clock::instant(nanos).expect("virtual time is within what the clock can express")
    }

    pub(in crate::sched) fn wheel_time(&self) -> u64 {
        self.passed.get() << WHEEL_BITS
    }

    /// Returns a deadline in nanoseconds of real time, as the wheel counts it.
    ///
    /// The wheel rounds up to its tick, and which tick that is would depend on when the runtime was
    /// made. So it is given microseconds since then, one a tick.
    pub(in crate::sched) fn wheel_deadline(&self, deadline: u64) -> u64 {
        let micros = deadline.saturating_sub(self.began).div_ceil(MICRO);
        if micros >> (u64::BITS - WHEEL_BITS) == 0 {
            micros << WHEEL_BITS
        } else {
            u64::MAX
        }
    }

    /// Lets time pass until `to`, as the wheel counts it.
    pub(super) fn jump(&self, to: u64) {
        self.choices.set(0);
        self.passed.set(self.passed.get().max(to >> WHEEL_BITS));
    }

    /// Adds fibers to the list.
    pub(super) fn extend(&self, fibers: impl IntoIterator<Item = FiberPtr>) {
        match &mut *self.run.borrow_mut() {
            None => self.ready.borrow_mut().extend(fibers),
            Some(run) => fibers.into_iter().for_each(|fiber| run.add(fiber)),
        }
    }

    /// Takes the fiber that runs next: `first`, if there is one and no strategy, or else one of the
    /// list.
    pub(super) fn pick_after(&self, first: Option<FiberPtr>) -> Option<FiberPtr> {
        let is_run = self.run.borrow().is_some();
        match first {
            Some(first) if !is_run => Some(first),
            first => {
                self.extend(first);
                self.pick()
            }
        }
    }

    /// Takes one fiber of the list: the one that the strategy chooses or, without one, each with
    /// equal probability.
    fn pick(&self) -> Option<FiberPtr> {
        let picked = match &mut *self.run.borrow_mut() {
            Some(run) => {
                let picked = run.next_fiber();
                self.passed.set(self.passed.get() + run.nanos / MICRO);
                run.nanos %= MICRO;
                picked
            }
            None => self.pick_at_random(),
        };
        if picked.is_some() {
            self.pass();
        }
        picked
    }

    fn pick_at_random(&self) -> Option<FiberPtr> {
        let mut ready = self.ready.borrow_mut();
        if ready.is_empty() {
            return None;
        }
        let chosen = self.rng.borrow_mut().below(ready.len());
        Some(ready.swap_remove(chosen))
    }

    /// Begins the run of a strategy.
    ///
    /// # Panics
    /// If there is a run.
    pub(super) fn begin_run(&self, run: Run) {
        let mut current = self.run.borrow_mut();
        assert!(
            current.is_none(),
            "sim::begin: a run has begun; call sim::finish first"
        );
        *current = Some(run);
        self.choices.set(0);
    }

    /// Records how many fibers other threads have woken, if there is a run.
    pub(super) fn note_remote_wakes(&self, wakes: u64) {
        if let Some(run) = &mut *self.run.borrow_mut() {
            run.note_remote_wakes(wakes);
        }
    }

    /// Ends the run of a strategy, if there is one: nothing can happen in it any more.
    pub(super) fn end_run(&self) -> bool {
        let mut run = self.run.borrow_mut();
        run.as_mut().is_some_and(|run| run.end(Ended::Quiet))
    }

    /// Lets time pass although fibers are ready, if they have been for very long: a loop that
    /// yields until a moment has come ends.
    fn pass(&self) {
        let choices = self.choices.get() + 1;
        if choices > CHOICES_BEFORE_TIME_PASSES {
            self.passed.set(self.passed.get() + 1);
        } else {
            self.choices.set(choices);
        }
    }
}

/// Choices without a jump of time after which each one takes a microsecond. Arbitrary: many more
/// than tests have that compare times.
const CHOICES_BEFORE_TIME_PASSES: u32 = 100_000;

const MICRO: u64 = 1_000;

/// Makes a microsecond one tick of the wheel. That leaves 48 bits, almost nine years: a wait that
/// ends later than that after the start never ends.
const WHEEL_BITS: u32 = 16;
