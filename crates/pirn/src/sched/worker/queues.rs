//! The fibers that only their worker can run: those that are ready, all that have started, and the
//! order in which its queues are popped.
//!
//! Does not own: the ring and the `next` slot, which thieves reach (`pool::remote`), or where ready
//! fibers go that may migrate (`migrate`).

use std::cell::{Cell, UnsafeCell};

use crate::base::list::{Fifo, List};
use crate::fiber::state_names::State;
use crate::fiber::{FiberPtr, Header};
use crate::report::fiber_info::{self, FiberInfo, Sighting};
use crate::sched::migrate::shared_queues::SharedQueues;
use crate::sched::queue::next_slot::NextItem;
use crate::sched::worker::run::Worker;
use crate::wait::Reason;

/// Dispatches in a row out of the `next` slot, so that two fibers that wake each other do not
/// starve the rest. The same as Tokio's.
const STREAK: u32 = 3;

/// The lists of one worker.
pub(super) struct Queues {
    /// Settled fibers that may run.
    ready: UnsafeCell<Fifo<Header>>,
    /// Fibers that have started here and not ended.
    started: UnsafeCell<List<Header>>,
    /// A fiber that has settled here and is to run before anything else.
    first: Cell<Option<FiberPtr>>,
    /// Dispatches out of the `next` slot in a row.
    streak: Cell<u32>,
    /// True if the ring, rather than the ready list, is popped first the next time.
    ring_first: Cell<bool>,
    /// Fresh fibers in a row that were put behind started ones.
    deferred: Cell<u32>,
}

impl Queues {
    pub(super) fn new() -> Queues {
        Queues {
            ready: UnsafeCell::new(Fifo::new()),
            started: UnsafeCell::new(List::new()),
            first: Cell::new(None),
            streak: Cell::new(0),
            ring_first: Cell::new(false),
            deferred: Cell::new(0),
        }
    }

    /// Returns true if a fiber is to run before anything else.
    #[inline(always)]
    pub(super) fn has_first(&self) -> bool {
        self.first.get().is_some()
    }

    /// Ends a row of dispatches out of the `next` slot.
    #[inline(always)]
    pub(super) fn end_streak(&self) {
        self.streak.set(0);
    }
}

impl Worker {
    /// Makes `fiber`, which has settled here, run before anything else. Returns the one that was to
    /// do so before.
    #[inline(always)]
    pub(super) fn replace_first(&self, fiber: FiberPtr) -> Option<FiberPtr> {
        self.queues.first.replace(Some(fiber))
    }

    /// Takes the fiber that is to run before anything else.
    #[inline(always)]
    pub(in crate::sched) fn take_first(&self) -> Option<FiberPtr> {
        self.queues.first.take()
    }

    /// Adds a fiber that starts here.
    #[inline]
    pub(super) fn link_started(&self, fiber: FiberPtr) {
        // SAFETY: K1.
        let started = unsafe { &mut *self.queues.started.get() };
        // SAFETY: a fiber starts once.
        unsafe { started.push_fiber(fiber) };
    }

    /// Removes a fiber that has ended, and started here.
    #[inline(always)]
    pub(super) fn unlink_started(&self, fiber: FiberPtr) {
        // SAFETY: K1.
        let started = unsafe { &mut *self.queues.started.get() };
        // SAFETY: linked in `link_started`, in this list.
        unsafe { started.remove(fiber.as_non_null()) };
    }

    /// Counts a fresh fiber that is put behind started ones. False if there were `most` in a row.
    #[inline(always)]
    pub(in crate::sched) fn defer(&self, most: u32) -> bool {
        let deferred = self.queues.deferred.get();
        let defers = deferred < most;
        if defers {
            self.queues.deferred.set(deferred + 1);
        }
        defers
    }

    /// Ends a row of fresh fibers that were put behind started ones.
    #[inline(always)]
    pub(in crate::sched) fn end_deferrals(&self) {
        self.queues.deferred.set(0);
    }

    #[inline(always)]
    pub(super) fn take_next(&self) -> Option<FiberPtr> {
        let next = &self.remote().next;
        let streak = self.queues.streak.get();
        if streak < STREAK {
            if let Some(item) = next.take() {
                self.queues.streak.set(streak + 1);
                self.remote().counters.next_hits.increment();
                return Some(item.fiber());
            }
        } else if let Some(item) = next.take() {
            self.put_back(item);
        }
        self.queues.streak.set(0);
        None
    }

