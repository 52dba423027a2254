//! Fresh fibers that found no stack.

use crate::base::list::Fifo;
use crate::context::OutOfStacks;
use crate::fiber::ticket::Wake;
use crate::fiber::{FiberHead, FiberPtr, stackless};
use crate::shim::Lock;
use crate::shim::atomic::{AtomicBool, AtomicUsize, Ordering};
use crate::sys;

/// Fresh fibers that found no stack, oldest first.
pub(in crate::sched) struct StackWaiters {
    fibers: Lock<Fifo<FiberHead>>,
    len: AtomicUsize,
    /// The sum of `len` and `beyond`. Written under the lock.
    watched: AtomicUsize,
    /// Stacks beyond `max_stacks` that are out. Written under the lock.
    beyond: AtomicUsize,
    reported: AtomicBool,
}

impl StackWaiters {
    pub(in crate::sched) fn new() -> StackWaiters {
        StackWaiters {
            fibers: Lock::new(Fifo::new()),
            len: AtomicUsize::new(0),
            watched: AtomicUsize::new(0),
            beyond: AtomicUsize::new(0),
            reported: AtomicBool::new(false),
        }
    }

    /// Queues a fresh fiber for which there is no stack, and notifies the waiters for its end: they
    /// may borrow a stack for it. Reports the first such fiber of the pool on standard error.
    pub(in crate::sched) fn push(&self, fiber: FiberPtr, why: &OutOfStacks) {
        let mut wakes = Vec::new();
        {
            let mut fibers = self.fibers.lock();
            fibers.push_back(fiber);
            // Under the lock, so that no worker takes the fiber meanwhile.
            stackless::begin(fiber.header(), &mut wakes);
            // ORDERING: SeqCst: precedes the wake-ups of `wake_all_workers`. A worker that was
            // awake and has read an older length reads it again before it sleeps.
            self.note_len(&fibers);
        }
        wakes.into_iter().for_each(Wake::enqueue);
        if !self.reported.swap(true, Ordering::Relaxed) {
            // Not through `std`: a fiber may hold its lock of standard error.
            sys::report(&format!(
                "pirn: fibers wait for a stack: {why}; they start as soon as others end\n"
            ));
        }
    }

    #[inline(always)]
    pub(in crate::sched) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// True if the end of a fiber needs a look at this list: fibers wait here, or stacks beyond the
    /// bound are out, which no other fiber may inherit.
    #[inline(always)]
    pub(in crate::sched) fn is_watched(&self) -> bool {
        self.watched.load(Ordering::Relaxed) != 0
    }

    /// Records how many stacks beyond the bound are out.
    pub(in crate::sched) fn set_beyond(&self, count: impl FnOnce() -> usize) {
        let fibers = self.fibers.lock();
        // Counted under the lock, so that the last count is the one that stays.
        self.beyond.store(count(), Ordering::Relaxed);
        self.note_len(&fibers);
    }

    #[inline(always)]
    pub(in crate::sched) fn len(&self) -> usize {
        self.len.load(Ordering::Relaxed)
    }

    /// Takes the oldest one, if `fits` finds that there may be a stack for it.
    pub(in crate::sched) fn pop_if(
        &self,
        fits: impl FnOnce(FiberPtr) -> bool,
    ) -> Option<FiberPtr> {
        let mut fibers = self.fibers.lock();
        if !fits(fibers.front()?) {
            return None;
        }
        let fiber = fibers.pop_front()?;
        self.taken(&fibers, fiber);
        Some(fiber)
    }

    /// Takes the oldest one that is `wanted`.
    pub(in crate::sched) fn take(
        &self,
        wanted: impl Fn(FiberPtr) -> bool,
    ) -> Option<FiberPtr> {
        let mut fibers = self.fibers.lock();
        let fiber = fibers.take_first(wanted)?;
        self.taken(&fibers, fiber);
        Some(fiber)
    }

    /// As [`take`](Self::take), if `get` has something for the oldest one that is wanted. (Under
    /// the lock: so a fiber that gets nothing has been here all the time.)
    pub(in crate::sched) fn take_with<T>(
        &self,
        wanted: impl Fn(FiberPtr) -> bool,
        get: impl FnOnce(FiberPtr) -> Option<T>,
    ) -> Option<(FiberPtr, T)> {
        let mut fibers = self.fibers.lock();
        let (mut get, mut got) = (Some(get), None);
        let fiber = fibers.take_first(|fiber| {
            if wanted(fiber)
                && let Some(get) = get.take()
            {
                got = get(fiber);
            }
            got.is_some()
        })?;
        self.taken(&fibers, fiber);
        Some((fiber, got?))
    }

    /// Under the lock.
    fn taken(&self, fibers: &Fifo<FiberHead>, fiber: FiberPtr) {
        self.note_len(fibers);
        stackless::end(fiber.header());
    }

    /// Under the lock.
    fn note_len(&self, fibers: &Fifo<FiberHead>) {
        let len = fibers.len() as usize;
        let beyond = self.beyond.load(Ordering::Relaxed);
        self.len.store(len, Ordering::SeqCst);
        self.watched.store(len + beyond, Ordering::Relaxed);
    }
}
