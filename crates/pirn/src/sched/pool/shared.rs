//! The pool: what the workers of one runtime share.
//!
//! Owns: the queues that several workers reach, the set of sleepers, the stacks, the phase of the
//! pool's life, and the threads. Does not own: what only one worker touches (`worker`).
//!
//! Phases, each entered once and in this order:
//!
//! | phase | entered by | new fibers from outside | new fibers from fibers | started fibers |
//! |---|---|---|---|---|
//! | Open | birth | yes | yes | run |
//! | Draining | drop of the runtime | no | yes | run |
//! | Cancelled | `shutdown` | no | no | run, every interruptible wait refused |
//! | Stopped | when nothing is left, or the time is up | no | no | continue, on workers that are not waited for |

use std::any::Any;
use std::io;
use std::sync::Arc;

use crate::context::StackPool;
use crate::events::{Event, LogMask, Outside, log};
use crate::fiber::token::Node;
use crate::fiber::{FiberHead, FiberPtr};
use crate::sched::config::{Config, Scheduler};
use crate::sched::deadlock::detector;
use crate::sched::placement::lines::Lines;
use crate::sched::policy::scale::Scale;
use crate::sched::policy::sysmon::Monitor;
use crate::sched::policy::threads::Threads;
use crate::sched::pool::counters::{Counter, Counters};
use crate::sched::pool::idle::Idle;
use crate::sched::pool::quiescence::{Quiet, live};
use crate::sched::pool::registry;
use crate::sched::pool::remote::Remotes;
use crate::sched::pool::stack_waiters::StackWaiters;
use crate::sched::pool::worker_state::WorkerState;
use crate::sched::queue::injector::Injector;
use crate::sched::report::snapshot::SnapshotRequests;
use crate::sched::stall::StallCounts;
use crate::shim::Mutex;
use crate::shim::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering, fence};
use crate::shim::thread::ThreadId;

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
    pub(in crate::sched) scale: Scale,
    pub(in crate::sched) quiet: Quiet,
    /// Fibers that came from threads outside, including those that were refused.
    pub(in crate::sched) outside: Counter,
    pub(in crate::sched) rejected_spawns: Counter,
    /// Workers that the monitor has woken because work had aged.
    pub(in crate::sched) aged_wakes: Counter,
    /// Workers that were woken neither by a worker nor because of age.
    pub(in crate::sched) outside_wakes: Counter,
    pub(in crate::sched) stalls: Arc<StallCounts>,
    outside_events: Outside,
    /// Lost wakes that the monitor made up for.
    pub(in crate::sched) rescues: Counter,
    /// The cancellation token above everything that runs here.
    root: Arc<Node>,
    phase: AtomicU32,
    /// The intended number of running workers: the members (`sched::policy::standby`).
    members: AtomicUsize,
    round_robin: AtomicUsize,
    pub(in crate::sched) threads: Threads,
    /// The thread that drives the worker, if the pool has none.
    pub(in crate::sched) driver: Mutex<Option<ThreadId>>,
    pub(in crate::sched) snapshots: SnapshotRequests,
    /// The end has been reported.
    end_reported: AtomicBool,
}

/// The phase of the pool's life.
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub(crate) enum Phase {
    Open = 0,
    Draining = 1,
    Cancelled = 2,
    Stopped = 3,
}

