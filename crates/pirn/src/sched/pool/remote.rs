//! The part of each worker that other threads access, and the row of all these parts.
//!
//! A place in the row is filled when its worker is first needed, and stays where it is as long as
//! the pool lives. A worker's thread may end and another take its place later: the counters
//! continue then, each still written by one thread at a time.

#[cfg(not(pirn_modelled))]
use std::mem::offset_of;
use std::ops::Index;
use std::ptr;
use std::sync::{Arc, OnceLock};

use crate::base::pad::CachePadded;
use crate::events::{Watch, Watched};
use crate::fiber::jobs::Jobs;
use crate::fiber::{FiberHead, FiberPtr, Ticket};
use crate::report::fiber_info::FiberInfo;
use crate::sched::migrate::migration::Migration;
use crate::sched::placement::lines::LineCounts;
use crate::sched::pool::counters::{Gauge, WorkerCounters};
use crate::sched::pool::threads::monitor::Notes;
use crate::sched::pool::threads::worker_thread::WorkerThread;
use crate::sched::pool::worker_state::StateCell;
use crate::sched::queue::inbox::Inbox;
use crate::sched::queue::injector::Injector;
use crate::sched::queue::next_slot::Next;
use crate::sched::queue::ring::Ring;
use crate::shim::Mutex;
use crate::shim::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use crate::timer::Levels;

/// The worker is awake.
pub(in crate::sched) const AWAKE: u32 = 0;
/// It sleeps until it is woken.
pub(in crate::sched) const ASLEEP: u32 = 1;
/// It sleeps until some deadline.
pub(in crate::sched) const TIMED: u32 = 2;

/// The part of one worker that other threads access.
pub(crate) struct Remote {
    pub(in crate::sched) ring: Ring<FiberHead>,
    /// The jobs of the fiber that runs here.
    pub(in crate::sched) jobs: Arc<Jobs>,
    pub(in crate::sched) next: CachePadded<Next<FiberHead>>,
    pub(in crate::sched) inbox: &'static Inbox<FiberHead>,
    /// Whether fibers may migrate; the queues that are shared then.
    pub(in crate::sched) migration: Migration,
    pub(in crate::sched) counters: CachePadded<WorkerCounters>,
    /// Started fibers that have not ended. Written by the worker, read for placement.
    pub(in crate::sched) settled: Gauge,
    /// Live fibers of each spawn line that are assigned to this worker
    /// (`sched::placement::balance`). Written by any worker.
    pub(in crate::sched) lines: LineCounts,
    /// Fresh fibers that other workers have placed here (`sched::placement::balance`).
    pub(in crate::sched) placed: Injector<FiberHead>,
    /// The fiber that runs now; null if the worker found none, and has not since. For reports, and
    /// to distinguish a stuck worker from one that is getting up. Written by the worker.
    pub(in crate::sched) running: AtomicPtr<FiberHead>,
    /// The data kept for observers of this worker.
    pub(in crate::sched) watched: Watched,
    pub(in crate::sched) thread: WorkerThread,
    pub(in crate::sched) notes: Notes,
    /// Whether the worker sleeps, and for how long: [`AWAKE`], [`ASLEEP`] or [`TIMED`]. Written by
    /// the worker.
    pub(in crate::sched) sleep: AtomicU32,
    /// The worker's state, for reports. Written by the worker.
    pub(in crate::sched) state: StateCell,
    /// The levels of the worker's timers, for other threads. Written by the worker when it starts.
    pub(in crate::sched) timers: Mutex<Option<Arc<Levels<Ticket>>>>,
}

/// The workers of a pool, by number.
pub(in crate::sched) struct Remotes {
    places: Box<[OnceLock<Box<Remote>>]>,
    /// The number of filled places; these are the first ones.
    filled: AtomicUsize,
    /// The conditions that the workers are watched for.
    watch: Watch,
    /// Fibers may migrate.
    free: bool,
    /// A seed decides whether a job becomes a fiber.
    decided: bool,
}

