//! The deterministic worker: every choice comes from a seed, and time is virtual.
//!
//! Owns: which of the ready fibers runs next, and the clock of such a runtime. Does not own: the
//! queues, which are filled as usual (`sched::worker::enqueue`) and emptied here before each
//! choice; nor the thread's random numbers (`fiber::current`), which are seeded here.
//!
//! A deterministic runtime has one worker. It takes no shortcuts: `ticks_to_maintenance` stays 0,
//! so `find_hot` never returns a fiber. After every run control returns to the worker's own stack,
//! which calls [`Worker::draw`] in place of `find`. A draw
//! 1. takes notice of the pool's phase, of fibers that other threads have woken, and of timers that
//!    are already due;
//! 2. gathers all ready fibers, out of all queues, in a fixed order;
//! 3. picks one of them, each with equal probability;
//! 4. if nothing is ready, lets time jump to the next timer and starts again, unless time is held
//!    (`hold`): fibers wait for something that takes real time. Then the worker rests.
//!
//! So time stands still while fibers run. Actions of other threads happen at any time, and a seed
//! does not reproduce them.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use crate::base::clock;
use crate::base::rng::Rng;
use crate::fiber::FiberPtr;
use crate::fiber::current::{self, Local};
use crate::sched::deterministic::hold::Hold;
use crate::sched::pool::shared::Pool;
use crate::sched::queue::injector::End;
use crate::sched::worker::enqueue::pool_of;
use crate::sched::worker::run::Worker;

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
    /// `limit`: how long time is held for descriptors.
    pub(in crate::sched) fn new(seed: u64, limit: Duration) -> Seeded {
        Seeded {
            rng: RefCell::new(Rng::new(seed)),
            ready: RefCell::new(Vec::new()),
            began: clock::now(),
            passed: Cell::new(0),
            hold: Hold::new(limit),
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

    fn jump(&self, to: u64) {
        self.passed.set(self.passed.get().max(to >> WHEEL_BITS));
    }

    fn pick(&self) -> Option<FiberPtr> {
        let mut ready = self.ready.borrow_mut();
        if ready.is_empty() {
            return None;
        }
        let chosen = self.rng.borrow_mut().below(ready.len());
        Some(ready.swap_remove(chosen))
    }
}

impl Worker {
    /// Returns the next fiber to run. On the worker's own stack.
    #[cold]
    pub(in crate::sched) fn draw(&self, seeded: &Seeded) -> Option<FiberPtr> {
        loop {
            self.notice_phase();
            let _ = self.release_cached_stacks();
            self.drain_inbox();
            self.fire_timers(self.wheel_time());
            self.ask_driver();
            self.gather(seeded);
            if let Some(fiber) = self.take_first().or_else(|| seeded.pick()) {
                if self.search.is_active() {
                    self.pass_search_on();
                }
                self.trace.count_to_sample(1);
                seeded.hold.release();
                return Some(fiber);
            }
            // Before any time passes: a fiber that waits for the others to end may resume now.
            self.pool.look_for_quiet();
            if self.has_ready() {
                continue;
            }
            let hold = &seeded.hold;
            let Some(next) = self.next_timer().filter(|_| !self.holds_time(hold)) else {
                hold.rest();
                return None;
            };
            seeded.jump(next);
        }
    }

    /// Moves all ready fibers to the list from which one is picked.
    fn gather(&self, seeded: &Seeded) {
        let mut ready = seeded.ready.borrow_mut();
        let remote = self.remote();
        ready.extend(remote.next.take().map(|item| item.fiber()));
        while let Some(fiber) = self.pop_ready() {
            ready.push(fiber);
        }
        while let Some(fiber) = remote.ring.pop() {
            ready.push(fiber);
        }
        let injector = &self.pool.injector;
        while !injector.is_empty() {
            let mut batch = injector.pop_batch(self.index, BATCH, End::Oldest);
            while let Some(fiber) = batch.pop_front() {
                ready.push(fiber);
            }
        }
    }
}

impl Pool {
    /// True if a deadline of the caller means the same to this pool's fibers.
    pub(crate) fn shares_clock(&self, local: &Local) -> bool {
        let own = match local.fiber() {
            None => None,
            Some(_) => pool_of(local),
        };
        match own {
            Some(own) => self.keeps_time_of(own),
            None => self.config.seed.is_none(),
        }
    }

    /// True if the fibers of `other` have the same clock as this pool's.
    pub(crate) fn keeps_time_of(&self, other: &Pool) -> bool {
        std::ptr::eq(self, other)
            || (self.config.seed.is_none() && other.config.seed.is_none())
    }
}

/// Runs `wait`, which waits for something that takes real time and not for a fiber of the same
/// runtime. Virtual time stands still meanwhile.
pub(crate) fn outside<T>(wait: impl FnOnce() -> T) -> T {
    count(1);
    let result = wait();
    count(-1);
    result
}

#[inline]
fn count(change: isize) {
    let worker = Worker::of(current::local());
    if let Some(seeded) = worker.and_then(|worker| worker.seeded.as_ref()) {
        seeded.hold.count(change);
    }
}

const MICRO: u64 = 1_000;

/// Makes a microsecond one tick of the wheel. That leaves 48 bits, almost nine years: a wait that
/// ends later than that after the start never ends.
const WHEEL_BITS: u32 = 16;

/// Any number; the loop around it takes everything.
const BATCH: u32 = 256;
