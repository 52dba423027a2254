//! Quiescence: detects that no fiber is left, without a counter that all workers write.
//!
//! Each worker counts what it spawned and what it ended; [`balance`] adds up all that ended
//! *before* all that was spawned. Both only grow, and a fiber is counted as spawned before it can
//! end. So equal sums mean that at some moment between the two readings nothing was alive (that was
//! not about to be spawned from outside).
//!
//! Fibers of the pool may wait here themselves. They are released when no other fiber is alive;
//! waiters from outside, when nothing is alive at all. The thread that detects this ends a round,
//! under the lock, and then releases the waiters of ended rounds, even if the first of them to run
//! has spawned again meanwhile.
//!
//! LIVENESS: a waiter announces that it watches, then a fence, then it adds up. A worker that ends
//! a fiber counts it and looks whether a waiter watches. That look may be too early to see it, but
//! before the worker sleeps it goes through the fence of its announcement and looks again. Of two
//! fences one is the first: either the waiter's sum has the fiber's end, or the worker's second
//! look sees the waiter.

use crate::base::mutant::mutant;
use crate::fiber::state::Code;
use crate::fiber::ticket::Wake;
use crate::fiber::waiter::WaitQueue;
use crate::sched::pool::counters::{Counter, WorkerCounters};
use crate::shim::Lock;
use crate::shim::atomic::{AtomicUsize, Ordering, fence};
use crate::wait::object::{Describe, ObjectKind};
use crate::wait::polling::refuse_in_poll;
use crate::wait::{Attempt, How, Spec, Waited, wait_in, wake_all};

/// The waiters for the moment when a pool has no fibers.
pub(in crate::sched) struct Quiet {
    watching: AtomicUsize,
    waiters: Lock<Waiters>,
}

/// Each waiter with the number of its round.
struct Waiters {
    /// Fibers of the pool that wait and have not been released.
    inside: u64,
    /// How many times no other fibers were alive.
    inside_rounds: u64,
    inside_queue: WaitQueue<u64>,
    /// How many times no fiber was alive.
    outside_rounds: u64,
    outside_queue: WaitQueue<u64>,
}

impl Describe for Waiters {
    fn describe(&self) -> ObjectKind {
        ObjectKind::Runtime
    }
}

impl Quiet {
    pub(in crate::sched) fn new() -> Quiet {
        let waiters = Waiters {
            inside: 0,
            inside_rounds: 0,
            inside_queue: WaitQueue::new(),
            outside_rounds: 0,
            outside_queue: WaitQueue::new(),
        };
        Quiet {
            watching: AtomicUsize::new(0),
            waiters: Lock::new(waiters),
        }
    }

    /// As [`check`](Quiet::check), if there is a waiter.
    #[inline(always)]
    pub(in crate::sched) fn check_if_watched(&self, live: impl Fn() -> u64) {
        if self.watching.load(Ordering::Relaxed) != 0 {
            self.check(live);
        }
    }

    /// Adds up with `live`, and releases the waiters of rounds that have ended.
    #[cold]
    pub(in crate::sched) fn check(&self, live: impl Fn() -> u64) {
        let over = self.waiters.lock().observe(live());
        if over {
            self.release();
        }
    }

    /// Waits until nothing is alive, by `live`. A fiber of the pool (`inside`) does not wait for
    /// itself, nor for others that wait here.
    #[track_caller]
    pub(in crate::sched) fn wait(
        &self,
        live: impl Fn() -> u64,
        inside: bool,
        spec: &Spec,
    ) -> How {
        refuse_in_poll();
        self.watching.fetch_add(1, Ordering::SeqCst);
        if !mutant!("quiet_unfenced") {
            fence(Ordering::SeqCst);
        }
        // The thread that finds a round over releases it, even if it is not its own round.
        self.check(&live);
        let attempt = |waiters: &mut Waiters| waiters.join(&live, inside);
        let waited = if inside {
            wait_in(
                &self.waiters,
                |waiters| &mut waiters.inside_queue,
                spec,
                attempt,
            )
        } else {
            wait_in(
                &self.waiters,
                |waiters| &mut waiters.outside_queue,
                spec,
                attempt,
            )
        };
        let how = match waited {
            Waited::Done(()) => {
                self.release();
                How::Woken(Code::case(0))
            }
            Waited::Ended(how, _) => how,
        };
        if inside && !matches!(how, How::Woken(_)) {
            self.waiters.lock().inside -= 1;
        }
        self.watching.fetch_sub(1, Ordering::SeqCst);
        how
    }

    fn release(&self) {
        wake_all(&self.waiters, Waiters::claim_one);
    }
}

impl Waiters {
    /// Records whether a round has ended; true if so.
    fn observe(&mut self, live: u64) -> bool {
        let over = live <= self.inside;
        self.inside_rounds += u64::from(over);
        self.outside_rounds += u64::from(live == 0);
        over
    }

    fn join(&mut self, live: impl Fn() -> u64, inside: bool) -> Attempt<(), u64> {
        self.inside += u64::from(inside);
        let live = live();
        let over = (inside || live == 0) && self.observe(live);
        match inside {
            true if over => {
                self.inside -= 1;
                Attempt::Done(())
            }
            true => Attempt::Wait(self.inside_rounds),
            false if live == 0 => Attempt::Done(()),
            false => Attempt::Wait(self.outside_rounds),
        }
    }

    /// Claims one waiter of a round that has ended.
    fn claim_one(&mut self) -> Option<Wake> {
        let ended = self.outside_rounds;
        let outside = self
            .outside_queue
            .claim_first_if(|round| *round < ended, |_| ());
        if outside.is_some() {
            return outside;
        }
        let ended = self.inside_rounds;
        let inside = self
            .inside_queue
            .claim_first_if(|round| *round < ended, |_| ());
        self.inside -= u64::from(inside.is_some());
        inside
    }
}

/// Returns the number spawned, by `workers` and from outside, minus those that have ended or were
/// rejected; never too few, and exact when nothing runs.
pub(in crate::sched) fn balance<'a, W: Iterator<Item = &'a WorkerCounters>>(
    workers: impl Fn() -> W,
    outside: &Counter,
    rejected_spawns: &Counter,
) -> u64 {
    let ended =
        || workers().map(|w| w.completed.get()).sum::<u64>() + rejected_spawns.get();
    let spawned = || workers().map(|w| w.spawned.get()).sum::<u64>() + outside.get();
    if mutant!("spawned_before_ended") {
        return spawned().saturating_sub(ended());
    }
    let ended = ended();
    spawned() - ended
}
