//! Balance: on which worker a tracked fiber starts.
//!
//! A fiber stays on the worker that starts it, so the load can be balanced only before the
//! start. A worker that is about to start a fiber of a spread line compares its number of live
//! fibers of that line with that of the member with the fewest. If its own number is larger
//! by more than a sixteenth, it hands the fiber to that member. It does so too if it has more than
//! twice as many started fibers of all lines as that member, plus [`SLACK`].
//! Where runs are long, a fiber that would start here goes behind the started ones that are
//! ready, [`DEFERRALS`] in a row at most, and others may steal it.
//!
//! Owns: that choice, and the hand-over. Does not own: which lines are spread (`lines`), nor
//! which worker finds the fiber first (`sched::worker::next_fiber`, `sched::worker::park`).
//!
//! The hand-over: the fiber is counted at the other worker, then pushed to its `placed` queue,
//! then that worker is claimed and woken if it sleeps.
//!
//! | `placed` queue | by | when |
//! |---|---|---|
//! | push | the worker that is about to start the fiber | another member is the better one, or the fiber starts apart (`holders`) |
//! | pop | its owner | at each maintenance, and before it looks at the injector |
//! | pop | an idle holder of the same kind | the owner is a stuck holder |
//! | take all | the monitor | a member runs one fiber for [`STUCK`]; a holder blocks for `RISE`; any owner has not popped for `ABSENT` |
//! | take all | the pusher, or the owner | the owner leaves the members, or gets no thread |
//!
//! Other members do not take from the queue. The worker that hands a fiber over is often the
//! first to be idle, and would take it back before the other one is awake.
//!
//! LIVENESS: push comes before [`Idle::claim_this`](crate::sched::pool::idle::Idle::claim_this),
//! which begins with a `SeqCst` fence; the owner announces its sleep, then a fence, then looks at
//! the queue (S3, S4 of `idle`). So either the pusher sees it asleep and wakes it, or it sees the
//! fiber. An owner that runs one fiber for long does not look at the queue. The monitor, which runs
//! while any worker is awake, moves its `placed` fibers to the injector.

use std::ptr;
use std::sync::Arc;
use std::time::Duration;

use crate::base::mutant::mutant;
use crate::events::Kind;
use crate::fiber::{FiberPtr, current};
use crate::sched::placement::holders::ThreadUse;
use crate::sched::placement::lines::{LineClass, PlacementTag, SpawnLine};
use crate::sched::pool::phase::Phase;
use crate::sched::pool::remote::Remote;
use crate::sched::pool::shared::Pool;
use crate::sched::pool::threads::duty::Duty;
use crate::sched::queue::injector::End;
use crate::sched::worker::run::Worker;
use crate::shim::atomic::{Ordering, fence};

/// A worker that runs one fiber for this long loses its `placed` fibers to the others.
pub(in crate::sched) const STUCK: Duration = Duration::from_millis(4);

/// A difference of up to one in this many fibers of a line is ignored, since fibers end in any
/// order. Arbitrary.
const HYSTERESIS: u64 = 16;

/// A worker may have twice as many started fibers of all lines as another one, and this many
/// more. Only this rule balances lines with one fiber each. Arbitrary: a handful of stacks.
const SLACK: usize = 8;

/// How often a worker chooses while others choose the same one. Arbitrary: more than that many
/// workers seldom choose within the same 100 ns.
const CHOICES: usize = 4;

/// Fresh fibers in a row that are put behind started ones. Arbitrary: a started fiber that spawns
/// more of them each time must not shut them out.
const DEFERRALS: u32 = 4;

impl Worker {
    /// Decides where the tracked `fiber` starts. Returns true for this worker; else the fiber has
    /// been handed to another one.
    #[cold]
    #[inline(never)]
    pub(in crate::sched) fn starts_here(&self, fiber: FiberPtr) -> bool {
        let header = fiber.header();
        let tag = PlacementTag(header.placement.get());
        let line = tag.line();
        if let Some(worker) = tag.worker() {
            if worker != self.index {
                // The fiber was moved to the injector, or had no stack.
                self.pool.remotes[worker].lines.count(line, -1);
                self.assign(fiber, line);
            }
            return true;
        }
        // The other workers may have ended.
        if self.pool.phase() >= Phase::Cancelled {
            self.assign(fiber, line);
            return true;
        }
        let asked = tag.is_apart().then_some(ThreadUse::Computes);
        if let Some(how) = self.pool.lines.class(line).holds().or(asked)
            && !tag.is_released()
        {
            self.runs_none();
            if self.pool.place_apart(fiber, line, how) {
                self.count_placed(line);
                self.pool.release_at_end();
                return false;
            }
        }
        let worker = self.count_at_best(line);
        if worker == self.index {
            return self.starts_now(fiber, tag);
        }
        self.runs_none();
        self.place_on(worker, fiber, line);
        false
    }