impl Pool {
    /// Creates the pool and starts its first worker; the others start when there is work for them.
    ///
    /// # Errors
    /// The system's error if it has no memory for stacks or cannot create a thread.
    pub(crate) fn start(config: Config) -> io::Result<Arc<Pool>> {
        let workers = config.workers;
        let stacks = StackPool::new(config.stacks)?;
        stacks
            .ensure(None)
            .map_err(|why| io::Error::new(io::ErrorKind::OutOfMemory, why))?;
        let pool = Arc::new(Pool {
            remotes: Remotes::new(
                workers,
                config.max_threads.max(Idle::room(workers)),
                config.watch,
                config.free,
                config.seed.is_some() || cfg!(shuttle),
            ),
            injector: Injector::new(workers),
            idle: Idle::new(workers),
            lines: Lines::new(config.spread_in_effect()),
            stacks,
            stack_waiters: StackWaiters::new(),
            monitor: Monitor::new(),
            scale: Scale::default(),
            quiet: Quiet::new(),
            outside: Counter::default(),
            rejected_spawns: Counter::default(),
            aged_wakes: Counter::default(),
            outside_wakes: Counter::default(),
            stalls: Arc::default(),
            outside_events: Outside::new(&config.watch),
            rescues: Counter::default(),
            root: Node::below([None, None]),
            phase: AtomicU32::new(Phase::Open as u32),
            members: AtomicUsize::new(workers),
            round_robin: AtomicUsize::new(0),
            threads: Threads::new(),
            driver: Mutex::new(None),
            snapshots: SnapshotRequests::new(),
            end_reported: AtomicBool::new(false),
            config,
        });
        registry::enter(&pool);
        let watched = Arc::downgrade(&pool);
        let closing = move || {
            if let Some(pool) = watched.upgrade() {
                pool.enter(Phase::Cancelled);
            }
        };
        // It cannot be cancelled yet, and it is never forgotten.
        let _ = pool.root.call_on(Box::new(closing));
        for worker in 0..workers {
            // A worker without a thread counts as asleep: waking it starts it.
            pool.remotes[worker].member.store(true, Ordering::Relaxed);
            let _ = pool.idle.announce(worker, false);
        }
        if pool.is_by_hand() {
            // Waking it leaves a token.
            pool.remotes[0].launched.store(true, Ordering::Release);
            return Ok(pool);
        }
        let first = pool.idle.claim_any(0).expect("all workers sleep");
        let mut launched = pool.launch(first);
        while pool.config.prewarm.is_some()
            && launched.is_ok()
            && let Some(next) = pool.idle.claim_any(0)
        {
            launched = pool.launch(next);
        }
        if let Err(error) = launched {
            pool.enter(Phase::Stopped);
            pool.join_threads(&[]);
            return Err(error);
        }
        pool.warm_stacks(pool.config.prewarm.unwrap_or(0));
        detector::start(&pool);
        let watched =
            (workers > 1 && !pool.config.exclusive) || pool.stall_threshold().is_some();
        if (watched || pool.is_elastic() || pool.is_free())
            && let Err(error) = pool.launch_monitor()
        {
            pool.enter(Phase::Stopped);
            pool.join_threads(&[]);
            return Err(error);
        }
        Ok(pool)
    }

    /// True if a stack of `size` bytes exists or can be created.
    pub(crate) fn can_give(&self, size: usize) -> bool {
        self.stacks.ensure(Some(size)).is_ok()
    }

    /// Prepares the first page of `n` stacks, or of all stacks if there can only be fewer.
    fn warm_stacks(&self, n: usize) {
        let stacks: Vec<_> = (0..n).map_while(|_| self.stacks.take().ok()).collect();
        for stack in stacks {
            // Touches the page where a fiber's first frames are.
            // SAFETY: no fiber uses the stack, so it has no owner.
            unsafe { stack.set_owner(std::ptr::null()) };
            self.stacks.give(stack);
        }
    }

    /// The intended number of running workers.
    pub(crate) fn workers(&self) -> usize {
        self.members.load(Ordering::Relaxed)
    }

    /// *Under the lock of `threads`.*
    pub(in crate::sched) fn set_members(&self, members: usize) {
        // ORDERING: Release: after the places of new members have been filled.
        self.members.store(members, Ordering::Release);
    }

    pub(crate) fn scheduler(&self) -> Scheduler {
        self.config.scheduler
    }

    /// Returns the token above everything that runs here. Cancelling it closes admission and
    /// interrupts all fibers.
    pub(crate) fn root(&self) -> &Arc<Node> {
        &self.root
    }

    pub(crate) fn name(&self) -> &str {
        &self.config.name
    }

