//! Finding a worker's next fiber, while it has something of its own to look at.
//!
//! Order: every n dispatches the injector, every [`MAINTENANCE_INTERVAL`] dispatches the
//! maintenance. Otherwise the `next` slot (at most three in a row), then ready list and ring in
//! alternation. Then the inbox, the timers, what others have placed here
//! (`sched::placement::balance`), the own injector shard, any shard. Stealing and sleeping are in
//! `park`.

use std::cell::Cell;

use crate::base::clock;
use crate::base::list::Fifo;
use crate::events::Kind;
use crate::fiber::current::{self, Local};
use crate::fiber::{FiberHead, FiberPtr};
use crate::sched::config::Scheduler;
use crate::sched::pool::remote::Remote;
use crate::sched::queue::injector::End;
use crate::sched::worker::intervals::{
    Intervals, MAINTENANCE_AFTER_SLEEP, MAINTENANCE_INTERVAL,
};
use crate::sched::worker::run::Worker;

/// The most fibers fetched from the injector at once: a quarter of a ring. Arbitrary.
const BATCH: u32 = 64;

/// Nanoseconds between two takes of the oldest fiber that spilled from the ring, by a worker with
/// work of its own. In a tree of fibers each such step starts one more subtree near the root. When
/// done at every look at the injector (24,000 in a tree of a million leaves), 8,600 stacks were in
/// use at a time instead of 600, and the tree took 1.6 times as long.
const OLDEST: u64 = 1_000_000;

/// When the work that is due every round is due again.
pub(in crate::sched) struct Maintenance {
    /// How long fibers run here.
    pub(in crate::sched) intervals: Intervals,
    /// Dispatches until the next maintenance.
    ticks_to_maintenance: Cell<u32>,
    /// The value of `ticks_to_maintenance` when the intervals were last measured.
    measured_at: Cell<u32>,
    /// Dispatches in the next round, at most.
    round: Cell<u32>,
    /// Dispatches since the last look at the injector.
    since_injector: Cell<u32>,
    /// When the oldest fiber that spilled here is due to run.
    oldest_due: Cell<u64>,
}

impl Maintenance {
    pub(super) fn new(now: u64) -> Maintenance {
        Maintenance {
            intervals: Intervals::new(now),
            ticks_to_maintenance: Cell::new(0),
            measured_at: Cell::new(0),
            round: Cell::new(MAINTENANCE_AFTER_SLEEP),
            since_injector: Cell::new(0),
            oldest_due: Cell::new(now),
        }
    }

    /// Returns true if maintenance is due before another fiber runs.
    #[inline(always)]
    pub(in crate::sched) fn is_due(&self) -> bool {
        self.ticks_to_maintenance.get() == 0
    }

    /// Makes maintenance due, and returns the dispatches that were left.
    #[inline(always)]
    pub(in crate::sched) fn make_due(&self) -> u32 {
        self.ticks_to_maintenance.replace(0)
    }

    /// Sets the dispatches until the next maintenance.
    #[inline(always)]
    pub(in crate::sched) fn set_left(&self, dispatches: u32) {
        self.ticks_to_maintenance.set(dispatches);
    }
}

#[cfg(test)]
impl Maintenance {
    /// Pretends that `dispatches` dispatches have passed without a look at the injector.
    pub(in crate::sched) fn pretend_injector(&self, dispatches: u32) {
        self.since_injector.set(dispatches);
    }

    /// Measures no run that came before.
    pub(in crate::sched) fn forget_runs(&self) {
        self.measured_at.set(0);
    }

    pub(in crate::sched) fn set_oldest_due(&self, at: u64) {
        self.oldest_due.set(at);
    }

    pub(in crate::sched) fn oldest_due(&self) -> u64 {
        self.oldest_due.get()
    }
}

impl Worker {
    /// Makes the worker go through everything before it runs another fiber.
    pub(in crate::sched) fn force_maintenance(&self) {
        self.maintenance.set_left(0);
        self.trace.forget_round();
    }

    /// Returns the next fiber to run, without looking at other workers. On the worker's own stack.
    pub(in crate::sched) fn find(&self) -> Option<FiberPtr> {
        if self.maintenance.is_due()
            && let Some(fiber) = self.take_first().or_else(|| self.maintain())
        {
            return Some(fiber);
        }
        if self.search.is_active() {
            return self.find_and_pass_on();
        }
        self.find_hot(self.remote()).or_else(|| self.find_further())
    }

    /// Returns the next fiber out of the queues that only this worker fills. Also returns `None`
    /// when something else is due; then call [`find`](Self::find). `remote` is the worker's own,
    /// loaded by the caller.
    #[inline(always)]
    pub(super) fn find_hot(&self, remote: &Remote) -> Option<FiberPtr> {
        let left = self.maintenance.ticks_to_maintenance.get();
        if left == 0 {
            return None;
        }
        self.maintenance.ticks_to_maintenance.set(left - 1);
        // PERF: when nothing is fresh and nothing was just woken, as among fibers that only yield,
        // only the ready list has fibers.
        if remote.next.is_empty() && remote.ring.is_empty() {
            self.queues.end_streak();
            return self.pop_ready();
        }
        self.find_among_all()
    }

    fn find_among_all(&self) -> Option<FiberPtr> {
        match self.take_next() {
            Some(fiber) => Some(fiber),
            None => self.take_queued(),
        }
    }

    /// As `find`, for a worker that still owes a search: passes the search on if it finds a fiber.
    #[cold]
    fn find_and_pass_on(&self) -> Option<FiberPtr> {
        let found = self.find_among_all();
        if found.is_some() {
            self.pass_search_on();
            return found;
        }
        self.find_further()
    }

