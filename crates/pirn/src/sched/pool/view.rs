//! The view that observers have of a pool and its workers, from any thread.
//!
//! Owns: readings of the words that workers keep for others. Does not own: the words (`remote`), or
//! the meaning of a reading (`observe`). A reading asks no worker, and changes nothing but the
//! order of a list ([`Remote::rotate_started`]).

use crate::base::diagnostics_enabled::KEEPS_REPORT_DATA;
use crate::context::HighWater;
use crate::events::Watch;
use crate::fiber::FiberPtr;
use crate::sched::pool::remote::{ASLEEP, Remote, TIMED};
use crate::sched::pool::shared::Pool;
use crate::shim::atomic::Ordering;
use crate::sys::ThreadProbe;

/// Whether a worker sleeps.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum Rest {
    Awake,
    /// It sleeps until it is woken.
    Asleep,
    /// It sleeps until some deadline.
    Timed,
}

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

    /// Returns the high-water mark of the stacks of the default size. Makes a system call for each.
    pub(crate) fn stack_high_water(&self) -> HighWater {
        self.stacks.high_water()
    }
}

impl Remote {
    /// True if a thread was created for the worker, and has not left it.
    pub(crate) fn is_launched(&self) -> bool {
        self.thread.can_be_woken()
    }

    /// True if the worker counts towards the size that the pool is meant to have.
    pub(crate) fn is_member(&self) -> bool {
        self.thread.is_member()
    }

    /// True if the worker has a thread that has not ended.
    pub(crate) fn has_thread(&self) -> bool {
        self.thread.is_there_in_order()
    }

    /// Returns how to ask the system about the worker's thread.
    pub(crate) fn thread(&self) -> &ThreadProbe {
        &self.thread.probe
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

    /// Records that the worker has run one fiber since `since`, which is long. `dispatch` is the
    /// number of that dispatch. On the monitor's thread.
    pub(crate) fn set_stands(&self, since: u64, dispatch: u64) {
        self.notes.set_stand(since, dispatch);
    }

    /// Returns since when the worker has run one fiber, if the monitor has seen that it has done so
    /// for long. `None` if the worker has dispatched since then: it answers.
    pub(crate) fn stands_since(&self) -> Option<u64> {
        let stands = self.notes.stands_at();
        // First: a worker counts a dispatch before it stores the fiber.
        let runs = self.runs();
        let lasts = stands != 0 && runs && stands == self.dispatched();
        lasts.then(|| self.notes.stands_since())
    }

    /// The number of fibers in the ring.
    pub(crate) fn ring_len(&self) -> usize {
        self.ring.len() as usize
    }

    /// The number of fibers in the ring and in the `next` slot.
    pub(crate) fn fresh(&self) -> usize {
        self.ring_len() + usize::from(!self.next.is_empty())
    }

    /// Returns the name of the fiber with this identity, if it was named last.
    pub(crate) fn name_of(&self, id: u64) -> Option<String> {
        self.watched.name_of(id)
    }

    /// Returns whether the worker sleeps, and for how long.
    pub(crate) fn rest(&self) -> Rest {
        match self.sleep.load(Ordering::SeqCst) {
            ASLEEP => Rest::Asleep,
            TIMED => Rest::Timed,
            _ => Rest::Awake,
        }
    }

    /// True if the worker sleeps.
    pub(crate) fn is_asleep(&self) -> bool {
        self.rest() != Rest::Awake
    }

    /// True if the worker sleeps until it is woken. One that went to sleep with a timer may have
    /// none any more, where others take timers back.
    pub(crate) fn sleeps_for_good(&self) -> bool {
        let timed = || !self.is_free() || self.migration.next_timer().is_some();
        match self.rest() {
            Rest::Asleep => true,
            Rest::Timed => !timed(),
            Rest::Awake => false,
        }
    }

    /// Returns the number of started fibers of this worker that are ready and do not run. Exact
    /// while the worker runs one fiber, else an estimate. 0 where fibers may migrate.
    pub(crate) fn seen_ready(&self) -> usize {
        if self.is_free() || !KEEPS_REPORT_DATA {
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
        let woken = usize::from(!self.inbox.is_empty());
        let started = self.seen_ready() + woken + self.shared_ready();
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

/// Where fibers may migrate: what workers share. Elsewhere there is nothing.
impl Remote {
    /// True if fibers may migrate.
    pub(crate) fn is_free(&self) -> bool {
        self.migration.is_on()
    }

    /// The number of started fibers in the common ready list.
    pub(crate) fn shared_ready(&self) -> usize {
        self.migration.ready()
    }

    /// Calls `f` for each fiber that has started on this worker, under the lock (CM1 of
    /// `migrate::shared_queues`).
    pub(crate) fn each_started(&self, f: impl FnMut(FiberPtr)) {
        self.migration.each_started(f);
    }

    /// Calls `f` for the first `n` of them, under the lock, and moves them to the end of the list.
    /// Returns how many there were.
    pub(crate) fn rotate_started(&self, n: usize, f: impl FnMut(FiberPtr)) -> usize {
        self.migration.rotate_started(n, f)
    }

    /// True if the home of `fiber`, which has started here, is this worker: the fiber is not
    /// pinned.
    pub(crate) fn is_home_of(&self, fiber: FiberPtr) -> bool {
        self.migration.is_home_of(fiber)
    }
}
