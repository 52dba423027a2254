//! What observers read of a pool and its workers, from any thread.
//!
//! Owns: readings of the words that workers keep for others. Does not own: the words (`remote`), or
//! what a reading means (`observe`). A reading changes nothing and asks no worker.

use crate::base::diagnostics_enabled::TELLS;
use crate::sched::events::Watch;
use crate::sched::migrate::shared_queues::SharedQueues;
use crate::sched::pool::remote::{ASLEEP, AWAKE, Remote, TIMED};
use crate::sched::pool::shared::Pool;
use crate::shim::atomic::Ordering;
use crate::sys::ThreadProbe;

impl Pool {
    /// Returns the settings for its diagnostics.
    pub(crate) fn watch(&self) -> &Watch {
        &self.config.watch
    }

    /// The number of workers that have ever existed.
    pub(crate) fn places(&self) -> usize {
        self.remotes.len()
    }

    /// Returns the workers that have ever existed, by number.
    pub(crate) fn remotes(&self) -> impl Iterator<Item = &Remote> {
        self.remotes.iter()
    }

    /// Returns the worker with this number.
    pub(crate) fn remote(&self, worker: usize) -> &Remote {
        &self.remotes[worker]
    }
}

impl Remote {
    /// True if the worker has a thread that has not ended.
    pub(crate) fn has_thread(&self) -> bool {
        let ended = self.ended.load(Ordering::SeqCst);
        self.launched.load(Ordering::SeqCst) && !ended
    }

    /// Returns how to ask the system about the worker's thread.
    pub(crate) fn thread(&self) -> &ThreadProbe {
        &self.thread
    }

    /// The number of switches to fibers.
    pub(crate) fn dispatched(&self) -> u64 {
        self.counters.dispatched.get()
    }

    /// The number of started fibers that have not ended.
    pub(crate) fn settled(&self) -> usize {
        self.settled.get()
    }

    /// True if the worker runs a fiber, as far as it has published that.
    pub(crate) fn runs(&self) -> bool {
        !self.running.load(Ordering::Acquire).is_null()
    }

    /// Returns the name of the fiber with this identity, if it was named last.
    pub(crate) fn name_of(&self, id: u64) -> Option<String> {
        self.watched.name_of(id)
    }

    /// True if the worker sleeps.
    pub(crate) fn is_asleep(&self) -> bool {
        self.sleep.load(Ordering::SeqCst) != AWAKE
    }

    /// True if the worker sleeps until it is woken. One that went to sleep with a timer may have
    /// none any more, where others take timers back.
    pub(crate) fn sleeps_for_good(&self) -> bool {
        let timed = || {
            self.shared_queues
                .is_none_or(|shared_queues| shared_queues.next_timer().is_some())
        };
        match self.sleep.load(Ordering::SeqCst) {
            ASLEEP => true,
            TIMED => !timed(),
            _ => false,
        }
    }

    /// Returns the number of started fibers of this worker that are ready and do not run. Exact
    /// while the worker runs one fiber, else an estimate. 0 where fibers may migrate.
    pub(crate) fn seen_ready(&self) -> usize {
        if self.shared_queues.is_some() || !TELLS {
            return 0;
        }
        let woken = self.counters.fiber_wakes.get();
        let waited = self.counters.fiber_parks.get();
        let parked = waited.saturating_sub(woken) as usize;
        let running = usize::from(!self.running.load(Ordering::Relaxed).is_null());
        let elsewhere = running + parked;
        self.settled.get().saturating_sub(elsewhere)
    }

    /// Returns how many fibers wait for this worker, at least. It is too high only by fibers that
    /// are being moved.
    pub(crate) fn waiting(&self, pool: &Pool, fresh: bool) -> usize {
        let mail = usize::from(!self.inbox.is_empty());
        let started =
            self.seen_ready() + mail + self.shared_queues.map_or(0, SharedQueues::len);
        if !fresh {
            return started;
        }
        let (_, queued) = self.ring.look();
        let next = usize::from(self.next.look_fresh() != 0);
        // Where fibers may migrate, the injector counts for every worker if no worker sleeps.
        let injected = match pool.is_free() && !pool.idle.sleepers_hint() {
            true => pool.injector.len(),
            false => 0,
        };
        started + queued as usize + next + injected
    }

    /// Returns since when a timer of this worker has been due, in nanoseconds; `None` if none is,
    /// or if the worker does not fire its timers itself.
    pub(crate) fn timers_due_since(&self, now: u64) -> Option<u64> {
        let shown = self.timers.lock();
        shown.as_ref()?.due_since(now)
    }
}
