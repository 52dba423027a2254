//! Slow fibers: those that run on while others wait for their worker.
//!
//! The monitor looks. A worker whose count of dispatches stands still runs one fiber; if
//! others have waited behind it for longer than the runtime's threshold, that is said on
//! standard error, once for each run of a fiber. What waits: the ready list, as the worker
//! shows it (`events::hooks`), its `next` slot and ring, and its mailbox; where fibers may
//! migrate, the injector too, unless a worker sleeps.
//!
//! LIVENESS: the monitor stops only while all workers sleep; a worker that wakes up starts it
//! again, if slow fibers are looked for (`Worker::waking`). So it looks at least every 20 ms
//! while any worker is awake. Nothing is asked of a worker, which may be stuck in the kernel.

use std::io::{self, Write};
use std::ptr::NonNull;
use std::time::Duration;

use super::pool::Pool;
use super::remote::Remote;
use super::worker::header;
use crate::base::clock;
use crate::shim::atomic::Ordering;

/// What the monitor remembers of each worker.
pub(super) struct SlowFibers {
    threshold: u64,
    workers: Vec<Run>,
}

/// One worker's present run of a fiber.
#[derive(Debug, Default, Copy, Clone)]
struct Run {
    /// Dispatches, the one of this run included.
    epoch: u64,
    /// When it was first seen.
    since: u64,
    /// When something was first seen to wait behind it; 0 before that.
    held_since: u64,
    reported: bool,
}

impl SlowFibers {
    /// For a pool that looks for fibers that are slower than `threshold`.
    pub(super) fn new(threshold: Duration) -> SlowFibers {
        SlowFibers {
            threshold: u64::try_from(threshold.as_nanos()).unwrap_or(u64::MAX),
            workers: Vec::new(),
        }
    }

    /// Looks at every worker, and reports what is due.
    pub(super) fn look(&mut self, pool: &Pool) {
        let now = clock::now();
        // All that have ever had a place: those that stand in for others too.
        self.workers.resize(pool.remotes.len(), Run::default());
        for (index, run) in self.workers.iter_mut().enumerate() {
            let remote = &pool.remotes[index];
            let epoch = remote.counters.dispatched.get();
            if epoch != run.epoch || !remote.watched.runs() {
                *run = Run {
                    epoch,
                    since: now,
                    ..Run::default()
                };
                continue;
            }
            let waiting = remote.waiting() + waiting_for_all(pool);
            if waiting == 0 || run.reported {
                continue;
            }
            if run.held_since == 0 {
                run.held_since = now;
            }
            if now - run.held_since >= self.threshold {
                run.reported = report(pool, index, epoch, now - run.since, waiting);
            }
        }
    }
}

/// How many are seen to wait for any worker, where they wait there and none is to come.
fn waiting_for_all(pool: &Pool) -> usize {
    if pool.is_free() && !pool.idle.sleepers_hint() {
        pool.injector.len()
    } else {
        0
    }
}

impl Remote {
    /// How many fibers are seen to wait for this worker: never too many, but for those on
    /// their way.
    fn waiting(&self) -> usize {
        let (_, queued) = self.ring.look();
        // Where fibers may migrate the list is there for all to see, and what was in it may be gone.
        self.commons
            .map_or_else(|| self.watched.behind(), |commons| commons.len())
            + queued as usize
            + usize::from(!self.next.is_empty())
            + usize::from(!self.mailbox.is_empty())
    }
}

/// Says who keeps the worker; false if that run has ended meanwhile.
fn report(pool: &Pool, index: usize, epoch: u64, ran: u64, waiting: usize) -> bool {
    let remote = &pool.remotes[index];
    let Some(fiber) = NonNull::new(remote.running.load(Ordering::Acquire)) else {
        return false;
    };
    let header = header(fiber);
    let (id, location) = (header.id(), header.location());
    let name = remote.watched.name_of(id);
    // The identity and the place are of whoever lives in the header: of this fiber, as long
    // as the worker has not gone on.
    if remote.counters.dispatched.get() != epoch {
        return false;
    }
    let line = format!(
        "pirn: fiber {id} '{}' (spawned at {location}) has kept worker {index} of '{}' \
         for {} ms; at least {waiting} wait behind it\n",
        name.as_deref().unwrap_or("unnamed"),
        pool.name(),
        ran / 1_000_000,
    );
    // Whole, or what others say would come between its parts. Whoever sees the count finds it there.
    let _ = io::stderr().write_all(line.as_bytes());
    pool.slow_fibers.increment_shared();
    true
}
