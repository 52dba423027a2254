//! The pool: what the workers of one runtime share.
//!
//! Owns: the queues that several workers reach, the set of sleepers, the stacks, the phase of the
//! pool's life (`phase`), and the threads. Does not own: what only one worker touches (`worker`),
//! nor the decisions about threads, which it reaches through [`Policy`] (`sched::policy`).

use std::any::Any;
use std::io;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

use crate::context::StackPool;
use crate::events::{Event, LogMask, log};
use crate::fiber::token::Node;
use crate::fiber::{FiberHead, FiberPtr};
use crate::sched::config::{Config, Scheduler};
use crate::sched::placement::lines::Lines;
use crate::sched::pool::arrivals::Arrivals;
use crate::sched::pool::counters::{Counters, WakeCounts};
use crate::sched::pool::idle::Idle;
use crate::sched::pool::phase::{Life, Phase};
use crate::sched::pool::quiescence::{Quiet, balance};
use crate::sched::pool::remote::Remotes;
use crate::sched::pool::requests::Requests;
use crate::sched::pool::stack_waiters::StackWaiters;
use crate::sched::pool::threads::monitor::Monitor;
use crate::sched::pool::threads::thread_list::Threads;
use crate::sched::pool::worker_state::WorkerState;
use crate::sched::queue::injector::Injector;
use crate::shim;
use crate::shim::atomic::{AtomicBool, Ordering, fence};

/// One set of workers and everything they share.
pub(crate) struct Pool {
    pub(in crate::sched) config: Config,
    pub(in crate::sched) remotes: Remotes,
    pub(in crate::sched) injector: Injector<FiberHead>,
    pub(in crate::sched) idle: Idle,
    pub(in crate::sched) lines: Lines,
    pub(in crate::sched) stacks: StackPool,
    pub(in crate::sched) stack_waiters: StackWaiters,
    pub(in crate::sched) monitor: Monitor,
    pub(in crate::sched) quiet: Quiet,
    /// The number of fibers spawned by threads outside, and their events.
    pub(in crate::sched) arrivals: Arrivals,
    pub(in crate::sched) wakes: WakeCounts,
    life: Life,
    pub(in crate::sched) threads: Threads,
    pub(in crate::sched) requests: Requests,
    outer: Outer,
}

// UNWIND: each change of a pool is complete before code of its user runs, which may panic. With it
// `Runtime`, `Handle` and `Dispatcher` have the traits.
impl UnwindSafe for Pool {}
impl RefUnwindSafe for Pool {}

/// The upper modules that a pool calls.
struct Outer {
    policy: &'static dyn Policy,
    at_end: Option<AtEnd>,
    /// The end has been reported.
    end_reported: AtomicBool,
}

/// The report on a pool at its end.
pub(crate) type AtEnd = Box<dyn Fn(&Pool) + Send + Sync>;

/// The requests of a pool and its workers to the code that decides about threads. All are rare.
pub(in crate::sched) trait Policy: Send + Sync {
    /// Starts the thread of a member that has none. The caller has claimed the member, to wake it.
    fn launch(&self, pool: &Arc<Pool>, worker: usize);

    /// Starts the thread of the monitor, unless there is one or the system cannot create it.
    fn watch(&self, pool: &Arc<Pool>);

    /// Ends the thread of a worker, as its last act, while the pool lives.
    fn leave(&self, pool: &Arc<Pool>, worker: usize, member: bool);
}

impl Pool {
    /// Creates the pool, without a thread.
    ///
    /// # Errors
    /// Kind `OutOfMemory`: the system has no memory for one stack. Kind `InvalidInput`: no address
    /// space could hold a stack of the configured size.
    pub(in crate::sched) fn new(
        config: Config,
        policy: &'static dyn Policy,
        at_end: Option<AtEnd>,
    ) -> io::Result<Arc<Pool>> {
        let workers = config.workers;
        let stacks = StackPool::new(config.stacks)?;
        stacks
            .ensure(None)
            .map_err(|why| io::Error::new(io::ErrorKind::OutOfMemory, why))?;
        let pool = Arc::new(Pool {
            remotes: Remotes::new(
                workers,
                config.threads.most.max(Idle::room(workers)),
                config.watch,
                config.free,
                config.seed.is_some() || shim::SEEDED,
            ),
            injector: Injector::new(workers),
            idle: Idle::new(workers),
            lines: Lines::new(config.spread_in_effect()),
            stacks,
            stack_waiters: StackWaiters::new(),
            monitor: Monitor::new(),
            quiet: Quiet::new(),
            arrivals: Arrivals::new(&config.watch),
            wakes: WakeCounts::default(),
            life: Life::new(),
            threads: Threads::new(workers),
            requests: Requests::new(),
            outer: Outer {
                policy,
                at_end,
                end_reported: AtomicBool::new(false),
            },
            config,
        });
        let watched = Arc::downgrade(&pool);
        let closing = move || {
            if let Some(pool) = watched.upgrade() {
                pool.enter(Phase::Cancelled);
            }
        };
        // The root cannot be cancelled yet, and the callback is never removed.
        let _ = pool.root().call_on(Box::new(closing));
        for worker in 0..workers {
            // A worker without a thread counts as asleep: waking it starts it.
            pool.remotes[worker].thread.set_member(true);
            let _ = pool.idle.announce(worker, false);
        }
        Ok(pool)
    }

