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

/// The part of a worker on a deterministic runtime.
pub(in crate::sched) struct Seeded {
    rng: RefCell<Rng>,
    /// Fibers that may run, in no meaningful order.
    ready: RefCell<Vec<FiberPtr>>,
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
        self.passed.set(self.passed.get().max(to >> WHEEL_BITS));
    }

    /// Adds fibers to the list.
    pub(super) fn extend(&self, fibers: impl IntoIterator<Item = FiberPtr>) {
        self.ready.borrow_mut().extend(fibers);
    }

    /// Takes one fiber of the list, each with equal probability.
    pub(super) fn pick(&self) -> Option<FiberPtr> {
        let mut ready = self.ready.borrow_mut();
        if ready.is_empty() {
            return None;
        }
        let chosen = self.rng.borrow_mut().below(ready.len());
        Some(ready.swap_remove(chosen))
    }
}

const MICRO: u64 = 1_000;

/// Makes a microsecond one tick of the wheel. That leaves 48 bits, almost nine years: a wait that
/// ends later than that after the start never ends.
const WHEEL_BITS: u32 = 16;
