//! The parts of a worker that are shared where fibers may migrate: its started fibers, those of
//! them that may run, and their timers.
//!
//! Where fibers settle, these are the worker's own and need no lock. Here others take fibers from a
//! worker's ready list, end fibers that have started on it, and fire its timers if it does not get
//! to them.
//!
//! Type-stable, as inboxes are: a started fiber's home is the `SharedQueues` of the worker that it
//! started on, wherever it runs by now.
//!
//! Invariants:
//! * CM1. A fiber is in `started` from its start to its end, so a thread that holds that lock, or
//!   holds the fiber (`StateWord::hold`), keeps it from ending.
//! * CM2. A pool has a worker as long as any of its `started` has a fiber. So the pool of a fiber
//!   that has been claimed and not been enqueued is there.
//! * CM3. Only the worker's own thread arms timers, and pushes to `ready`.
//!
//! Locks: each is taken alone. No fiber is enqueued under one of them, and no other lock is taken
//! but a fiber's `join`, by a thread that goes through `started`.

use std::ptr;

use crate::base::list::{Fifo, List};
use crate::base::pad::CachePadded;
use crate::fiber::state::Code;
use crate::fiber::ticket::Wake;
use crate::fiber::{FiberHead, FiberPtr, Header, Ticket};
use crate::sched::pool::counters::Gauge;
use crate::shim::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use crate::shim::{Lock, StaticLock};
use crate::timer::{Timer, Wheel};

/// The shared parts of one worker.
pub(in crate::sched) struct SharedQueues {
    ready: CachePadded<Ready>,
    timers: CachePadded<Timers>,
    started: Lock<List<Header>>,
    /// The address of the pool that the worker belongs to; null before its thread has come (CM2).
    pool: AtomicPtr<()>,
    /// Its number there.
    worker: AtomicUsize,
}

struct Ready {
    /// Started fibers that may run, oldest first.
    fibers: Lock<Fifo<FiberHead>>,
    len: AtomicUsize,
    /// The number of fibers taken out.
    taken: AtomicU32,
}

struct Timers {
    wheel: Lock<Wheel<Ticket>>,
    /// The value of `Wheel::next_deadline`; `NEVER` if nothing will fire.
    next: AtomicU64,
}

const NEVER: u64 = u64::MAX;

/// The unused ones.
static FREE: StaticLock<Vec<&'static SharedQueues>> = StaticLock::new(Vec::new());