    /// Returns what the user has provided for the code that runs here.
    #[cfg_attr(
        any(not(feature = "tokio"), loom, shuttle),
        expect(dead_code, reason = "asked for by what a feature brings")
    )]
    pub(crate) fn attached(&self) -> Option<&(dyn Any + Send + Sync)> {
        self.config.attached.as_deref()
    }

    #[inline(always)]
    pub(crate) fn phase(&self) -> Phase {
        // ORDERING: SeqCst: pairs with the SeqCst count of fibers from outside, see `admit`.
        match self.phase.load(Ordering::SeqCst) {
            0 => Phase::Open,
            1 => Phase::Draining,
            2 => Phase::Cancelled,
            _ => Phase::Stopped,
        }
    }

    /// Advances the pool's phase (never back) and makes every worker take notice.
    pub(in crate::sched) fn enter(self: &Arc<Self>, phase: Phase) {
        self.phase.fetch_max(phase as u32, Ordering::SeqCst);
        if phase >= Phase::Cancelled {
            self.cancel_started();
        }
        self.wake_all_workers();
        self.monitor.rouse();
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
    /// phase before it looks at the count, all in one total order: so either the fiber is refused,
    /// or it is waited for.
    pub(in crate::sched) fn admit(&self) -> bool {
        self.outside.increment_shared();
        if self.phase() == Phase::Open {
            return true;
        }
        self.rejected_spawns.increment_shared();
        // LIVENESS: a thread that adds up between the two counts sees a fiber too many, and nothing
        // else would make it add up again.
        self.quiet.check(|| live(self));
        false
    }

    /// Queues a fresh fiber from a thread that is no worker of this pool.
    pub(in crate::sched) fn inject(self: &Arc<Self>, fiber: FiberPtr) {
        // H2: no other thread has the fiber yet.
        let header = fiber.header();
        header.placement.set(self.lines.tag(header.location()));
        self.inject_tagged(fiber);
    }

    /// As [`inject`](Self::inject), with the placement that the fiber has.
    pub(in crate::sched) fn inject_tagged(self: &Arc<Self>, fiber: FiberPtr) {
        // ORDERING: Relaxed: spreads the load; nothing depends on the value.
        let turn = self.round_robin.fetch_add(1, Ordering::Relaxed);
        // H2: no other thread has the fiber yet.
        let header = fiber.header();
        self.outside_events.record_spawn(header);
        self.say(LogMask::INJECT, || {
            format!(
                "fiber {} comes from outside, {}",
                header.id(),
                header.location()
            )
        });
        if self.inject_from(turn, fiber) {
            self.outside_wakes.increment_shared();
        }
    }

    /// Queues a started fiber that another thread has woken, where fibers may migrate.
    pub(in crate::sched) fn inject_woken(self: &Arc<Self>, fiber: FiberPtr) {
        let turn = self.round_robin.fetch_add(1, Ordering::Relaxed);
        if self.inject_from(turn, fiber) {
            self.outside_wakes.increment_shared();
        }
    }

    /// Queues a fresh fiber in the shard that belongs to the worker `from`. True if a worker was
    /// woken.
    pub(in crate::sched) fn inject_from(
        self: &Arc<Self>,
        from: usize,
        fiber: FiberPtr,
    ) -> bool {
        self.injector.push(self.shard(from), fiber);
        self.wake_one(from)
    }

    /// Wakes a sleeping worker for work that any worker may take, unless one searches. Where each
    /// worker takes one fiber only, always wakes one, preferably one that has a thread. True if one
    /// was woken.
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
                    // thread that sees a worker awake that the monitor saw asleep sees that it has
                    // stopped.
                    fence(Ordering::SeqCst);
                    self.monitor.resume_if_stopped();
                }
                false
            }
        }
    }

    /// True if any queue that a thief may take from is not empty.
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
        if let Some(at_end) = &self.config.at_end
            && !self.end_reported.swap(true, Ordering::AcqRel)
        {
            at_end(self);
        }
    }

    /// True if events are kept.
    pub(crate) fn keeps_events(&self) -> bool {
        self.config.watch.trace
    }

    /// Returns the events that are still there, oldest first, with the number of those that are
    /// not: of each worker, and last of threads outside. Empty if none are kept.
    pub(crate) fn events(&self) -> Vec<(Vec<Event>, u64)> {
        let rings = self.remotes.iter().map(|remote| &remote.watched.events);
        let workers = rings.flatten().map(|ring| ring.read());
        workers.chain([self.outside_events.read()]).collect()
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
        let rejected_spawns = self.rejected_spawns.get();
        self.outside.get() - rejected_spawns
    }

    /// The number of workers that were woken because work had aged.
    pub(crate) fn aged_wakes(&self) -> u64 {
        self.aged_wakes.get()
    }

    /// The number of workers that were woken neither by a worker nor because work had aged.
    pub(crate) fn outside_wakes(&self) -> u64 {
        self.outside_wakes.get()
    }

    /// Lost wakes that were made up for. Anything but zero is a bug of the runtime.
    pub(crate) fn rescues(&self) -> u64 {
        self.rescues.get()
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
