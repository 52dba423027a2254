//! Finding a worker's next fiber in its own queues and in the injector.
//!
//! Order: the maintenance is first, at least every `MAINTENANCE_INTERVAL` dispatches. Every
//! `injector_interval` dispatches it takes a fiber from the injector. Otherwise:
//! 1. The `next` slot, at most three in a row. While no other started fiber is ready, siblings run
//!    before a joiner (`take`).
//! 2. The ready list and the ring in alternation.
//! 3. The inbox, the timers and the driver; then what others have placed here
//!    (`sched::placement::balance`), the own injector shard, any shard.
//!
//! Stealing and sleeping are in `park`.

use crate::base::clock;
use crate::base::list::Fifo;
use crate::events::Kind;
use crate::fiber::current::{self, Local};
use crate::fiber::{FiberHead, FiberPtr};
use crate::sched::config::Scheduler;
use crate::sched::pool::remote::Remote;
use crate::sched::queue::injector::End;
use crate::sched::worker::run::Worker;

/// The most fibers fetched from the injector at once: a quarter of a ring. Arbitrary.
const BATCH: u32 = 64;

impl Worker {
    /// Makes the worker go through everything before it runs another fiber.
    pub(in crate::sched) fn force_maintenance(&self) {
        self.maintenance.set_left(0);
        self.trace.forget_round();
    }

    /// Returns the next fiber to run, without looking at other workers. Called on the worker's own
    /// stack.
    pub(in crate::sched) fn find(&self) -> Option<FiberPtr> {
        if self.maintenance.is_due()
            && let Some(fiber) = self.queues.take_first().or_else(|| self.maintain())
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
        if !self.maintenance.count_dispatch() {
            return None;
        }
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

    /// Does the work due every round: changes of the phase and of the duty, the inbox, the timers,
    /// the driver. Returns a fiber that was placed here, or one of the injector if that is due.
    #[cold]
    fn maintain(&self) -> Option<FiberPtr> {
        let interval = self.maintenance.intervals.injector_interval();
        let now = clock::now();
        let local = current::local();
        local.set_moment(now);
        self.measure_intervals(local, now);
        let round = self.maintenance.begin_round(interval);
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
        if !self.maintenance.is_injector_due(round, interval) {
            return None;
        }
        let injector = &self.pool.injector;
        if injector.is_empty() || self.is_taken() {
            return None;
        }
        // The oldest spilled fiber must not starve under fibers that spill on top of it. Nor must
        // those of another shard, while this one is never empty: the worker of the other one may be
        // stuck or gone.
        let own = self.pool.shard(self.index);
        let (shard, end) = match self.maintenance.oldest_turn(now) {
            None => (own, End::Newest),
            Some(turn) if turn % 2 == 0 => (own, End::OldestSpilled),
            Some(turn) => (turn / 2 % injector.shards(), End::Oldest),
        };
        // One fiber only: it runs before the local work, the rest comes in its turn.
        let first = injector.pop_batch(shard, 1, end).pop_front();
        let fiber = first.or_else(|| injector.pop_any(own, 1).pop_front())?;
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
        if self.maintenance.measure(now) {
            local.set_slow(self.maintenance.intervals.is_slow());
        }
    }

    /// Resumes measuring after the worker has not run fibers.
    pub(in crate::sched) fn resume_intervals(&self) {
        self.maintenance.resume(clock::now());
    }

    /// Fetches a fair share of the injector, from the own shard or else from the next one that has
    /// fibers. Returns the first fiber; the others go to the ring. With `SingleQueue`, fetches one.
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

    /// Makes the monitor watch, since this worker has queued more than it runs now, here or at
    /// another worker. LIVENESS: the monitor may have stopped while all slept; the others still
    /// sleep, and nothing else wakes them for so little.
    pub(in crate::sched) fn have_watched(&self) {
        if self.pool.idle.sleepers_hint() {
            self.pool.monitor.attend();
        } else {
            self.pool.monitor.resume_if_stopped();
        }
    }
}
