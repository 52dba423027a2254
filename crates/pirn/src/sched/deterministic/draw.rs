//! The deterministic worker: every choice comes from a seed, or from the strategy of a run, and
//! time is virtual.
//!
//! Owns: which of the ready fibers runs next, and the reasons to hold time. Does not own: the
//! clock of such a runtime (`seeded`), nor the queues, which are filled as usual
//! (`sched::worker::enqueue`) and emptied here before each choice.
//!
//! A deterministic runtime has one worker. It takes no shortcuts: `ticks_to_maintenance` stays 0,
//! so `find_hot` never returns a fiber. After every run control returns to the worker's own stack,
//! which calls [`Worker::draw`] in place of `find`. A draw
//! 1. takes notice of the pool's phase, of fibers that other threads have woken, and of timers that
//!    are already due;
//! 2. gathers all ready fibers, out of all queues, in a fixed order;
//! 3. picks one of them: each with equal probability, or the one that the strategy chooses;
//! 4. if nothing is ready, lets time jump to the next timer and starts again, unless time is held
//!    (`hold`): fibers wait for something that takes real time. Then the worker rests. Without a
//!    timer and without such a fiber, the run of a strategy ends.
//!
//! So time stands still while fibers run, for the first 100,000 choices; in the run of a strategy
//! each choice takes as long as the strategy says. Actions of other threads happen at any time, and
//! a seed does not reproduce them.

use crate::fiber::FiberPtr;
use crate::fiber::current::{self, Local};
use crate::readiness;
use crate::sched::deterministic::hold::Hold;
use crate::sched::deterministic::seeded::Seeded;
use crate::sched::pool::shared::Pool;
use crate::sched::queue::injector::End;
use crate::sched::worker::enqueue::pool_of;
use crate::sched::worker::run::Worker;
use crate::shim::StaticLock;
use crate::sys;
use crate::wait::Reason;

/// Any number; the loop around it takes everything.
const BATCH: u32 = 256;

/// The reasons of waits for descriptors, and for another runtime.
const LIMITED: [Reason; 4] = [
    Reason::Readable,
    Reason::Writable,
    Reason::Child,
    Reason::Idle,
];

impl Worker {
    /// Returns the next fiber to run. On the worker's own stack.
    #[cold]
    pub(in crate::sched) fn draw(&self, seeded: &Seeded) -> Option<FiberPtr> {
        loop {
            self.notice_phase();
            let _ = self.release_cached_stacks();
            self.drain_inbox();
            seeded.note_remote_wakes(self.remote().counters.remote_wakes.get());
            self.fire_timers(self.wheel_time());
            self.ask_driver();
            self.gather(seeded);
            if let Some(fiber) = seeded.pick_after(self.queues.take_first()) {
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
            let held = self.holds_time(hold);
            let Some(next) = self.next_timer().filter(|_| !held) else {
                if !held && seeded.end_run() {
                    continue;
                }
                hold.rest();
                return None;
            };
            seeded.jump(next);
        }
    }

    /// Moves all ready fibers to the list from which one is picked.
    fn gather(&self, seeded: &Seeded) {
        let remote = self.remote();
        seeded.extend(remote.next.take().map(|item| item.fiber()));
        seeded.extend(std::iter::from_fn(|| self.pop_ready()));
        seeded.extend(std::iter::from_fn(|| remote.ring.pop()));
        let injector = &self.pool.injector;
        while !injector.is_empty() {
            let mut batch = injector.pop_batch(self.index, BATCH, End::Oldest);
            seeded.extend(std::iter::from_fn(|| batch.pop_front()));
        }
    }

    /// True if virtual time stands still though no fiber is ready.
    fn holds_time(&self, hold: &Hold) -> bool {
        if hold.is_outside() {
            return true;
        }
        if !hold.is_elsewhere() && !self.awaits_descriptor() {
            hold.end();
            return false;
        }
        if hold.lasts() {
            return true;
        }
        if hold.has_limit() {
            self.report_vain_hold(hold);
            hold.give_up();
        }
        false
    }

    /// True if one of this worker's fibers waits for a descriptor.
    fn awaits_descriptor(&self) -> bool {
        readiness::awaits(self.remote().inbox.driver(), |waiters| {
            let mut own = false;
            self.each_started(|fiber| own |= waiters.contains(&fiber));
            own
        })
    }

    /// Reports the first hold in vain of the process, to explain why a test takes so long, or saw a
    /// limit end.
    #[cold]
    fn report_vain_hold(&self, hold: &Hold) {
        static REPORTED: StaticLock<bool> = StaticLock::new(false);
        if std::mem::replace(&mut *REPORTED.lock(), true) {
            return;
        }
        // SAFETY: called by `draw`, on the worker's own stack: no fiber runs here.
        let waits = unsafe { self.describe_waiting(&LIMITED) };
        let fiber = waits.map_or(String::new(), |fiber| fiber.to_string());
        sys::report(&format!(
            "pirn: virtual time of '{}' was held for {} ms of real time, since a fiber waits for \
             a descriptor or another runtime, and nothing came; now it goes on \
             (`Builder::outside_limit`)\n{fiber}",
            self.pool.name(),
            hold.patience() / 1_000_000,
        ));
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
    let _held = Held::begin(Hold::count);
    wait()
}

/// Runs `wait`, which waits until another runtime has no fibers. Virtual time stands still
/// meanwhile, but not for long: those fibers may wait for time to pass here.
pub(crate) fn elsewhere<T>(wait: impl FnOnce() -> T) -> T {
    let _held = Held::begin(Hold::count_elsewhere);
    wait()
}

/// Counts the running fiber until it is dropped: a wait that is refused panics.
struct Held(fn(&Hold, isize));

impl Held {
    #[inline]
    fn begin(count: fn(&Hold, isize)) -> Held {
        let held = Held(count);
        held.change(1);
        held
    }

    #[inline]
    fn change(&self, change: isize) {
        let worker = Worker::of(current::local());
        if let Some(seeded) = worker.and_then(|worker| worker.seeded.as_ref()) {
            (self.0)(&seeded.hold, change);
        }
    }
}

impl Drop for Held {
    #[inline]
    fn drop(&mut self) {
        self.change(-1);
    }
}
