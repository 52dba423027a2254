//! The steps of a worker that has no queued fiber: search, spin, sleep.
//!
//! Owns: this worker's side of the sleep protocol (`idle` has the other side and the proof) and the
//! stealing sweep.
//!
//! One visit:
//! 1. Search the other workers, unless enough workers search.
//! 2. Spin for a while, if that has paid lately.
//! 3. Announce sleep, and shut the inbox.
//! 4. Look everywhere once more.
//! 5. Sleep until woken or until a timer is due. If work was seen that is too young to take, sleep
//!    for 50 µs, once: after that the monitor watches it.
//! 6. Open the inbox, and take back the announcement. A worker that finds it claimed owes a search.

use std::ptr;
use std::time::{Duration, Instant};

use crate::base::backoff::Backoff;
use crate::base::clock;
use crate::base::mutant::mutant;
use crate::events::Kind;
use crate::fiber::{FiberPtr, thread_registry};
use crate::sched::config::Scheduler;
use crate::sched::pool::remote::{ASLEEP, AWAKE, Remote, TIMED};
use crate::sched::pool::worker_state::WorkerState;
use crate::sched::queue::next_slot::NextItem;
use crate::sched::worker::run::Worker;
use crate::shim;
use crate::shim::atomic::{Ordering, fence};

/// The time after which a searcher looks again if it has left work that is too young to take: the
/// cost of a wake-up on virtual machines (`SURPLUS` in `intervals`). No measurement yet.
const YOUNG: Duration = Duration::from_micros(50);

/// How long a worker spins before it sleeps, when spinning pays: about the cost of waking a
/// sleeping thread on a good machine. Nanoseconds.
pub(in crate::sched) const SPIN: u64 = 10_000;

/// The maximum of ready fibers that are stolen at once: the same as out of a ring.
const MOST_READY: usize = 128;

/// The result of a sweep over the other workers.
enum Sweep {
    Found(FiberPtr),
    /// Nothing to take, but the `next` slot of some worker is full.
    NotYetStealable,
    Nothing,
}

impl Worker {
    /// Returns when there may be a fiber to run.
    pub(in crate::sched) fn rest(&self) {
        // A fiber that runs while a search is owed must not be followed by another one before the
        // worker has completed the search.
        self.force_maintenance();
        self.remote()
            .running
            .store(ptr::null_mut(), Ordering::Relaxed);
        self.follow_duty();
        if self.release_cached_stacks() {
            return;
        }
        if !self.is_member() {
            self.rest_apart();
            return;
        }
        if self.is_taken() {
            // LIVENESS: as the fence of an announcement, for `sched::pool::quiescence`.
            fence(Ordering::SeqCst);
            self.sleep_alone(None);
            return;
        }
        if !self.search.is_active() {
            self.search.set_active(self.pool.idle.try_search());
        }
        self.set_state(WorkerState::Spinning);
        let (mut young, mut nap) = (false, false);
        if self.search.is_active() {
            match self.sweep() {
                Sweep::Found(fiber) => {
                    self.search.end_nap();
                    self.pass_search_on();
                    self.have_watched();
                    self.run_first(fiber);
                    return;
                }
                Sweep::NotYetStealable => {
                    young = true;
                    nap = self.search.nap();
                }
                Sweep::Nothing => {}
            }
        }
        // Also if enough others search: a worker that has done its half of a join wakes the worker
        // of the other half, and both meet here.
        if !young && self.watch_for_jobs() {
            return;
        }
        // LIVENESS: a worker that has spun and still found nothing sleeps like the others: it
        // becomes a searcher, or releases its processor.
        if !self.search.take_spun() && self.spin() {
            self.search.set_spun();
            return;
        }
        self.sleep(young, nap);
    }

    /// As [`rest`](Self::rest), at most until `limit`.
    pub(in crate::sched) fn rest_until(&self, limit: Option<Instant>) {
        self.search.set_drive_limit(limit);
        self.rest();
        self.search.set_drive_limit(None);
    }