    #[inline(always)]
    pub(super) fn take_queued(&self) -> Option<FiberPtr> {
        let ring_first = self.queues.ring_first.get();
        self.queues.ring_first.set(!ring_first);
        let ring = &self.remote().ring;
        if ring_first {
            ring.pop().or_else(|| self.pop_ready())
        } else {
            self.pop_ready().or_else(|| ring.pop())
        }
    }

    /// Puts a fiber that was due by the slot behind the others.
    #[cold]
    pub(in crate::sched) fn put_back(&self, item: NextItem<Header>) {
        match item {
            NextItem::Fresh(fiber) => self.keep_fresh(fiber),
            NextItem::Settled(fiber) => self.make_ready(fiber),
        }
    }

    /// Pushes to the back of the ready list.
    #[inline(always)]
    pub(in crate::sched) fn make_ready(&self, fiber: FiberPtr) {
        // SAFETY: K1.
        unsafe { (*self.queues.ready.get()).push_back(fiber) };
    }

    #[inline(always)]
    pub(in crate::sched) fn pop_ready(&self) -> Option<FiberPtr> {
        // SAFETY: K1.
        match unsafe { (*self.queues.ready.get()).pop_front() } {
            None if self.shared_queues.is_some() => self.pop_common(),
            own => own,
        }
    }

    #[inline(always)]
    pub(in crate::sched) fn has_ready(&self) -> bool {
        // SAFETY: K1.
        let own = !unsafe { &*self.queues.ready.get() }.is_empty();
        own || self
            .shared_queues
            .is_some_and(|shared_queues| shared_queues.len() > 0)
    }

    /// The number of started fibers that may run; for reports.
    pub(crate) fn count_ready(&self) -> usize {
        // SAFETY: K1.
        let own = unsafe { &*self.queues.ready.get() }.len() as usize;
        own + self.shared_queues.map_or(0, SharedQueues::len)
    }

    /// Moves the fibers that other threads have woken to the ready list.
    pub(in crate::sched) fn drain_inbox(&self) {
        let inbox = self.remote().inbox;
        if !inbox.is_empty() {
            let woken = inbox.drain();
            let counters = &self.remote().counters;
            counters.fiber_wakes.add(u64::from(woken.len()));
            counters.remote_wakes.add(u64::from(woken.len()));
            // SAFETY: K1.
            unsafe { (*self.queues.ready.get()).append(woken) };
        }
    }

    /// Calls `f` for each fiber that has started here and not ended.
    pub(crate) fn each_started(&self, mut f: impl FnMut(FiberPtr)) {
        // SAFETY: K1: `f` runs no fiber, so the list stays as it is.
        let started = unsafe { &*self.queues.started.get() };
        started.fibers().for_each(&mut f);
    }

    /// Returns the started fiber at the front of the list, and moves it to the back.
    pub(crate) fn next_of_walk(&self) -> Option<FiberPtr> {
        // SAFETY: K1.
        let started = unsafe { &mut *self.queues.started.get() };
        let fiber = started.pop_fiber()?;
        // SAFETY: it has just been removed from its list.
        unsafe { started.push_fiber(fiber) };
        Some(fiber)
    }

    /// Describes the first fiber that has started here and waits for one of `reasons`, without a
    /// backtrace. While no fiber runs here.
    pub(in crate::sched) fn describe_waiting(
        &self,
        reasons: &[Reason],
    ) -> Option<FiberInfo> {
        let mut found = None;
        self.each_started(|fiber| {
            let reason = || fiber_info::reason(fiber).filter(|it| reasons.contains(it));
            if found.is_none() && fiber_info::waits(fiber) && reason().is_some() {
                // SAFETY: this worker's own, and it runs no other before this returns.
                let seen = unsafe {
                    FiberInfo::sight(self.index, fiber, State::Parked, false, true)
                };
                let Sighting { mut info, subject } = seen;
                // SAFETY: NO2: its fiber still waits.
                info.waits_for = subject.map(|subject| unsafe { subject.describe() });
                found = Some(info);
            }
        });
        found
    }

    /// True if a fiber lives that needs this thread: one that has started here, unless fibers may
    /// migrate.
    #[inline]
    pub(in crate::sched) fn has_started(&self) -> bool {
        // SAFETY: K1.
        let own = !unsafe { &*self.queues.started.get() }.is_empty();
        own || self
            .shared_queues
            .is_some_and(|shared_queues| self.is_needed(shared_queues))
    }
}