    /// Publishes that no fiber runs here. A worker that hands on hundreds of fibers starts as many
    /// threads; the time for that is not held by the fiber that ran last.
    fn runs_none(&self) {
        let running = &self.remote().running;
        running.store(ptr::null_mut(), Ordering::Relaxed);
    }

    /// Starts `fiber`, which has been counted here, or puts it behind the started fibers that are
    /// ready. Those can run nowhere else, and would wait for as long as it runs; it can be stolen.
    fn starts_now(&self, fiber: FiberPtr, tag: PlacementTag) -> bool {
        let may_defer = self.maintenance.intervals.is_slow()
            && self.has_ready()
            && self.pool.workers() > 1;
        let defers = may_defer && self.queues.defer(DEFERRALS);
        if defers {
            self.remote().lines.count(tag.line(), -1);
            self.keep_fresh(fiber);
        } else {
            self.queues.end_deferrals();
            fiber.header().placement.set(tag.assign(self.index).0);
        }
        if self.remote().queued() > 0 {
            self.offer_surplus();
        }
        !defers
    }

    /// Assigns `fiber` to this worker.
    fn assign(&self, fiber: FiberPtr, line: usize) {
        self.remote().lines.count(line, 1);
        fiber
            .header()
            .placement
            .set(PlacementTag::assigned(line, self.index).0);
    }

    /// Counts a fiber of `line` at the worker that should start it, and returns that worker.
    ///
    /// Workers choose at the same time. Of two that choose the same worker, the second sees it by
    /// the count, takes its own back, and chooses again.
    fn count_at_best(&self, line: usize) -> usize {
        for _ in 0..CHOICES {
            let here = self.remote().lines.live(line);
            let (worker, seen) =
                self.better_than_here(line).unwrap_or((self.index, here));
            let lines = &self.pool.remotes[worker].lines;
            let before = lines.count(line, 1);
            if before <= seen {
                return worker;
            }
            lines.count(line, -1);
        }
        self.remote().lines.count(line, 1);
        self.index
    }

    /// Returns the member that should start the next fiber of `line` in place of this worker, and
    /// the number of its fibers of the line.
    fn better_than_here(&self, line: usize) -> Option<(usize, u64)> {
        let pool = &self.pool;
        let class = pool.lines.class(line);
        if matches!(
            class,
            LineClass::Short | LineClass::Probe | LineClass::Together
        ) {
            return None;
        }
        let members = pool.workers();
        let least = (1..=members)
            .map(|step| (self.index + step) % members)
            .filter(|other| *other != self.index)
            .map(|other| (other, &pool.remotes[other]))
            .filter(|(_, remote)| remote.takes_placed())
            .map(|(other, remote)| {
                (remote.lines.live(line), remote.assigned(), other, remote)
            })
            .min_by_key(|(live, assigned, ..)| (*live, *assigned));
        let (there, _, other, remote) = least?;
        let here = self.live_here(line);
        let by_line = here > there + there / HYSTERESIS;
        let by_number = self.remote().settled.get() > 2 * remote.assigned() + SLACK;
        (by_line || by_number).then_some((other, there))
    }

    /// Returns the number of live fibers of `line` here, without one that has just ended and is
    /// still counted.
    fn live_here(&self, line: usize) -> u64 {
        let ended = current::local()
            .ended()
            .map(|fiber| PlacementTag(fiber.header().placement.get()))
            .is_some_and(|tag| tag.0 != 0 && tag.line() == line);
        self.remote()
            .lines
            .live(line)
            .saturating_sub(u64::from(ended))
    }

    /// Hands `fiber`, which has been counted there, to another worker.
    fn place_on(&self, other: usize, fiber: FiberPtr, line: usize) {
        let pool = &self.pool;
        self.count_placed(line);
        self.record_with(Kind::Place, fiber, other);
        pool.remotes[other].queue_placed(other, fiber);
        if mutant!("placed_unclaimed") {
            return;
        }
        match pool.idle.claim_this(other) {
            Some(sleeper) => {
                self.remote().counters.wakes.increment();
                pool.wake(sleeper);
            }
            // Meanwhile the worker has ceased to be a member, or may have ended (as in
            // `Pool::takes_back`); this one has not.
            None if !pool.remotes[other].thread.is_member()
                || pool.phase() == Phase::Stopped =>
            {
                pool.release_placed(other);
            }
            None => {}
        }
        // The monitor moves the fiber to the injector if the other worker does not pop it in time.
        self.have_watched();
    }

    fn count_placed(&self, line: usize) {
        self.remote().counters.placed_elsewhere.increment();
        self.pool.lines.count_placed(line);
    }