impl SharedQueues {
    /// Takes an unused one, or creates one that is never freed.
    pub(in crate::sched) fn acquire(now: u64) -> &'static SharedQueues {
        let known = FREE.lock().pop();
        known.unwrap_or_else(|| Box::leak(Box::new(SharedQueues::new(now))))
    }

    fn new(now: u64) -> SharedQueues {
        SharedQueues {
            ready: CachePadded::new(Ready {
                fibers: Lock::new(Fifo::new()),
                len: AtomicUsize::new(0),
                taken: AtomicU32::new(0),
            }),
            timers: CachePadded::new(Timers {
                wheel: Lock::new(Wheel::new(now)),
                next: AtomicU64::new(NEVER),
            }),
            started: Lock::new(List::new()),
            pool: AtomicPtr::new(ptr::null_mut()),
            worker: AtomicUsize::new(0),
        }
    }

    /// Returns it to the unused ones. No fiber has it as its home any more.
    pub(in crate::sched) fn release(&'static self) {
        debug_assert!(self.started.lock().is_empty(), "fibers without a home");
        self.pool.store(ptr::null_mut(), Ordering::Relaxed);
        FREE.lock().push(self);
    }

    /// Assigns it to this worker of the pool at this address.
    ///
    /// # Safety
    /// CM2: `pool` is the address of a pool in an `Arc`, and the worker holds a reference to it
    /// until `release`.
    pub(in crate::sched) unsafe fn bind(&self, pool: *const (), worker: usize) {
        self.worker.store(worker, Ordering::Relaxed);
        // ORDERING: Release: with the number, for a thread that has a fiber of this worker.
        self.pool.store(pool.cast_mut(), Ordering::Release);
    }

    pub(in crate::sched) fn worker(&self) -> usize {
        self.worker.load(Ordering::Relaxed)
    }

    pub(in crate::sched) fn is_of(&self, pool: *const ()) -> bool {
        ptr::eq(self.pool.load(Ordering::Relaxed), pool)
    }

    /// Returns the address of the pool.
    pub(in crate::sched) fn pool(&self) -> *const () {
        self.pool.load(Ordering::Acquire)
    }

    /// Pushes a started fiber. On the worker's own thread.
    pub(in crate::sched) fn push(&self, fiber: FiberPtr) {
        let mut fibers = self.ready.fibers.lock();
        fibers.push_back(fiber);
        self.ready.set_len(&fibers);
    }

    /// Pushes started fibers. On the worker's own thread.
    pub(in crate::sched) fn append(&self, more: Fifo<FiberHead>) {
        let mut fibers = self.ready.fibers.lock();
        fibers.append(more);
        self.ready.set_len(&fibers);
    }

    /// Pops the oldest ready fiber.
    #[inline]
    pub(in crate::sched) fn pop(&self) -> Option<FiberPtr> {
        if self.len() == 0 {
            return None;
        }
        self.take(1).pop_front()
    }

    /// Takes half of the ready fibers, at most `most`, oldest first.
    pub(in crate::sched) fn take_half(&self, most: usize) -> Fifo<FiberHead> {
        match self.len() {
            0 => Fifo::new(),
            len => self.take(len.div_ceil(2).min(most)),
        }
    }

    fn take(&self, n: usize) -> Fifo<FiberHead> {
        let mut fibers = self.ready.fibers.lock();
        let taken = fibers.split_front(n as u32);
        self.ready.set_len(&fibers);
        let before = self.ready.taken.load(Ordering::Relaxed);
        let after = before.wrapping_add(taken.len());
        self.ready.taken.store(after, Ordering::Relaxed);
        taken
    }

    /// The number of fibers that may run here; approximate unless the worker's own thread asks.
    #[inline]
    pub(in crate::sched) fn len(&self) -> usize {
        self.ready.len.load(Ordering::Relaxed)
    }

    /// Returns how many have been taken so far, and how many may run.
    pub(in crate::sched) fn look(&self) -> (u32, usize) {
        (self.ready.taken.load(Ordering::Relaxed), self.len())
    }

    /// Arms a timer. On the worker's own thread.
    ///
    /// # Safety
    /// As `Wheel::arm`, but any thread may fire it or take it back.
    pub(in crate::sched) unsafe fn arm(
        &self,
        timer: ptr::NonNull<Timer<Ticket>>,
        deadline: u64,
    ) {
        let mut wheel = self.timers.wheel.lock();
        // SAFETY: the caller's promise; the lock makes it this thread's.
        unsafe { wheel.arm_coarse(timer, deadline) };
        self.timers.set_next(&wheel);
    }

    /// Takes a timer back. Any thread.
    ///
    /// # Safety
    /// As `Wheel::disarm`.
    pub(in crate::sched) unsafe fn disarm(
        &self,
        timer: ptr::NonNull<Timer<Ticket>>,
    ) -> bool {
        let mut wheel = self.timers.wheel.lock();
        // SAFETY: the caller's promise.
        let armed = unsafe { wheel.disarm(timer) };
        if armed {
            self.timers.set_next(&wheel);
        }
        armed
    }

    /// Returns when the next timer is due, as the wheel counts it.
    #[inline]
    pub(in crate::sched) fn next_timer(&self) -> Option<u64> {
        let next = self.timers.next.load(Ordering::Relaxed);
        (next != NEVER).then_some(next)
    }

    /// Ends the waits with timers due by `now`, and returns the fibers, which the caller enqueues.
    /// Any thread.
    pub(in crate::sched) fn fire(&self, now: u64) -> Fifo<FiberHead> {
        let mut woken = Fifo::new();
        let mut wheel = self.timers.wheel.lock();
        wheel.advance(now, |ticket| {
            if let Some(fiber) = ticket.claim(Code::TIMED_OUT).and_then(Wake::into_fiber)
            {
                // Claimed and not enqueued: its link is the caller's.
                woken.push_back(fiber);
            }
        });
        self.timers.set_next(&wheel);
        woken
    }

    /// Adds a fiber that has started on this worker. On its own thread.
    pub(in crate::sched) fn enter(&self, fiber: FiberPtr, settled: &Gauge) {
        let mut started = self.started.lock();
        // SAFETY: a fiber starts once.
        unsafe { started.push_fiber(fiber) };
        settled.add(1);
    }

    /// Removes a fiber that has started on this worker and has ended.
    pub(in crate::sched) fn leave(&self, fiber: FiberPtr, settled: &Gauge) {
        let mut started = self.started.lock();
        // SAFETY: linked in `enter`, in this list.
        unsafe { started.remove_fiber(fiber) };
        settled.add(-1);
    }

    /// True if a fiber that has started on this worker lives.
    pub(in crate::sched) fn has_started(&self) -> bool {
        !self.started.lock().is_empty()
    }

    /// Calls `f` for each of them, under the lock (CM1).
    pub(in crate::sched) fn each_started(&self, f: impl FnMut(FiberPtr)) {
        self.started.lock().fibers().for_each(f);
    }

    /// Cancels each of them.
    pub(in crate::sched) fn cancel_started(&self) {
        let mut woken = Fifo::new();
        self.each_started(|fiber| {
            if fiber.header().cancel_with_runtime() {
                // Claimed and not enqueued: its link is the caller's.
                woken.push_back(fiber);
            }
        });
        enqueue(woken);
    }

    /// Calls `f` for the first `n` of them, under the lock (CM1), and moves them to the end.
    /// Returns how many there were.
    pub(in crate::sched) fn rotate_started(
        &self,
        n: usize,
        mut f: impl FnMut(FiberPtr),
    ) -> usize {
        let mut started = self.started.lock();
        for i in 0..n {
            let Some(fiber) = started.pop_fiber() else {
                return i;
            };
            // SAFETY: it has just been removed from its list.
            unsafe { started.push_fiber(fiber) };
            f(fiber);
        }
        n
    }
}

