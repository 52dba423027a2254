//! The pool: what the workers of one runtime share.
//!
//! Owns: the queues that several workers reach, who sleeps, the stacks, the phase of the
//! pool's life, and the threads. Does not own: what only one worker touches (`worker`).
//!
//! Phases, each entered once and in this order:
//!
//! | phase | entered by | new fibers from outside | new fibers from fibers | started fibers |
//! |---|---|---|---|---|
//! | Open | birth | yes | yes | run |
//! | Draining | drop of the runtime | no | yes | run |
//! | Cancelled | `shutdown` | no | no | run, every interruptible wait refused |
//! | Stopped | when nothing is left, or the time is up | no | no | go on, on workers that nobody waits for |

use std::io;
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::Arc;

use super::config::{Config, Scheduler};
use super::counters::{Counter, Counters};
use super::events::{Event, LogMask, Outside, log};
use super::idle::Idle;
use super::injector::Injector;
use super::monitor::Monitor;
use super::quiet::{Quiet, live};
use super::remote::{Remote, Remotes};
use super::starved::Starved;
use super::threads::Threads;
use crate::context::StackPool;
use crate::fiber::token::Node;
use crate::fiber::{FiberPtr, Header};
use crate::shim::Mutex;
use crate::shim::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

/// One set of workers and everything they share.
pub(crate) struct Pool {
    pub(super) config: Config,
    pub(super) remotes: Remotes,
    pub(super) injector: Injector<Header>,
    pub(super) idle: Idle,
    pub(super) stacks: StackPool,
    pub(super) starved: Starved,
    pub(super) monitor: Monitor,
    pub(super) quiet: Quiet,
    /// Fibers that came from threads outside, those that were refused included.
    pub(super) outside: Counter,
    pub(super) refused: Counter,
    /// Workers that the monitor has woken because work had aged.
    pub(super) aged_wakes: Counter,
    /// Workers that threads outside have woken.
    pub(super) outside_wakes: Counter,
    /// Fibers that were reported because others had to wait for them.
    pub(super) slow_fibers: Counter,
    outside_events: Outside,
    /// Wakes that had been lost, and that the monitor made good.
    pub(super) rescues: Counter,
    /// What everything that runs here is under.
    root: Arc<Node>,
    phase: AtomicU32,
    round_robin: AtomicUsize,
    pub(super) threads: Threads,
    /// The end has been reported.
    end_told: AtomicBool,
    /// Filled by workers that still have fibers when the time of a shutdown is up.
    pub(super) reports: Mutex<Vec<Left>>,
}

/// A fiber that did not end in the time of a shutdown.
#[derive(Debug, Clone)]
pub(crate) struct Left {
    pub(crate) worker: usize,
    pub(crate) name: Option<String>,
    pub(crate) spawned_at: &'static Location<'static>,
}

/// How far the pool's life has gone.
#[derive(Debug, Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub(crate) enum Phase {
    Open = 0,
    Draining = 1,
    Cancelled = 2,
    Stopped = 3,
}

impl Pool {
    /// Makes the pool and starts its first worker; the others start when there is work for
    /// them.
    ///
    /// # Errors
    /// What the system says when it has no memory for stacks or cannot make a thread.
    pub(crate) fn start(config: Config) -> io::Result<Arc<Pool>> {
        let workers = config.workers;
        let pool = Arc::new(Pool {
            remotes: Remotes::new(workers, workers, config.watch),
            injector: Injector::new(workers),
            idle: Idle::new(workers),
            stacks: StackPool::new(config.stacks)?,
            starved: Starved::new(),
            monitor: Monitor::new(),
            quiet: Quiet::new(),
            outside: Counter::default(),
            refused: Counter::default(),
            aged_wakes: Counter::default(),
            outside_wakes: Counter::default(),
            slow_fibers: Counter::default(),
            outside_events: Outside::new(&config.watch),
            rescues: Counter::default(),
            root: Node::below([None, None]),
            phase: AtomicU32::new(Phase::Open as u32),
            round_robin: AtomicUsize::new(0),
            threads: Threads::new(),
            end_told: AtomicBool::new(false),
            reports: Mutex::new(Vec::new()),
            config,
        });
        let watched = Arc::downgrade(&pool);
        let closing = move || {
            if let Some(pool) = watched.upgrade() {
                pool.enter(Phase::Cancelled);
            }
        };
        // Nobody can have cancelled it yet, and it is never forgotten.
        let _ = pool.root.call_on(Box::new(closing));
        for worker in 0..workers {
            // A worker without a thread counts as asleep: to wake it is to start it.
            let _ = pool.idle.announce(worker, false);
        }
        let first = pool.idle.claim_any(0).expect("all workers sleep");
        pool.launch(first)?;
        let watches = workers > 1 || pool.config.watch.slow.is_some();
        if watches
            && !pool.config.exclusive
            && let Err(error) = pool.launch_monitor()
        {
            pool.enter(Phase::Stopped);
            pool.join_threads(&[]);
            return Err(error);
        }
        Ok(pool)
    }

    pub(crate) fn workers(&self) -> usize {
        self.remotes.len()
    }

    pub(crate) fn scheduler(&self) -> Scheduler {
        self.config.scheduler
    }

    /// The token that everything here is under; cancelling it closes admission and
    /// interrupts all fibers.
    pub(crate) fn root(&self) -> &Arc<Node> {
        &self.root
    }

