//! The queue of fibers that no worker has yet: spawned by foreign threads, placed on another
//! worker, or overflowed from a ring.
//!
//! A row of shards, each a locked ring of pointers with its length beside it. (Not an
//! intrusive list: a burst that overflows is larger than any cache, and following links
//! through cold headers costs a memory latency for each; pointers in a row can be prefetched
//! together. Measured at a million spawned fibers: 25 ns of 145 for each.) Who pushes where
//! is policy (`sched::place`); any thread may take from any shard, also a dead worker's.
//!
//! Owns: the shards. Does not own: the wake. Whoever pushes then asks
//! [`Idle::claim_sleeper`](crate::sched::idle::Idle::claim_sleeper), whose fence orders the
//! length written here before the look at the sleepers; whoever goes to sleep looks at
//! the lengths after [`Idle::announce`](crate::sched::idle::Idle::announce). So the
//! lengths themselves are written relaxed, by plain stores under the lock.
//!
//! LOCK: a shard's lock is a leaf: nothing is called while it is held.

use std::collections::VecDeque;
use std::ptr::NonNull;

use crate::base::list::{Fifo, Linked};
use crate::base::pad::CachePadded;
use crate::base::prefetch::prefetch;
use crate::shim::Lock;
use crate::shim::atomic::{AtomicUsize, Ordering};

/// What running a fiber touches of its header: all of it and a small payload.
const HEAD: usize = 256;

/// The shards.
#[derive(Debug)]
pub(crate) struct Injector<T> {
    shards: Box<[CachePadded<Shard<T>>]>,
}

#[derive(Debug)]
struct Shard<T> {
    queue: Lock<Queue<T>>,
    /// The queue's length. Written under the lock, read by anyone.
    len: AtomicUsize,
}

/// The fibers of one shard, oldest first.
#[derive(Debug)]
struct Queue<T>(VecDeque<NonNull<T>>);

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

    pub(crate) fn push(&self, shard: usize, fiber: NonNull<T>) {
        self.shards[shard].edit(|queue| queue.push_back(fiber));
    }

    pub(crate) fn push_batch(&self, shard: usize, fibers: Fifo<T>) {
        self.shards[shard].edit(|queue| {
            let mut fibers = fibers;
            while let Some(fiber) = fibers.pop_front() {
                queue.push_back(fiber);
            }
        });
    }

    /// Takes up to `n` from one shard, oldest first. An empty shard costs one load.
    pub(crate) fn pop_batch(&self, shard: usize, n: u32) -> Fifo<T> {
        let shard = &self.shards[shard];
        if shard.len.load(Ordering::Relaxed) == 0 {
            return Fifo::new();
        }
        shard.edit(|queue| {
            let n = (n as usize).min(queue.len());
            for fiber in queue.range(..n) {
                prefetch(fiber.as_ptr(), HEAD);
            }
            let mut batch = Fifo::new();
            for fiber in queue.drain(..n) {
                batch.push_back(fiber);
            }
            batch
        })
    }

    /// Takes up to `n` from the first shard at or after `start` (going round) that has any.
    pub(crate) fn pop_any(&self, start: usize, n: u32) -> Fifo<T> {
        let shards = self.shards.len();
        (0..shards)
            .map(|step| self.pop_batch((start + step) % shards, n))
            .find(|batch| !batch.is_empty())
            .unwrap_or_default()
    }

    /// How many wait, in all; exact only if nobody is at work.
    pub(crate) fn len(&self) -> usize {
        self.shards
            .iter()
            .map(|shard| shard.len.load(Ordering::Relaxed))
            .sum()
    }

    /// How many wait in one shard.
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
            queue: Lock::new(Queue(VecDeque::new())),
            len: AtomicUsize::new(0),
        }
    }

    fn edit<R>(&self, change: impl FnOnce(&mut VecDeque<NonNull<T>>) -> R) -> R {
        let mut queue = self.queue.lock();
        let answer = change(&mut queue.0);
        self.len.store(queue.0.len(), Ordering::Relaxed);
        answer
    }
}