    /// Whether other workers have placed fibers here.
    #[inline(always)]
    pub(in crate::sched) fn has_placed(&self) -> bool {
        self.remote().placed.shard_len(0) != 0
    }

    /// Pops the next fiber that other workers have placed here.
    pub(in crate::sched) fn take_placed(&self) -> Option<FiberPtr> {
        if !self.has_placed() {
            return None;
        }
        let fiber = self.remote().pop_placed();
        if fiber.is_some() && self.search.is_active() {
            self.pass_search_on();
        }
        fiber
    }

    /// Counts the start of a tracked fiber, which has its stack now, and notes the time.
    #[cold]
    pub(in crate::sched) fn start_tracked(&self, fiber: FiberPtr) {
        let tag = PlacementTag(fiber.header().placement.get());
        if tag.worker().is_none() {
            // It starts on the worker of a fiber that waits for its end (`sched::worker::stacks`).
            self.remote().lines.count(tag.line(), 1);
        } else if tag.worker() != Some(self.index) {
            // The same, after it was assigned elsewhere.
            let before = tag.worker().map(|worker| &self.pool.remotes[worker]);
            before.inspect(|remote| {
                remote.lines.count(tag.line(), -1);
            });
            self.remote().lines.count(tag.line(), 1);
        }
        self.pool.lines.started(tag.line());
        fiber
            .header()
            .placement
            .set(PlacementTag::started(tag.line()).0);
    }

    /// Counts the end of a tracked fiber.
    #[cold]
    pub(in crate::sched) fn end_tracked(&self, fiber: FiberPtr) {
        let tag = PlacementTag(fiber.header().placement.replace(0));
        self.remote().lines.count(tag.line(), -1);
        self.pool.lines.ended(tag);
    }
}

impl Remote {
    /// The number of fibers that have started here and not ended, or are assigned to start here.
    pub(in crate::sched) fn assigned(&self) -> usize {
        self.settled.get().max(self.lines.total())
    }

    /// Assigns `fiber` to this worker, which has the number `worker`, and queues it there. The
    /// caller wakes the worker.
    pub(in crate::sched) fn place(&self, worker: usize, fiber: FiberPtr, line: usize) {
        self.lines.count(line, 1);
        self.queue_placed(worker, fiber);
    }

    fn queue_placed(&self, worker: usize, fiber: FiberPtr) {
        let tag = PlacementTag(fiber.header().placement.get());
        fiber.header().placement.set(tag.assign(worker).0);
        self.placed.push(0, fiber);
    }

    /// Pops the oldest of the fibers that were placed here.
    pub(super) fn pop_placed(&self) -> Option<FiberPtr> {
        self.placed.pop_batch(0, 1, End::Oldest).pop_front()
    }

    /// Whether fibers may be placed on this worker.
    fn takes_placed(&self) -> bool {
        self.thread.is_member()
            && self.thread.duty.get() != Duty::Draining
            && !self.notes.is_stuck()
    }
}

impl Pool {
    /// Moves the `placed` fibers of a worker to the injector. The worker that finds one assigns it
    /// once more, since one worker may find all of them. The second time, and where the fiber was
    /// to start apart, it starts on the worker that finds it: no fiber is handed over repeatedly.
    pub(in crate::sched) fn release_placed(self: &Arc<Self>, worker: usize) {
        let remote = &self.remotes[worker];
        let is_member = worker < self.workers();
        let mut batch = remote.placed.pop_batch(0, u32::MAX, End::Oldest);
        while let Some(fiber) = batch.pop_front() {
            let placement = &fiber.header().placement;
            let tag = PlacementTag(placement.get());
            if let Some(released) = tag.released().filter(|_| is_member) {
                remote.lines.count(tag.line(), -1);
                placement.set(released.0);
            }
            if self.inject_from(worker + 1, fiber) {
                self.wakes.outside.increment_shared();
            }
        }
    }

    /// Called by a worker that has handed a fiber to one that may have ended since: as in
    /// `Pool::takes_back`, but the caller finds it in the injector before it ends itself.
    fn release_at_end(self: &Arc<Self>) {
        fence(Ordering::SeqCst);
        if self.phase() == Phase::Stopped {
            (0..self.remotes.len()).for_each(|worker| self.release_placed(worker));
        }
    }

    /// Returns the history of the spawn lines.
    pub(crate) fn spawn_lines(&self) -> Vec<SpawnLine> {
        self.lines.list(|line| self.live_of_line(line))
    }

    /// Returns the number of live fibers of a spawn line, on all workers.
    pub(in crate::sched) fn live_of_line(&self, line: usize) -> u64 {
        let live = |remote: &Remote| remote.lines.live(line);
        self.remotes.iter().map(live).sum()
    }
}