    /// True if a stack of `size` bytes exists or can be created.
    pub(crate) fn can_give(&self, size: usize) -> bool {
        self.stacks.ensure(Some(size)).is_ok()
    }

    /// The intended number of running workers.
    pub(crate) fn workers(&self) -> usize {
        self.threads.members()
    }

    pub(crate) fn scheduler(&self) -> Scheduler {
        self.config.scheduler
    }

    /// Returns the token above everything that runs here. Cancelling it closes admission and
    /// interrupts all fibers.
    pub(crate) fn root(&self) -> &Arc<Node> {
        self.life.root()
    }

    pub(crate) fn name(&self) -> &str {
        &self.config.name
    }

    /// Returns the value that the user has attached to the runtime.
    #[cfg_attr(
        any(not(feature = "tokio"), pirn_modelled),
        expect(dead_code, reason = "asked for by what a feature brings")
    )]
    pub(crate) fn attached(&self) -> Option<&(dyn Any + Send + Sync)> {
        self.config.attached.as_deref()
    }

    #[inline(always)]
    pub(crate) fn phase(&self) -> Phase {
        self.life.phase()
    }

    /// Advances the pool's phase (never back) and makes every worker take notice.
    pub(in crate::sched) fn enter(self: &Arc<Self>, phase: Phase) {
        self.life.advance(phase);
        if phase >= Phase::Cancelled {
            self.remotes.cancel_started();
        }
        self.wake_all_workers();
        self.monitor.look_now();
    }

    /// Makes every sleeping worker look around once.
    pub(in crate::sched) fn wake_all_workers(&self) {
        for remote in self.remotes.iter() {
            remote.inbox.unpark();
        }
    }

    /// Counts a fiber from outside in; false if the pool takes none any more.
    ///
    /// The count comes before the look at the phase, and the thread that ends the pool sets the
    /// phase before it looks at the count, all in one total order: so either the fiber is rejected,
    /// or it is waited for.
    pub(in crate::sched) fn admit(&self) -> bool {
        self.arrivals.admit();
        if self.phase() == Phase::Open {
            return true;
        }
        self.refuse_admitted();
        false
    }

    /// Counts a fiber out that has been counted in from outside, and does not come.
    #[cold]
    fn refuse_admitted(&self) {
        self.arrivals.reject();
        // LIVENESS: a thread that adds up between the two counts sees a fiber too many, and nothing
        // else would make it add up again.
        self.quiet.check(|| self.live());
        if self.is_by_hand() {
            // LIVENESS: the thread that drives it to its end may have added up then.
            self.remotes[0].inbox.unpark();
        }
    }

    /// Queues a fresh fiber from a thread that is no worker of this pool, and that has counted it
    /// in by [`admit`](Self::admit). Gives it back if the pool has stopped meanwhile.
    pub(in crate::sched) fn inject(
        self: &Arc<Self>,
        fiber: FiberPtr,
    ) -> Result<(), FiberPtr> {
        // H2: no other thread has the fiber yet.
        let header = fiber.header();
        header.placement.set(self.lines.tag(header.location()));
        let queued = self.inject_tagged(fiber);
        if queued.is_err() {
            self.lines.untag(header.placement.replace(0));
        }
        queued
    }

    /// As [`inject`](Self::inject), with the placement that the fiber has.
    pub(in crate::sched) fn inject_tagged(
        self: &Arc<Self>,
        fiber: FiberPtr,
    ) -> Result<(), FiberPtr> {
        let turn = self.arrivals.next_turn();
        // H2: no other thread has the fiber yet.
        let header = fiber.header();
        self.arrivals.record_spawn(header);
        self.say(LogMask::INJECT, || {
            format!(
                "fiber {} comes from outside, {}",
                header.id(),
                header.location()
            )
        });
        if self.inject_from(turn, fiber) {
            self.wakes.outside.increment_shared();
        }
        match self.takes_back(turn, fiber) {
            true => Err(fiber),
            false => Ok(()),
        }
    }

    /// Called by a thread that is no worker of this pool, after `inject_from`. If the pool has
    /// stopped, no worker may be left to take the fiber: takes it out of the queue, and counts it
    /// out. False if it stays, or a worker has it.
    ///
    /// LIVENESS: a fiber is pushed, then comes the fence of `wake_one`, then this look at the
    /// phase. A worker that ends has seen Stopped, then comes a fence, then its last look at the
    /// queues (`Worker::last_look`). Of two fences one is the first: either this look sees Stopped,
    /// or each worker that ends after that sees the fiber. (A worker that leaves before the end
    /// announces itself as asleep, and looks after that. A pool that is driven by hand keeps what
    /// is queued.)
    fn takes_back(&self, from: usize, fiber: FiberPtr) -> bool {
        // The fiber may have run since, and be here again because it has been woken.
        let still = || fiber.header().is_fresh();
        let taken = self.phase() == Phase::Stopped
            && self.injector.take_back(self.shard(from), fiber, still);
        if taken {
            self.refuse_admitted();
        }
        taken
    }

    /// Queues a started fiber that another thread has woken, where fibers may migrate.
    pub(in crate::sched) fn inject_woken(self: &Arc<Self>, fiber: FiberPtr) {
        let turn = self.arrivals.next_turn();
        if self.inject_from(turn, fiber) {
            self.wakes.outside.increment_shared();
        }
    }

    /// Queues a fiber in the shard of the worker `from`: a fresh one, or one that may migrate. True
    /// if a worker was woken.
    pub(in crate::sched) fn inject_from(
        self: &Arc<Self>,
        from: usize,
        fiber: FiberPtr,
    ) -> bool {
        self.injector.push(self.shard(from), fiber);
        self.wake_one(from)
    }

    /// Wakes a sleeping worker for work that any worker may take, unless one searches. Where a
    /// worker takes one fiber only, wakes one even then, preferably one that has a thread. True if
    /// one was woken.
    pub(in crate::sched) fn wake_one(self: &Arc<Self>, from: usize) -> bool {
        let claimed = match self.config.exclusive {
            false => self.idle.claim_sleeper(from % self.workers()),
            true => self.idle.claim_any(0),
        };
        match claimed {
            Some(worker) => {
                self.wake(worker);
                true
            }
            None => {
                if !self.idle.sleepers_hint() {
                    // ORDERING: orders the look at the sleepers before that at the monitor: a
                    // thread that sees a worker awake that the monitor saw asleep sees that the
                    // monitor has stopped.
                    fence(Ordering::SeqCst);
                    self.monitor.resume_if_stopped();
                }
                false
            }
        }
    }

    /// Wakes the thread of a member that the caller has claimed, or starts it.
    pub(in crate::sched) fn wake(self: &Arc<Self>, worker: usize) {
        let remote = &self.remotes[worker];
        if remote.thread.can_be_woken() {
            remote.inbox.unpark();
        } else {
            self.policy().launch(self, worker);
        }
    }

    /// Returns the decisions about threads.
    pub(in crate::sched) fn policy(&self) -> &'static dyn Policy {
        self.outer.policy
    }

    /// The number of live fibers; never too few, and exact when nothing runs.
    pub(in crate::sched) fn live(&self) -> u64 {
        balance(
            || self.remotes.iter().map(|remote| &*remote.counters),
            self.arrivals.spawned(),
            self.arrivals.rejected_spawns(),
        )
    }

    /// Checks for quiescence, if a party waits for it. Called after the end of a fiber and before a
    /// worker sleeps.
    #[inline(always)]
    pub(in crate::sched) fn look_for_quiet(&self) {
        self.quiet.check_if_watched(|| self.live());
    }

    /// Returns the injector shard of this worker. Workers share shards if there are more workers
    /// than at the start. With `SingleQueue` all use the first one.
    #[inline]
    pub(in crate::sched) fn shard(&self, worker: usize) -> usize {
        match self.scheduler() {
            Scheduler::SingleQueue => 0,
            Scheduler::WorkStealing => worker % self.injector.shards(),
        }
    }

    /// True if the pool has no threads, and runs only when it is driven.
    #[inline]
    pub(crate) fn is_by_hand(&self) -> bool {
        self.config.by_hand
    }

    /// True if fibers may migrate here.
    pub(crate) fn is_free(&self) -> bool {
        self.config.free
    }

    /// True if there may ever be more threads than the members of the start.
    pub(in crate::sched) fn is_elastic(&self) -> bool {
        self.config.threads.most > self.config.workers
    }

    /// True if any queue that a thief may take from is not empty; `next` slots are not looked at.
    pub(in crate::sched) fn has_visible_work(&self) -> bool {
        !self.injector.is_empty() || self.remotes.iter().any(|remote| remote.queued() > 0)
    }

    /// True if events of `category` are reported on standard error.
    #[inline]
    pub(in crate::sched) fn logs(&self, category: LogMask) -> bool {
        self.config.watch.log.intersects(category)
    }

    /// Writes a message about this pool to standard error, if `category` is enabled.
    #[inline]
    pub(in crate::sched) fn say(&self, category: LogMask, what: impl FnOnce() -> String) {
        if self.logs(category) {
            log(category, self.name(), format_args!(": {}", what()));
        }
    }

    /// Reports the end of the pool; only the first call does.
    pub(crate) fn report_end(&self) {
        if let Some(at_end) = &self.outer.at_end
            && !self.outer.end_reported.swap(true, Ordering::AcqRel)
        {
            at_end(self);
        }
    }

    /// True once the end is being reported: the pool has stopped, or the process exits.
    pub(crate) fn is_end_reported(&self) -> bool {
        self.outer.end_reported.load(Ordering::Acquire)
    }

    /// True if events are kept.
    pub(crate) fn keeps_events(&self) -> bool {
        self.config.watch.trace
    }

    /// Returns the kept events, oldest first, and the number of lost ones: of each worker, and last
    /// of threads outside. Only the last entry, without events, if none are kept.
    pub(crate) fn events(&self) -> Vec<(Vec<Event>, u64)> {
        let rings = self.remotes.iter().map(|remote| &remote.watched.events);
        let workers = rings.flatten().map(|ring| ring.read());
        workers.chain([self.arrivals.events()]).collect()
    }

    /// Returns the names of fibers that have started, by identity, if events are kept.
    pub(crate) fn fiber_names(&self) -> Vec<(u64, String)> {
        let names = self.remotes.iter().map(|remote| remote.watched.names());
        names.flatten().collect()
    }

    /// Returns the counters of each worker.
    pub(crate) fn counters(&self) -> Vec<Counters> {
        self.remotes
            .iter()
            .map(|remote| remote.counters.read())
            .collect()
    }

    /// Returns the state of each worker.
    pub(crate) fn worker_states(&self) -> Vec<WorkerState> {
        self.remotes
            .iter()
            .map(|remote| remote.state.get())
            .collect()
    }

    /// The number of fibers that other threads have spawned.
    pub(crate) fn spawned_outside(&self) -> u64 {
        let rejected = self.arrivals.rejected_spawns().get();
        self.arrivals.spawned().get() - rejected
    }

    /// The number of workers that were woken because work had aged.
    pub(crate) fn aged_wakes(&self) -> u64 {
        self.wakes.aged.get()
    }

    /// The number of wakes of workers that no worker counts as its own and that were not for aged
    /// work: those by threads outside, and those by the code that moves `placed` fibers to the
    /// injector, or that changes the number of threads.
    pub(crate) fn outside_wakes(&self) -> u64 {
        self.wakes.outside.get()
    }

    /// Lost wakes that were made up for. Anything but zero is a bug of the runtime.
    pub(crate) fn rescues(&self) -> u64 {
        self.wakes.rescues.get()
    }

    /// The number of fibers in the injector; for reports.
    pub(crate) fn injected(&self) -> usize {
        self.injector.len()
    }

    /// The number of started fibers of one worker that have not ended.
    pub(crate) fn settled(&self, worker: usize) -> usize {
        self.remotes[worker].settled.get()
    }

    /// The number of fibers that wait for a stack.
    pub(crate) fn stack_waiters(&self) -> usize {
        self.stack_waiters.len()
    }
}
