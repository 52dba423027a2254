//! Fresh fibers that found no stack.

use std::io;
use std::io::Write;
use std::ptr::NonNull;

use super::worker::header;
use crate::base::list::Fifo;
use crate::context::OutOfStacks;
use crate::fiber::ticket::Wake;
use crate::fiber::{FiberPtr, Header, hunger};
use crate::shim::Lock;
use crate::shim::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Fresh fibers that found no stack, oldest first.
pub(super) struct Starved {
    fibers: Lock<Fifo<Header>>,
    len: AtomicUsize,
    reported: AtomicBool,
}

impl Starved {
    pub(super) fn new() -> Starved {
        Starved {
            fibers: Lock::new(Fifo::new()),
            len: AtomicUsize::new(0),
            reported: AtomicBool::new(false),
        }
    }

    /// Keeps a fresh fiber for which there is no stack. Says so on standard error, once in
    /// the life of the pool.
    /// Those who wait for its end are told: they may lend it theirs.
    pub(super) fn push(&self, fiber: NonNull<Header>, why: &OutOfStacks) {
        let mut wakes = Vec::new();
        {
            let mut fibers = self.fibers.lock();
            fibers.push_back(fiber);
            // Under the lock, so that nobody takes the fiber meanwhile.
            hunger::begin(header(fiber), &mut wakes);
            // ORDERING: SeqCst: precedes the wake-ups of `rouse`; who was awake and has read
            // an older length reads again before it sleeps.
            self.len.store(fibers.len() as usize, Ordering::SeqCst);
        }
        wakes.into_iter().for_each(Wake::enqueue);
        if !self.reported.swap(true, Ordering::Relaxed) {
            let _ = writeln!(
                io::stderr(),
                "pirn: fibers wait for a stack: {why}; they start as soon as others end"
            );
        }
    }

    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.len.load(Ordering::Relaxed)
    }

    /// Takes the oldest one, if `fits` finds that there may be a stack for it.
    pub(super) fn pop_if(&self, fits: impl FnOnce(FiberPtr) -> bool) -> Option<FiberPtr> {
        let mut fibers = self.fibers.lock();
        if !fits(fibers.front()?) {
            return None;
        }
        let fiber = fibers.pop_front()?;
        self.taken(&fibers, fiber);
        Some(fiber)
    }

    /// Takes the oldest one that is `wanted`.
    pub(super) fn take(&self, wanted: impl Fn(FiberPtr) -> bool) -> Option<FiberPtr> {
        let mut fibers = self.fibers.lock();
        let fiber = fibers.take_first(wanted)?;
        self.taken(&fibers, fiber);
        Some(fiber)
    }

    /// Under the lock.
    fn taken(&self, fibers: &Fifo<Header>, fiber: FiberPtr) {
        self.len.store(fibers.len() as usize, Ordering::SeqCst);
        hunger::end(header(fiber));
    }
}
