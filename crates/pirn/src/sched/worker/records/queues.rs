//! The fibers that only their worker can run: those that are ready, all that have started, and the
//! order in which its queues are popped.
//!
//! Does not own: the ring and the `next` slot, which thieves reach (`pool::remote`), the choice
//! between all of them (`take`), or where ready fibers go that may migrate (`migrate`).
//!
//! K1 and K2 are in `run`: only the worker's thread reaches its lists, and no function here calls
//! one that comes back to them.

use std::cell::{Cell, UnsafeCell};
use std::panic::Location;
use std::ptr;

use crate::base::list::{Fifo, List};
use crate::fiber::{FiberHead, FiberPtr, Header};

/// Dispatches in a row out of the `next` slot, so that two fibers that wake each other do not
/// starve the rest. The same as Tokio's.
const STREAK: u32 = 3;

/// The most siblings in a row that run before the joiner in the `next` slot. With 16 the joiner of
/// ten children parks once, and the longest delay stays small if they suddenly take longer.
const SIBLINGS: u32 = 16;

/// The lists of one worker.
pub(in crate::sched) struct Queues {
    /// Settled fibers that may run.
    ready: UnsafeCell<Fifo<FiberHead>>,
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
    /// The joiner that waits in the `next` slot while siblings run, as `Next::look` says; or 0. Only
    /// compared: it may have left the slot.
    joiner: Cell<usize>,
    /// Where the siblings were spawned.
    line: Cell<*const Location<'static>>,
    /// Siblings that have run in a row.
    siblings: Cell<u32>,
}

impl Queues {
    pub(in crate::sched) fn new() -> Queues {
        Queues {
            ready: UnsafeCell::new(Fifo::new()),
            started: UnsafeCell::new(List::new()),
            first: Cell::new(None),
            streak: Cell::new(0),
            ring_first: Cell::new(false),
            deferred: Cell::new(0),
            joiner: Cell::new(0),
            line: Cell::new(ptr::null()),
            siblings: Cell::new(0),
        }
    }

    /// Returns true if a fiber is to run before anything else.
    #[inline(always)]
    pub(in crate::sched) fn has_first(&self) -> bool {
        self.first.get().is_some()
    }

    /// Makes fibers of `line` run before the joiner in the `next` slot. A row in progress continues
    /// with its count.
    #[inline(always)]
    pub(in crate::sched) fn begin_siblings(
        &self,
        joiner: usize,
        line: &'static Location<'static>,
    ) {
        self.joiner.set(joiner);
        self.line.set(line);
    }

    /// Returns true if siblings may run before a joiner.
    #[inline(always)]
    pub(in crate::sched) fn has_joiner(&self) -> bool {
        self.joiner.get() != 0
    }

    /// Counts the next sibling and returns its position in the row. `None` if the slot has another
    /// fiber than the joiner, or there were [`SIBLINGS`].
    #[inline(always)]
    pub(in crate::sched) fn count_sibling(&self, slot: usize) -> Option<u32> {
        let row = self.siblings.get() + 1;
        self.siblings.set(row);
        (slot == self.joiner.get() && row <= SIBLINGS).then_some(row)
    }

    /// Returns true if the fiber is of the line that runs before the joiner.
    #[inline(always)]
    pub(in crate::sched) fn is_sibling(&self, fiber: FiberPtr) -> bool {
        ptr::eq(fiber.header().location(), self.line.get())
    }

    /// Makes the joiner run next.
    #[inline(always)]
    pub(in crate::sched) fn end_siblings(&self) {
        self.joiner.set(0);
        self.siblings.set(0);
    }

    /// Ends a row of dispatches out of the `next` slot.
    #[inline(always)]
    pub(in crate::sched) fn end_streak(&self) {
        self.streak.set(0);
    }

    /// Makes `fiber`, which has settled here, run before anything else. Returns the one that was to
    /// do so before.
    #[inline(always)]
    pub(in crate::sched) fn replace_first(&self, fiber: FiberPtr) -> Option<FiberPtr> {
        self.first.replace(Some(fiber))
    }

    /// Takes the fiber that is to run before anything else.
    #[inline(always)]
    pub(in crate::sched) fn take_first(&self) -> Option<FiberPtr> {
        self.first.take()
    }

    /// Adds a fiber that starts here.
    #[inline]
    pub(in crate::sched) fn link_started(&self, fiber: FiberPtr) {
        // SAFETY: K1.
        let started = unsafe { &mut *self.started.get() };
        // SAFETY: a fiber starts once.
        unsafe { started.push_fiber(fiber) };
    }