    /// Looks once into every other worker's ring, starting at a random one, and at the aged fibers
    /// in their `next` slots.
    fn sweep(&self) -> Sweep {
        let pool = &self.pool;
        let workers = pool.remotes.len();
        if workers == 1 || pool.scheduler() == Scheduler::SingleQueue {
            return Sweep::Nothing;
        }
        let counters = &self.remote().counters;
        counters.steal_attempts.increment();
        let start = self.search.pick(workers);
        let victims = (0..workers)
            .map(|i| (start + i) % workers)
            .filter(|&v| v != self.index);
        let mut young = false;
        for victim in victims {
            let remote = &pool.remotes[victim];
            if let Some((fiber, n)) = remote.ring.steal_into(&self.remote().ring) {
                counters.steals.increment();
                counters.stolen.add(u64::from(n));
                self.record_with(Kind::Steal, fiber, victim);
                return Sweep::Found(fiber);
            }
            if let Some(fiber) = self.steal_ready(remote) {
                self.record_with(Kind::Steal, fiber, victim);
                return Sweep::Found(fiber);
            }
            let seen = remote.next.look_fresh();
            if seen == 0 {
                continue;
            }
            if seen == remote.notes.aged()
                && let Some(fiber) = remote.next.steal(seen)
            {
                counters.steals.increment();
                counters.stolen.increment();
                self.record_with(Kind::Steal, fiber, victim);
                return Sweep::Found(fiber);
            }
            young = true;
        }
        if young {
            Sweep::NotYetStealable
        } else {
            Sweep::Nothing
        }
    }

    /// Steals half of another worker's ready fibers, where fibers may migrate; returns the first of
    /// them.
    fn steal_ready(&self, victim: &Remote) -> Option<FiberPtr> {
        let (own, theirs) = (self.migration.queues()?, victim.migration.queues()?);
        let mut taken = theirs.take_half(MOST_READY);
        let n = taken.len();
        let first = taken.pop_front()?;
        own.append(taken);
        let counters = &self.remote().counters;
        counters.steals.increment();
        counters.stolen.add(u64::from(n));
        Some(first)
    }

    /// Steals a fiber of another worker, if possible.
    pub(in crate::sched) fn steal(&self) -> Option<FiberPtr> {
        match self.sweep() {
            Sweep::Found(fiber) => Some(fiber),
            Sweep::NotYetStealable | Sweep::Nothing => None,
        }
    }

    /// Makes `fiber`, found elsewhere, run next.
    pub(in crate::sched) fn run_first(&self, fiber: FiberPtr) {
        self.queues.end_streak();
        if let Some(item) = self.remote().next.put(NextItem::Fresh(fiber)) {
            self.put_back(item);
        }
    }

    /// Ends this worker's search because it has found something to run. If it was the last searcher
    /// and more work may be there, it wakes another worker to continue.
    #[cold]
    pub(in crate::sched) fn pass_search_on(&self) {
        self.search.set_active(false);
        if self.pool.idle.found_work()
            && self.leaves_work()
            && self.pool.wake_one(self.index + 1)
        {
            self.remote().counters.wakes.increment();
        }
    }

    /// True if there is work that another worker should be woken for.
    fn leaves_work(&self) -> bool {
        let pool = &self.pool;
        !pool.injector.is_empty()
            || pool
                .remotes
                .iter()
                .any(|remote| self.maintenance.intervals.is_surplus(remote.queued()))
    }

    /// True if a look everywhere, as S3 and S4 of `idle` define it, shows something to do. Takes
    /// nothing.
    pub(super) fn sees_work(&self) -> bool {
        let remote = self.remote();
        !remote.inbox.is_empty()
            || !remote.placed.is_empty()
            || !self.pool.injector.is_empty()
            || (self.pool.scheduler() == Scheduler::WorkStealing
                && self.pool.has_visible_work())
    }

    /// Watches for work if spinning has paid lately. True if some came.
    pub(in crate::sched) fn spin(&self) -> bool {
        if !self.search.may_spin() || self.pool.workers() == 1 {
            return false;
        }
        let seen = self.watch(SPIN, || ());
        self.search.has_spun(seen);
        seen
    }

    /// Watches for work for `nanos` nanoseconds, or until a timer is due, and calls `meanwhile` now
    /// and then. Returns true if work came.
    pub(in crate::sched) fn watch(&self, nanos: u64, meanwhile: impl Fn()) -> bool {
        self.watch_by(clock::now, nanos, meanwhile)
    }

    /// As [`watch`](Self::watch), by the time that `clock` returns.
    pub(in crate::sched) fn watch_by(
        &self,
        clock: impl Fn() -> u64,
        nanos: u64,
        meanwhile: impl Fn(),
    ) -> bool {
        let mut backoff = Backoff::new();
        let until = clock() + nanos;
        loop {
            for _ in 0..16 {
                // First, since the sweep has just failed to get what a look shows now: a thief is
                // active.
                backoff.pause();
                if self.sees_work() {
                    return true;
                }
            }
            if clock() >= until || self.timer_is_due() {
                return false;
            }
            meanwhile();
        }
    }