impl Remotes {
    /// A row with `filled` workers and room for `most`.
    pub(in crate::sched) fn new(
        filled: usize,
        most: usize,
        watch: Watch,
        free: bool,
        decided: bool,
    ) -> Remotes {
        let remotes = Remotes {
            places: (0..most.max(filled)).map(|_| OnceLock::new()).collect(),
            filled: AtomicUsize::new(0),
            watch,
            free,
            decided,
        };
        remotes.fill(filled);
        remotes
    }

    /// Fills the first `n` places. One caller at a time.
    pub(in crate::sched) fn fill(&self, n: usize) {
        for place in &self.places[..n] {
            place.get_or_init(|| {
                Box::new(Remote::new(&self.watch, self.free, self.decided))
            });
        }
        // ORDERING: SeqCst: a thread that sees work published by a worker that is added later looks
        // into its queues too (the fences of `idle`).
        self.filled.fetch_max(n, Ordering::SeqCst);
    }

    /// The number of filled places.
    #[inline]
    pub(in crate::sched) fn len(&self) -> usize {
        self.filled.load(Ordering::Acquire)
    }

    #[inline]
    pub(in crate::sched) fn iter(&self) -> impl Iterator<Item = &Remote> {
        (0..self.len()).map(|i| &self[i])
    }
}

impl Remotes {
    /// True if a fiber lives that has started, where fibers may migrate.
    pub(in crate::sched) fn have_started(&self) -> bool {
        self.iter().any(|remote| remote.migration.has_started())
    }

    /// Cancels every started fiber, where they may migrate: its worker may be stuck.
    ///
    /// A fiber that starts meanwhile is entered before its worker looks at the phase, which was set
    /// before this: one of the two sees the other.
    pub(in crate::sched) fn cancel_started(&self) {
        self.iter()
            .for_each(|remote| remote.migration.cancel_started());
    }
}

// What other threads write shares no cache line with what the worker counts.
#[cfg(not(pirn_modelled))]
const _: () = {
    let (next, counters) = (offset_of!(Remote, next), offset_of!(Remote, counters));
    assert!(
        next.abs_diff(counters) >= 128 && next % 128 == 0,
        "they share a line"
    );
};

impl Index<usize> for Remotes {
    type Output = Remote;

    #[inline]
    fn index(&self, worker: usize) -> &Remote {
        self.places[worker]
            .get()
            .expect("only workers that are there are asked for")
    }
}

impl Drop for Remotes {
    fn drop(&mut self) {
        for remote in self.iter() {
            remote.inbox.release();
            remote.migration.release();
        }
    }
}

impl Remote {
    fn new(watch: &Watch, free: bool, decided: bool) -> Remote {
        Remote {
            ring: Ring::new(),
            jobs: Jobs::new(decided),
            next: CachePadded::new(Next::new()),
            inbox: Inbox::acquire(),
            migration: Migration::new(free),
            counters: CachePadded::new(WorkerCounters::default()),
            settled: Gauge::default(),
            lines: LineCounts::new(),
            placed: Injector::new(1),
            running: AtomicPtr::new(ptr::null_mut()),
            watched: Watched::new(watch),
            notes: Notes::new(),
            thread: WorkerThread::new(),
            sleep: AtomicU32::new(AWAKE),
            state: StateCell::new(),
            timers: Mutex::new(None),
        }
    }

    /// Describes the fiber that runs now, for a worker with this number that does not answer.
    pub(crate) fn describe_running(&self, worker: usize) -> Option<FiberInfo> {
        let fiber = self.running_fiber()?;
        Some(FiberInfo::running(worker, fiber))
    }

    /// Returns the fiber that runs now, as far as the worker has published it. It may have ended,
    /// and its header may have another fiber: only what is constant or atomic may be read.
    pub(crate) fn running_fiber(&self) -> Option<FiberPtr> {
        // ORDERING: Acquire: pairs with the Release of its worker.
        let fiber = self.running.load(Ordering::Acquire);
        // SAFETY: H1: null, or a header of the slab.
        unsafe { FiberPtr::from_raw(fiber) }
    }

    /// The number of fibers in the queues here that any worker may take from, except the `next`
    /// slot.
    pub(in crate::sched) fn queued(&self) -> usize {
        self.ring.len() as usize + self.migration.ready()
    }
}