    /// Does the work due every round: the inbox, the timers, one fiber that was placed here or of
    /// the injector, and a look at the pool's phase.
    #[cold]
    fn maintain(&self) -> Option<FiberPtr> {
        let interval = self.maintenance.intervals.injector_interval();
        let now = clock::now();
        let local = current::local();
        local.set_moment(now);
        self.measure_intervals(local, now);
        let round = self.maintenance.round.get().min(interval);
        self.maintenance
            .round
            .set(MAINTENANCE_INTERVAL.min(2 * self.maintenance.round.get()));
        self.maintenance.ticks_to_maintenance.set(round);
        self.maintenance.measured_at.set(round);
        self.trace.count_to_sample(round);
        self.notice_phase();
        self.follow_duty();
        // A fiber that gets a stack here is in the ring, where the worker looks next.
        let _ = self.release_cached_stacks();
        self.drain_inbox();
        self.fire_timers(now);
        self.ask_driver();
        if self.has_placed()
            && let Some(fiber) = self.take_placed()
        {
            return Some(fiber);
        }
        let since = self.maintenance.since_injector.get() + round;
        if since < interval {
            self.maintenance.since_injector.set(since);
            return None;
        }
        self.maintenance.since_injector.set(0);
        let injector = &self.pool.injector;
        if injector.is_empty() || self.is_taken() {
            return None;
        }
        // The oldest of what spilled must not starve under what spills on top of it.
        let end = match now >= self.maintenance.oldest_due.get() {
            true => End::OldestSpilled,
            false => End::Newest,
        };
        if end == End::OldestSpilled {
            self.maintenance.oldest_due.set(now + OLDEST);
        }
        // One fiber only: it runs before the local work, the rest comes in its turn.
        let shard = self.pool.shard(self.index);
        let own = injector.pop_batch(shard, 1, end).pop_front();
        let fiber = own.or_else(|| injector.pop_any(shard, 1).pop_front())?;
        self.remote().counters.injector_batches.increment();
        self.record(Kind::Fetch, fiber);
        if self.search.is_active() {
            self.pass_search_on();
        }
        Some(fiber)
    }

    /// Looks at the queues that cost more than the worker's own.
    #[cold]
    fn find_further(&self) -> Option<FiberPtr> {
        self.notice_phase();
        self.drain_inbox();
        let (now, local) = (clock::now(), current::local());
        local.set_moment(now);
        // A worker with few fibers of long runs would not complete a round for a long time.
        self.measure_intervals(local, now);
        self.fire_timers(now);
        self.ask_driver();
        let found = self
            .pop_ready()
            .or_else(|| self.take_placed())
            .or_else(|| self.fetch());
        if found.is_some() && self.search.is_active() {
            self.pass_search_on();
        }
        found
    }

    /// Measures the runs since the last call.
    fn measure_intervals(&self, local: &Local, now: u64) {
        let left = self.maintenance.ticks_to_maintenance.get();
        let runs = self
            .maintenance
            .measured_at
            .replace(left)
            .saturating_sub(left);
        if runs == 0 {
            return self.maintenance.intervals.resume(now);
        }
        self.maintenance.intervals.round(runs, now);
        local.set_slow(self.maintenance.intervals.is_slow());
    }

    /// Resumes measuring after the worker has not run fibers. The rounds after a sleep are short,
    /// so that it soon notices that its fibers compute for long.
    pub(in crate::sched) fn resume_intervals(&self) {
        self.maintenance.intervals.resume(clock::now());
        self.maintenance.round.set(MAINTENANCE_AFTER_SLEEP);
        let left = self
            .maintenance
            .ticks_to_maintenance
            .get()
            .min(MAINTENANCE_AFTER_SLEEP);
        self.maintenance.ticks_to_maintenance.set(left);
        self.maintenance.measured_at.set(left);
    }

    /// Fetches a fair share of the injector: the own shard first, then the others.
    pub(in crate::sched) fn fetch(&self) -> Option<FiberPtr> {
        let injector = &self.pool.injector;
        let queued = injector.len();
        if queued == 0 || self.is_taken() {
            return None;
        }
        if self.pool.scheduler() == Scheduler::SingleQueue {
            return injector.pop_batch(0, 1, End::Oldest).pop_front();
        }
        let share = queued / self.pool.workers() + 1;
        let room = self.remote().ring.free_slots();
        let n = (share as u32).min(BATCH).min(room + 1);
        let shard = self.pool.shard(self.index);
        let mut batch = injector.pop_batch(shard, n, End::Newest);
        if batch.is_empty() {
            batch = injector.pop_any(shard, n);
        }
        let first = batch.pop_front()?;
        self.remote().counters.injector_batches.increment();
        self.record(Kind::Fetch, first);
        self.keep_batch(batch);
        Some(first)
    }

    fn keep_batch(&self, mut batch: Fifo<FiberHead>) {
        if batch.is_empty() {
            return;
        }
        while let Some(fiber) = batch.pop_front() {
            self.keep_fresh(fiber);
        }
        self.have_watched();
    }

    /// Makes the monitor watch, since this worker has fetched more than it runs now. LIVENESS: the
    /// monitor may have stopped while all slept; the others still sleep, and nothing else wakes
    /// them for so little.
    pub(in crate::sched) fn have_watched(&self) {
        if self.pool.idle.sleepers_hint() {
            self.pool.monitor.attend();
        } else {
            self.pool.monitor.resume_if_stopped();
        }
    }
}
