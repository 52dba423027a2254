//! Which of its queues a worker takes a fiber from, and where a fiber goes that is taken too early.
//!
//! Does not own: the lists of its own (`queues`), or when it looks further (`next_fiber`).

use crate::fiber::{FiberHead, FiberPtr};
use crate::sched::pool::remote::Remote;
use crate::sched::queue::next_slot::NextItem;
use crate::sched::worker::run::Worker;

impl Worker {
    #[inline(always)]
    pub(super) fn take_next(&self) -> Option<FiberPtr> {
        let next = &self.remote().next;
        if let Some(streak) = self.queues.streak() {
            // No started fiber waits longer for it: a row needs an empty ready list.
            if self.queues.has_joiner()
                && let Some(sibling) = self.take_sibling()
            {
                return Some(sibling);
            }
            if let Some(item) = next.take() {
                self.queues.set_streak(streak + 1);
                self.remote().counters.next_hits.increment();
                return Some(item.fiber());
            }
        } else if let Some(item) = next.take() {
            self.put_back(item);
        }
        self.queues.end_streak();
        None
    }

    /// Lets siblings of `ended` run before the joiner that its end has put into the slot.
    ///
    /// A parent that has spawned many fibers joins one after the other. If it ran after each end, it
    /// would park again at the next one: with ten children nine times in ten. Siblings are fresh
    /// fibers of the same spawn line. Those of a tracked line (new, or spread over workers) do not
    /// count: they may take long.
    #[inline]
    pub(super) fn prefer_siblings(
        &self,
        remote: &Remote,
        ended: FiberPtr,
        joiner: usize,
    ) {
        let header = ended.header();
        // The slot has another value if the joiner is on another worker, or a fiber is fresh.
        if !remote.ring.is_empty()
            && remote.next.look() == joiner
            && header.placement.get() == 0
        {
            self.queues.begin_siblings(joiner, header.location());
        }
    }

    /// Returns the next fresh fiber, if it runs before the joiner in the slot: as long as no started
    /// fiber is ready, and the row so far takes less, by the average, than the wake of a worker
    /// (`is_surplus`). A fiber of another line runs too, and ends the row.
    #[inline]
    fn take_sibling(&self) -> Option<FiberPtr> {
        let remote = self.remote();
        let row = self.queues.count_sibling(remote.next.look());
        let intervals = &self.maintenance.intervals;
        let fiber = row
            .filter(|row| !self.has_ready() && !intervals.is_surplus(*row as usize))
            .and_then(|_| remote.ring.pop());
        if fiber.is_none_or(|fiber| !self.queues.is_sibling(fiber)) {
            self.queues.end_siblings();
        }
        fiber
    }

    #[inline(always)]
    pub(super) fn take_queued(&self) -> Option<FiberPtr> {
        let ring = &self.remote().ring;
        if self.queues.alternate() {
            ring.pop().or_else(|| self.pop_ready())
        } else {
            self.pop_ready().or_else(|| ring.pop())
        }
    }

    /// Puts a fiber that was due by the slot behind the others.
    #[cold]
    pub(in crate::sched) fn put_back(&self, item: NextItem<FiberHead>) {
        match item {
            NextItem::Fresh(fiber) => self.keep_fresh(fiber),
            NextItem::Settled(fiber) => self.queues.push_ready(fiber),
        }
    }

    #[inline(always)]
    pub(in crate::sched) fn pop_ready(&self) -> Option<FiberPtr> {
        match self.queues.pop_ready() {
            None if self.migration.is_on() => self.migration.pop(),
            own => own,
        }
    }

    #[inline(always)]
    pub(in crate::sched) fn has_ready(&self) -> bool {
        self.queues.has_ready() || self.migration.ready() > 0
    }

    /// The number of started fibers that may run; for reports.
    pub(crate) fn count_ready(&self) -> usize {
        self.queues.count_ready() + self.migration.ready()
    }

    /// Moves the fibers that other threads have woken to the ready list.
    pub(in crate::sched) fn drain_inbox(&self) {
        let inbox = self.remote().inbox;
        if !inbox.is_empty() {
            let woken = inbox.drain();
            let counters = &self.remote().counters;
            counters.fiber_wakes.add(u64::from(woken.len()));
            counters.remote_wakes.add(u64::from(woken.len()));
            self.queues.append_ready(woken);
        }
    }

    pub(crate) fn each_started(&self, f: impl FnMut(FiberPtr)) {
        self.queues.each_started(f);
    }

    /// Calls `f` for the started fibers, in order, until it returns false.
    pub(crate) fn visit_started(&self, f: impl FnMut(&FiberPtr) -> bool) {
        self.queues.visit_started(f);
    }

    /// Returns the started fiber at the front of the list, and moves it to the back.
    pub(crate) fn next_of_walk(&self) -> Option<FiberPtr> {
        self.queues.next_of_walk()
    }

    /// True if a fiber lives that needs this thread: one that has started here, unless fibers may
    /// migrate.
    #[inline]
    pub(in crate::sched) fn has_started(&self) -> bool {
        self.queues.has_started() || (self.migration.is_on() && self.is_needed())
    }
}