impl Ready {
    fn set_len(&self, fibers: &Fifo<FiberHead>) {
        self.len.store(fibers.len() as usize, Ordering::Relaxed);
    }
}

impl Timers {
    fn set_next(&self, wheel: &Wheel<Ticket>) {
        let next = wheel.next_deadline().unwrap_or(NEVER);
        self.next.store(next, Ordering::Relaxed);
    }
}

/// Enqueues fibers that the caller has claimed.
pub(in crate::sched) fn enqueue(mut woken: Fifo<FiberHead>) {
    while let Some(fiber) = woken.pop_front() {
        Wake::of(fiber).enqueue();
    }
}

#[cfg(all(test, not(pirn_modelled)))]
mod tests {
    use std::mem::offset_of;

    use super::*;

    /// Other workers lock one, while the owner changes the others.
    // Proves: C16.
    #[test]
    fn ready_fibers_and_timers_share_no_line() {
        let starts = [
            offset_of!(SharedQueues, ready),
            offset_of!(SharedQueues, timers),
            offset_of!(SharedQueues, started),
        ];
        for (a, b) in [(0, 1), (0, 2), (1, 2)] {
            assert!(starts[a].abs_diff(starts[b]) >= 128, "{starts:?}");
        }
        assert_eq!(align_of::<SharedQueues>(), 128);
    }
}