    fn sleep(&self, young: bool, nap: bool) {
        let idle = &self.pool.idle;
        let remote = self.remote();
        let _ = idle.announce(self.index, self.search.end());
        // LIVENESS: from here on every publisher sees this worker as a sleeper, and what was
        // published before is seen below (S3, S4 of `idle`). A fiber that was spawned without that
        // protocol, in the moment before, is found by the monitor.
        self.arm_heartbeat();
        if young {
            self.pool.monitor.attend();
        } else if !idle.all_asleep() {
            self.pool.monitor.resume();
        }
        // The fiber that this wakes may be at home here, and ready: that is noticed below.
        self.pool.look_for_quiet();
        if remote.inbox.prepare_sleep() {
            let blind = mutant!("sleep_without_recheck");
            if !blind && self.sees_work() {
                self.wake_searching();
                return;
            }
            if blind || !self.must_notice() {
                self.sleep_until_bored(nap);
            }
        }
        if !remote.inbox.is_empty() {
            self.search.end_nap();
        }
        self.drain_inbox();
        remote.inbox.cancel_sleep();
        if idle.retract(self.index) {
            remote.counters.unparks.increment();
            self.search.end_nap();
            self.search.set_active(true);
            self.role.set_leaving(false);
        }
        self.waking();
        self.deliver_events();
        self.resume_intervals();
    }

    /// Sleeps. If the pool's threads end when they have been idle for long, and this one has, it
    /// will end, unless it has been claimed by then.
    fn sleep_until_bored(&self, nap: bool) {
        let keep = self
            .pool
            .config
            .threads
            .keep
            .filter(|_| !self.has_started());
        let until = keep.map(|keep| shim::now() + keep);
        self.sleep_now(until.or(self.search.drive_limit()), nap);
        let bored = until.is_some_and(|until| shim::now() >= until);
        self.role
            .set_leaving(bored && self.remote().inbox.is_empty());
    }

    /// Sleeps until one of its own fibers can resume, or until `until`. This worker takes no other
    /// fiber meanwhile, so it is no sleeper that others may claim. Called after a fence.
    pub(in crate::sched) fn sleep_alone(&self, until: Option<Instant>) {
        self.pool.look_for_quiet();
        let inbox = self.remote().inbox;
        if inbox.prepare_sleep() && !self.must_notice() {
            self.sleep_now(until, false);
        }
        self.drain_inbox();
        inbox.cancel_sleep();
        self.waking();
        self.deliver_events();
        self.resume_intervals();
    }

    /// Searches instead of sleeping, since the second look has shown work (S6 in `idle`).
    fn wake_searching(&self) {
        self.pool.idle.resume_search(self.index);
        self.waking();
        self.search.set_active(true);
        self.search.end_nap();
        self.drain_inbox();
        self.remote().inbox.cancel_sleep();
        // LIVENESS: if it is still in a ring from which a thief copies, that thread may have
        // lost its processor, perhaps to this one.
        if !self.has_ready() {
            shim::thread::yield_now();
        }
        self.resume_intervals();
    }

    fn sleep_now(&self, at_most: Option<Instant>, nap: bool) {
        let remote = self.remote();
        remote.counters.parks.increment();
        let began = clock::now();
        let again = nap.then(|| shim::now() + YOUNG);
        let until = [self.alarm(), again, at_most].into_iter().flatten().min();
        self.set_state(WorkerState::Asleep);
        self.say_asleep(nap);
        // SAFETY: K1: nothing of this worker's runs meanwhile.
        remote.inbox.sleep(until, unsafe { self.io.events() });
        self.say_awake();
        self.set_state(WorkerState::Active);
        self.search.has_slept(clock::now() - began, nap);
    }

    /// Records that the worker is about to sleep.
    fn say_asleep(&self, nap: bool) {
        // The system ends a sleep early if something is queued, too.
        let timer = match &self.seeded {
            None => self.next_timer().is_some(),
            // Others may sleep with a timer that virtual time does not reach.
            Some(seeded) => seeded.hold.until().is_some(),
        };
        let timed = nap || timer || self.has_queued();
        let sleep = if timed { TIMED } else { ASLEEP };
        self.remote().sleep.store(sleep, Ordering::SeqCst);
        thread_registry::attend();
    }

    /// Records that the worker has slept.
    fn say_awake(&self) {
        self.remote().sleep.store(AWAKE, Ordering::SeqCst);
        thread_registry::attend();
    }

    /// True if the pool has a request for this worker, a timer is due, or a fiber became ready on
    /// the way to sleep.
    fn must_notice(&self) -> bool {
        self.has_ready()
            || !self.remote().placed.is_empty()
            || self.unnoticed_phase()
            || self.timer_is_due()
    }
}
