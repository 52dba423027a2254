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

use super::counters::{Counter, Counters, Gauge, WorkerCounters};
use super::idle::Idle;
use super::injector::Injector;
use super::mailbox::Mailbox;
use super::monitor::Monitor;
use super::next::Next;
use super::quiet::{Quiet, live};
use super::ring::Ring;
use super::share::Guests;
use super::worker;
use crate::base::list::Fifo;
use crate::base::pad::CachePadded;
use crate::context::{OutOfStacks, StackConfig, StackPool};
use crate::fiber::token::Node;
use crate::fiber::{FiberPtr, Header};
use crate::shim::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use crate::shim::{self, Lock, Mutex};

/// Which scheduler a runtime uses.
#[derive(Debug, Copy, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Scheduler {
    /// Per-worker queues and work stealing.
    #[default]
    WorkStealing,
    /// One locked queue for fibers that have not started: the baseline that work stealing
    /// has to beat, and an oracle for tests.
    SingleQueue,
}

/// A callback of the user's, run on worker threads.
pub(crate) type Hook = Arc<dyn Fn() + Send + Sync>;

/// What a pool is made of; all values are valid.
pub(crate) struct Config {
    pub(crate) name: String,
    pub(crate) workers: usize,
    pub(crate) scheduler: Scheduler,
    pub(crate) stacks: StackConfig,
    /// Makes the pool deterministic; it has one worker then.
    pub(crate) seed: Option<u64>,
    pub(crate) on_thread_start: Option<Hook>,
    pub(crate) on_thread_stop: Option<Hook>,
}

/// What other threads see of one worker.
pub(crate) struct Remote {
    pub(super) ring: Ring<Header>,
    pub(super) next: CachePadded<Next<Header>>,
    pub(super) mailbox: &'static Mailbox<Header>,
    pub(super) counters: CachePadded<WorkerCounters>,
    /// Started fibers that have not ended. Written by the worker, read for placement.
    pub(super) settled: Gauge,
    /// Fibers that this worker has handed to others.
    pub(super) guests: Guests,
    /// The fiber that runs now, for reports. Written by the worker.
    pub(super) running: AtomicPtr<Header>,
    /// What the monitor has found unchanged in `next`: free for thieves to take.
    pub(super) aged: AtomicUsize,
    /// The worker's thread exists.
    launched: AtomicBool,
    /// The worker has done its last.
    pub(super) ended: AtomicBool,
}

