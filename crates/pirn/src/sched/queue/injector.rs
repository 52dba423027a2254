//! The queue of fibers that no worker has yet: spawned by foreign threads, placed on another
//! worker, or spilled from a full ring.
//!
//! A row of shards, each with two locked rows of pointers and their length beside them. (Not
//! intrusive lists: a burst that spills is larger than any cache, and following links through cold
//! headers costs a memory latency for each; pointers in a row can be prefetched together. Measured
//! at a million spawned fibers: 25 ns of 145 for each.) The shard to push to is policy
//! (`sched::worker::enqueue`); any thread may take from any shard, also a dead worker's.
//!
//! Fibers that *arrived* form a queue. Fibers that *spilled* form a stack of batches to the worker
//! of the ring, and a queue to all others. The owner continues with what it spawned last, so that a
//! tree of fibers is walked depth first and only few of its nodes have a stack at a time. Thieves
//! take the subtrees nearest to the root (as in Cilk; Blumofe and Leiserson, 1999). For either end,
//! a shard answers from the two in turn. The oldest fibers do not starve: a worker takes one of
//! them every few rounds (`sched::worker::next_fiber`).
//!
//! Owns: the shards. Does not own: the wake. A thread that has pushed then calls
//! [`Idle::claim_sleeper`](crate::sched::pool::idle::Idle::claim_sleeper). The fence there orders
//! the length written here before the look at the sleepers. A worker that goes to sleep looks at
//! the lengths after [`Idle::announce`](crate::sched::pool::idle::Idle::announce). So the lengths
//! themselves are written relaxed, by plain stores under the lock.
//!
//! LOCK: a shard's lock is a leaf: nothing is called while it is held.

use std::collections::VecDeque;

use crate::base::list::{Fifo, Linked, NodePtr};
use crate::base::pad::CachePadded;
use crate::base::prefetch::prefetch;
use crate::shim::Lock;
use crate::shim::atomic::{AtomicUsize, Ordering};

/// Bytes of its header that running a fiber touches: all of it and a small payload.
const HEAD: usize = 256;

/// The shards.
#[derive(Debug)]
pub(crate) struct Injector<T> {
    shards: Box<[CachePadded<Shard<T>>]>,
}

#[derive(Debug)]
struct Shard<T> {
    queue: Lock<Queue<T>>,
    /// The queue's length. Written under the lock, read by any thread.
    len: AtomicUsize,
}

/// The fibers of one shard.
#[derive(Debug)]
struct Queue<T> {
    /// Oldest first.
    arrived: VecDeque<NodePtr<T>>,
    /// Oldest first too.
    spilled: VecDeque<NodePtr<T>>,
    /// True if `spilled` is popped first the next time.
    spilled_first: bool,
}

/// Which of the spilled fibers to take; the ones that arrived are a queue in any case.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum End {
    /// The fibers that have waited longest.
    Oldest,
    /// The same; those that spilled are first.
    OldestSpilled,
    /// The fibers that spilled last.
    Newest,
}

// SAFETY: what is queued may run on any thread; the queue never looks inside.
unsafe impl<T: Linked> Send for Queue<T> {}

impl<T: Linked> Injector<T> {
    /// # Panics
    /// If `shards` is 0.
    pub(crate) fn new(shards: usize) -> Self {
        assert!(shards > 0, "an injector has at least one shard");
        Injector {
            shards: (0..shards)
                .map(|_| CachePadded::new(Shard::new()))
                .collect(),
        }
    }

    pub(crate) fn shards(&self) -> usize {
        self.shards.len()
    }

    /// Pushes a fiber that arrived.
    pub(crate) fn push(&self, shard: usize, fiber: NodePtr<T>) {
        self.shards[shard].edit(|queue| queue.arrived.push_back(fiber));
    }

    /// Takes a fiber back out of those that arrived in a shard, if it is there and is `still` what
    /// was pushed, which is asked under the lock. False if it stays, or is not there.
    pub(crate) fn take_back(
        &self,
        shard: usize,
        fiber: NodePtr<T>,
        still: impl FnOnce() -> bool,
    ) -> bool {
        self.shards[shard].edit(|queue| {
            let at = queue.arrived.iter().rposition(|it| *it == fiber);
            let at = at.filter(|_| still());
            at.and_then(|at| queue.arrived.remove(at)).is_some()
        })
    }

    /// Pushes a batch that spilled from the ring of the shard's worker.
    pub(crate) fn spill(&self, shard: usize, mut batch: Fifo<T>) {
        self.shards[shard].edit(|queue| {
            while let Some(fiber) = batch.pop_front() {
                queue.spilled.push_back(fiber);
            }
        });
    }

    /// Pops up to `n` from one shard, the oldest of them first. An empty shard costs one load.
    pub(crate) fn pop_batch(&self, shard: usize, n: u32, end: End) -> Fifo<T> {
        let shard = &self.shards[shard];
        if shard.len.load(Ordering::Relaxed) == 0 {
            return Fifo::new();
        }
        shard.edit(|queue| queue.take(n as usize, end))
    }

    /// Pops up to `n` of the oldest of the first nonempty shard at or after `start` (circularly).
    pub(crate) fn pop_any(&self, start: usize, n: u32) -> Fifo<T> {
        let shards = self.shards.len();
        (0..shards)
            .map(|step| self.pop_batch((start + step) % shards, n, End::Oldest))
            .find(|batch| !batch.is_empty())
            .unwrap_or_default()
    }

    /// The number of queued fibers, in all; exact only while no thread pushes or pops.
    pub(crate) fn len(&self) -> usize {
        self.shards
            .iter()
            .map(|shard| shard.len.load(Ordering::Relaxed))
            .sum()
    }

    /// The number of queued fibers of one shard.
    pub(crate) fn shard_len(&self, shard: usize) -> usize {
        self.shards[shard].len.load(Ordering::Relaxed)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.shards
            .iter()
            .all(|shard| shard.len.load(Ordering::Relaxed) == 0)
    }
}

impl<T: Linked> Shard<T> {
    fn new() -> Self {
        Shard {
            queue: Lock::new(Queue {
                arrived: VecDeque::new(),
                spilled: VecDeque::new(),
                spilled_first: false,
            }),
            len: AtomicUsize::new(0),
        }
    }

    fn edit<R>(&self, change: impl FnOnce(&mut Queue<T>) -> R) -> R {
        let mut queue = self.queue.lock();
        let answer = change(&mut queue);
        let len = queue.arrived.len() + queue.spilled.len();
        self.len.store(len, Ordering::Relaxed);
        answer
    }
}

impl<T: Linked> Queue<T> {
    fn take(&mut self, n: usize, end: End) -> Fifo<T> {
        self.spilled_first = !self.spilled_first;
        let spilled_first = self.spilled_first || end == End::OldestSpilled;
        let spilled =
            self.arrived.is_empty() || (spilled_first && !self.spilled.is_empty());
        let row = match spilled {
            true => &mut self.spilled,
            false => &mut self.arrived,
        };
        let n = n.min(row.len());
        let from = match end {
            End::Newest if spilled => row.len() - n,
            _ => 0,
        };
        for fiber in row.range(from..from + n) {
            prefetch(fiber.as_ptr(), HEAD);
        }
        let mut batch = Fifo::new();
        for fiber in row.drain(from..from + n) {
            batch.push_back(fiber);
        }
        batch
    }
}