    pub(crate) fn name(&self) -> &str {
        &self.config.name
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

    /// Moves the pool's life forward (never back) and has every worker take notice.
    pub(super) fn enter(self: &Arc<Self>, phase: Phase) {
        self.phase.fetch_max(phase as u32, Ordering::SeqCst);
        self.rouse();
        self.monitor.rouse();
    }

    /// Has every worker that sleeps look around once.
    pub(super) fn rouse(&self) {
        for remote in self.remotes.iter() {
            remote.mailbox.parker().unpark();
        }
    }

    /// Counts a fiber from outside in; false if the pool takes none any more.
    ///
    /// The count comes before the look at the phase, and whoever ends the pool sets the
    /// phase before it looks at the count, all in one total order: so either the fiber is
    /// refused, or it is waited for.
    pub(super) fn admit(&self) -> bool {
        self.outside.increment_shared();
        if self.phase() == Phase::Open {
            return true;
        }
        self.refused.increment_shared();
        // LIVENESS: whoever adds up between the two counts sees a fiber too many, and nobody
        // else would tell it to add up again.
        self.quiet.check(|| live(self));
        false
    }

    /// Queues a fresh fiber from a thread that is no worker of this pool.
    pub(super) fn inject(self: &Arc<Self>, fiber: FiberPtr) {
        // ORDERING: Relaxed: spreads the load; nothing depends on the value.
        let turn = self.round_robin.fetch_add(1, Ordering::Relaxed);
        let shard = if self.scheduler() == Scheduler::SingleQueue {
            0
        } else {
            turn
        };
        // SAFETY: H1; nobody else has the fiber yet.
        let header = unsafe { fiber.as_ref() };
        self.outside_events.saw_spawn(header);
        self.say(LogMask::INJECT, || {
            format!(
                "fiber {} comes from outside, {}",
                header.id(),
                header.location()
            )
        });
        self.injector.push(shard % self.workers(), fiber);
        if self.wake_one(turn) {
            self.outside_wakes.increment_shared();
        }
    }

    /// Wakes a sleeping worker for work that any worker may take, unless one searches.
    /// Where each worker takes one fiber only, one is woken in any case, and rather one that
    /// has a thread. True if one was woken.
    pub(super) fn wake_one(self: &Arc<Self>, from: usize) -> bool {
        let claimed = match self.config.exclusive {
            false => self.idle.claim_sleeper(from % self.workers()),
            true => self.idle.claim_any(0),
        };
        match claimed {
            Some(worker) => {
                self.wake(worker);
                true
            }
            None => false,
        }
    }

    /// Whether any queue that a thief may take from holds something.
    pub(super) fn has_visible_work(&self) -> bool {
        !self.injector.is_empty()
            || self.remotes.iter().any(|remote| !remote.ring.is_empty())
    }

    /// Says something about this pool on standard error, if `category` is asked for.
    #[inline]
    pub(super) fn say(&self, category: LogMask, what: impl FnOnce() -> String) {
        if self.config.watch.log.intersects(category) {
            log(category, self.name(), format_args!(": {}", what()));
        }
    }

    /// Says what is to be said at the end; only the first call does.
    pub(crate) fn tell_end(&self) {
        if let Some(at_end) = &self.config.at_end
            && !self.end_told.swap(true, Ordering::AcqRel)
        {
            at_end(self);
        }
    }

    /// Whether events are kept.
    pub(crate) fn keeps_events(&self) -> bool {
        self.config.watch.trace
    }

    /// The events that are still there, oldest first, with the number of those that are not:
    /// of each worker, and last of threads outside. Nothing if none are kept.
    pub(crate) fn events(&self) -> Vec<(Vec<Event>, u64)> {
        let rings = self.remotes.iter().map(|remote| &remote.watched.events);
        let workers = rings.flatten().map(|ring| ring.read());
        workers.chain([self.outside_events.read()]).collect()
    }

    /// The names of fibers that have started, by identity, if events are kept.
    pub(crate) fn fiber_names(&self) -> Vec<(u64, String)> {
        let names = self.remotes.iter().map(|remote| remote.watched.names());
        names.flatten().collect()
    }

    /// Counters of each worker.
    pub(crate) fn counters(&self) -> Vec<Counters> {
        self.remotes
            .iter()
            .map(|remote| remote.counters.read())
            .collect()
    }

    /// Fibers that other threads have spawned.
    pub(crate) fn spawned_outside(&self) -> u64 {
        let refused = self.refused.get();
        self.outside.get() - refused
    }

    /// Workers that were woken because work had aged.
    pub(crate) fn aged_wakes(&self) -> u64 {
        self.aged_wakes.get()
    }

    /// Workers that threads outside have woken.
    pub(crate) fn outside_wakes(&self) -> u64 {
        self.outside_wakes.get()
    }

    /// Fibers that were reported because others had to wait for them.
    pub(crate) fn slow_fibers(&self) -> u64 {
        self.slow_fibers.get()
    }

    /// Lost wakes that were made good. Anything but zero is a bug of the runtime.
    pub(crate) fn rescues(&self) -> u64 {
        self.rescues.get()
    }

    /// Fibers that wait for a stack.
    pub(crate) fn starved(&self) -> usize {
        self.starved.len()
    }
}

impl Left {
    /// What can be said of a worker that does not answer: what it runs.
    pub(super) fn running(worker: usize, remote: &Remote) -> Option<Left> {
        let fiber = NonNull::new(remote.running.load(Ordering::Relaxed))?;
        // SAFETY: H1. The fiber may have ended, and another may live in its header, so only
        // what is constant or atomic is read.
        let header = unsafe { fiber.as_ref() };
        Some(Left {
            worker,
            name: None,
            spawned_at: header.location(),
        })
    }
}