/// One set of workers and everything they share.
pub(crate) struct Pool {
    pub(super) config: Config,
    pub(super) remotes: Box<[Remote]>,
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
    /// Wakes that had been lost, and that the monitor made good.
    pub(super) rescues: Counter,
    /// What everything that runs here is under.
    root: Arc<Node>,
    phase: AtomicU32,
    round_robin: AtomicUsize,
    threads: Mutex<Vec<(Option<usize>, shim::thread::JoinHandle<()>)>>,
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

/// Fresh fibers that found no stack, oldest first.
pub(super) struct Starved {
    fibers: Lock<Fifo<Header>>,
    len: AtomicUsize,
    reported: AtomicBool,
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
            remotes: (0..workers).map(|_| Remote::new()).collect(),
            injector: Injector::new(workers),
            idle: Idle::new(workers),
            stacks: StackPool::new(config.stacks)?,
            starved: Starved::new(),
            monitor: Monitor::new(),
            quiet: Quiet::new(),
            outside: Counter::default(),
            refused: Counter::default(),
            aged_wakes: Counter::default(),
            rescues: Counter::default(),
            root: Node::below([None, None]),
            phase: AtomicU32::new(Phase::Open as u32),
            round_robin: AtomicUsize::new(0),
            threads: Mutex::new(Vec::new()),
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
        if workers > 1 {
            let monitored = Arc::clone(&pool);
            let name = format!("{}-monitor", pool.config.name);
            match shim::thread::spawn(name, move || monitored.monitor.watch(&monitored)) {
                Ok(thread) => pool.threads.lock().push((None, thread)),
                Err(error) => {
                    pool.enter(Phase::Stopped);
                    pool.join_threads(&[]);
                    return Err(error);
                }
            }
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
        for remote in &self.remotes {
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
        self.injector.push(shard % self.workers(), fiber);
        self.wake_one(turn);
    }

    /// Wakes a sleeping worker for work that any worker may take, unless one searches.
    /// True if one was woken.
    pub(super) fn wake_one(self: &Arc<Self>, from: usize) -> bool {
        match self.idle.claim_sleeper(from % self.workers()) {
            Some(worker) => {
                self.wake(worker);
                true
            }
            None => false,
        }
    }

    /// Wakes the thread of a worker that the caller has claimed, or starts it.
    pub(super) fn wake(self: &Arc<Self>, worker: usize) {
        let remote = &self.remotes[worker];
        if remote.launched.load(Ordering::Acquire) {
            remote.mailbox.parker().unpark();
        } else if self.launch(worker).is_err() {
            // No thread to be had: the others go on without it. It sleeps again, to be
            // tried another time.
            let _ = self.idle.announce(worker, true);
            // LIVENESS: the work that it was to look for is another worker's to find.
            self.rouse();
        }
    }

    fn launch(self: &Arc<Self>, worker: usize) -> io::Result<()> {
        if self.remotes[worker].launched.swap(true, Ordering::AcqRel) {
            self.remotes[worker].mailbox.parker().unpark();
            return Ok(());
        }
        let pool = Arc::clone(self);
        let name = format!("{}-{worker}", self.config.name);
        match shim::thread::spawn(name, move || worker::main(pool, worker)) {
            Ok(thread) => {
                self.threads.lock().push((Some(worker), thread));
                Ok(())
            }
            Err(error) => {
                self.remotes[worker]
                    .launched
                    .store(false, Ordering::Release);
                Err(error)
            }
        }
    }

    /// Whether any queue that a thief may take from holds something.
    pub(super) fn has_visible_work(&self) -> bool {
        !self.injector.is_empty()
            || self.remotes.iter().any(|remote| !remote.ring.is_empty())
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

    /// Lost wakes that were made good. Anything but zero is a bug of the runtime.
    pub(crate) fn rescues(&self) -> u64 {
        self.rescues.get()
    }

    /// Fibers that wait for a stack.
    pub(crate) fn starved(&self) -> usize {
        self.starved.len.load(Ordering::Relaxed)
    }

    /// Waits for the threads, which are about to end, but for those of the workers in
    /// `except`, which are left to themselves.
    pub(super) fn join_threads(&self, except: &[usize]) {
        let threads = std::mem::take(&mut *self.threads.lock());
        for (worker, thread) in threads {
            if worker.is_none_or(|worker| !except.contains(&worker)) {
                // A worker's panic would be a bug that has been printed by the panic hook.
                let _ = thread.join();
            }
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        for remote in &self.remotes {
            remote.mailbox.release();
        }
    }
}

impl Remote {
    fn new() -> Remote {
        Remote {
            ring: Ring::new(),
            next: CachePadded::new(Next::new()),
            mailbox: Mailbox::acquire(),
            counters: CachePadded::new(WorkerCounters::default()),
            settled: Gauge::default(),
            guests: Guests::default(),
            running: AtomicPtr::new(std::ptr::null_mut()),
            aged: AtomicUsize::new(0),
            launched: AtomicBool::new(false),
            ended: AtomicBool::new(false),
        }
    }
}

impl Starved {
    fn new() -> Starved {
        Starved {
            fibers: Lock::new(Fifo::new()),
            len: AtomicUsize::new(0),
            reported: AtomicBool::new(false),
        }
    }

    /// Keeps a fresh fiber for which there is no stack. Says so on standard error, once in
    /// the life of the pool.
    pub(super) fn push(&self, fiber: NonNull<Header>, why: &OutOfStacks) {
        {
            let mut fibers = self.fibers.lock();
            fibers.push_back(fiber);
            // ORDERING: SeqCst: precedes the wake-ups of `rouse`; who was awake and has read
            // an older length reads again before it sleeps.
            self.len.store(fibers.len() as usize, Ordering::SeqCst);
        }
        if !self.reported.swap(true, Ordering::Relaxed) {
            use std::io::Write;
            let _ = writeln!(
                io::stderr(),
                "pirn: fibers wait for a stack: {why}; they start as soon as others end"
            );
        }
    }

    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.len.load(Ordering::Relaxed) == 0
    }

    /// Takes the oldest one, if `fits` finds that there may be a stack for it.
    pub(super) fn pop_if(&self, fits: impl FnOnce(FiberPtr) -> bool) -> Option<FiberPtr> {
        let mut fibers = self.fibers.lock();
        if !fits(fibers.front()?) {
            return None;
        }
        let fiber = fibers.pop_front();
        self.len.store(fibers.len() as usize, Ordering::SeqCst);
        fiber
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