    /// Removes a fiber that has ended, and started here.
    #[inline(always)]
    pub(in crate::sched) fn unlink_started(&self, fiber: FiberPtr) {
        // SAFETY: K1.
        let started = unsafe { &mut *self.started.get() };
        // SAFETY: linked in `link_started`, in this list.
        unsafe { started.remove_fiber(fiber) };
    }

    /// Calls `f`, which runs no fiber, for each fiber that has started here.
    pub(in crate::sched) fn each_started(&self, mut f: impl FnMut(FiberPtr)) {
        // SAFETY: K1: `f` runs no fiber, so the list stays as it is.
        let started = unsafe { &*self.started.get() };
        started.fibers().for_each(&mut f);
    }

    /// Calls `f` for the started fibers, in order, until it returns false.
    pub(in crate::sched) fn visit_started(&self, f: impl FnMut(&FiberPtr) -> bool) {
        // SAFETY: K1: `f` runs no fiber, so the list stays as it is.
        let started = unsafe { &*self.started.get() };
        started.fibers().take_while(f).for_each(drop);
    }

    /// Returns the started fiber at the front of the list, and moves it to the back.
    pub(in crate::sched) fn next_of_walk(&self) -> Option<FiberPtr> {
        // SAFETY: K1.
        let started = unsafe { &mut *self.started.get() };
        let fiber = started.pop_fiber()?;
        // SAFETY: it has just been removed from its list.
        unsafe { started.push_fiber(fiber) };
        Some(fiber)
    }

    /// Returns true if a fiber that has started here lives.
    #[inline(always)]
    pub(in crate::sched) fn has_started(&self) -> bool {
        // SAFETY: K1.
        !unsafe { &*self.started.get() }.is_empty()
    }

    /// Counts a fresh fiber that is put behind started ones. False if there were `most` in a row.
    #[inline(always)]
    pub(in crate::sched) fn defer(&self, most: u32) -> bool {
        let deferred = self.deferred.get();
        let defers = deferred < most;
        if defers {
            self.deferred.set(deferred + 1);
        }
        defers
    }

    /// Ends a row of fresh fibers that were put behind started ones.
    #[inline(always)]
    pub(in crate::sched) fn end_deferrals(&self) {
        self.deferred.set(0);
    }

    /// Returns how many dispatches in a row came out of the `next` slot; `None` if that was as many
    /// as may.
    #[inline(always)]
    pub(in crate::sched) fn streak(&self) -> Option<u32> {
        Some(self.streak.get()).filter(|streak| *streak < STREAK)
    }

    /// Sets how many dispatches in a row came out of the `next` slot.
    #[inline(always)]
    pub(in crate::sched) fn set_streak(&self, streak: u32) {
        self.streak.set(streak);
    }

    /// Returns true if the ring is popped first, and the ready list the next time, or the reverse.
    #[inline(always)]
    pub(in crate::sched) fn alternate(&self) -> bool {
        let ring_first = self.ring_first.get();
        self.ring_first.set(!ring_first);
        ring_first
    }

    /// Pushes to the back of the ready list.
    #[inline(always)]
    pub(in crate::sched) fn push_ready(&self, fiber: FiberPtr) {
        // SAFETY: K1.
        unsafe { (*self.ready.get()).push_back(fiber) };
    }

    /// Appends to the ready list.
    #[inline(always)]
    pub(in crate::sched) fn append_ready(&self, fibers: Fifo<FiberHead>) {
        // SAFETY: K1.
        unsafe { (*self.ready.get()).append(fibers) };
    }

    /// Pops the oldest fiber of the ready list.
    #[inline(always)]
    pub(in crate::sched) fn pop_ready(&self) -> Option<FiberPtr> {
        // SAFETY: K1.
        unsafe { (*self.ready.get()).pop_front() }
    }

    /// The number of fibers in the ready list.
    #[inline(always)]
    pub(in crate::sched) fn count_ready(&self) -> usize {
        // SAFETY: K1.
        unsafe { &*self.ready.get() }.len() as usize
    }

    /// Returns true if the ready list has fibers.
    #[inline(always)]
    pub(in crate::sched) fn has_ready(&self) -> bool {
        // SAFETY: K1.
        !unsafe { &*self.ready.get() }.is_empty()
    }
}
