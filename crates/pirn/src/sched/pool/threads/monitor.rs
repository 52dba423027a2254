//! The workers' side of the monitor: a word that says how soon it looks again, and its parker.
//!
//! Owns: how a worker makes the monitor look. Does not own: when it looks by itself, nor what it
//! looks for (`sched::policy::sysmon`, with the proof that it is not missed).

use std::time::Duration;

use crate::fiber::jobs::Jobs;
use crate::shim;
use crate::shim::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use crate::sys::parker::Parker;

/// How soon the monitor looks again.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
#[repr(u32)]
pub(in crate::sched) enum Pace {
    Attending = 0,
    Restless = 1,
    Dozing = 2,
    /// Checks now and then whether a worker runs again; otherwise as `Stopped`.
    Lingering = 3,
    Stopped = 4,
}

/// The monitor of one pool.
pub(in crate::sched) struct Monitor {
    /// A [`Pace`].
    pace: AtomicU32,
    parker: Parker,
}

/// The monitor's notes on one worker.
pub(in crate::sched) struct Notes {
    /// The value that was found unchanged in `next`: free for thieves to take.
    aged: AtomicUsize,
    /// The worker has run one fiber for so long that nothing is placed here.
    stuck: AtomicBool,
    /// If the worker has run one fiber for long: the time at which it began, and the number of that
    /// dispatch.
    stands_since: AtomicU64,
    stands_at: AtomicU64,
    /// The worker takes or gives back a stack, and may wait for others that do: no fiber runs here.
    /// Written by the worker.
    at_stacks: AtomicBool,
}

impl Notes {
    pub(in crate::sched) fn new() -> Notes {
        Notes {
            aged: AtomicUsize::new(0),
            stuck: AtomicBool::new(false),
            stands_since: AtomicU64::new(0),
            stands_at: AtomicU64::new(0),
            at_stacks: AtomicBool::new(false),
        }
    }

    /// Returns the value of `next` that thieves may take.
    #[inline]
    pub(in crate::sched) fn aged(&self) -> usize {
        // ORDERING: Relaxed: a hint; `Next::steal` compares the slot itself.
        self.aged.load(Ordering::Relaxed)
    }

    pub(in crate::sched) fn set_aged(&self, next: usize) {
        self.aged.store(next, Ordering::Relaxed);
    }

    /// Returns true if nothing is placed on the worker.
    pub(in crate::sched) fn is_stuck(&self) -> bool {
        self.stuck.load(Ordering::Relaxed)
    }

    pub(in crate::sched) fn set_stuck(&self, stuck: bool) {
        self.stuck.store(stuck, Ordering::Relaxed);
    }

    pub(in crate::sched) fn is_at_stacks(&self) -> bool {
        self.at_stacks.load(Ordering::Relaxed)
    }

    pub(in crate::sched) fn set_at_stacks(&self, is_there: bool) {
        self.at_stacks.store(is_there, Ordering::Relaxed);
    }

    /// Records that the worker has run one fiber since `since`, in the dispatch with this number.
    pub(in crate::sched) fn set_stand(&self, since: u64, dispatch: u64) {
        self.stands_since.store(since, Ordering::Relaxed);
        self.stands_at.store(dispatch, Ordering::Release);
    }

    /// Returns the number of the last dispatch that was long.
    pub(in crate::sched) fn stands_at(&self) -> u64 {
        self.stands_at.load(Ordering::Acquire)
    }

    /// Returns when the fiber of that dispatch began to run.
    pub(in crate::sched) fn stands_since(&self) -> u64 {
        self.stands_since.load(Ordering::Relaxed)
    }
}

#[cfg(all(test, pirn_parts))]
impl Monitor {
    pub(in crate::sched) fn attending() -> Monitor {
        Monitor::at(Pace::Attending)
    }

    /// Dozes until a join notifies it; calls `armed` when that is possible.
    pub(in crate::sched) fn rest_until_notified(
        &self,
        worker: &Jobs,
        armed: impl FnOnce(),
    ) {
        self.arm(Pace::Dozing, std::iter::once(worker));
        armed();
        self.parker.park();
    }
}

impl Monitor {
    pub(in crate::sched) fn new() -> Monitor {
        Monitor::at(Pace::Dozing)
    }

    fn at(pace: Pace) -> Monitor {
        Monitor {
            pace: AtomicU32::new(pace as u32),
            parker: Parker::new(),
        }
    }

    /// Makes the monitor look soon and often. A load if it already does.
    #[inline]
    pub(in crate::sched) fn attend(&self) {
        if self.pace.load(Ordering::Relaxed) != Pace::Attending as u32 {
            self.kick();
        }
    }

    /// Restarts the monitor if it has stopped.
    pub(in crate::sched) fn resume(&self) {
        // ORDERING: SeqCst: after the fence of the caller's announcement, see LIVENESS in `sysmon`.
        if self.pace.load(Ordering::SeqCst) >= Pace::Lingering as u32 {
            self.kick();
        }
    }

    /// Starts the monitor if it has stopped, so that it sees stalls; for a worker that wakes up.
    ///
    /// LIVENESS: as for [`resume`](Monitor::resume); a monitor that lingers looks by itself.
    #[inline]
    pub(in crate::sched) fn watch_stalls(&self) {
        // ORDERING: SeqCst: after the fence of the caller's retraction.
        if self.pace.load(Ordering::SeqCst) == Pace::Stopped as u32 {
            self.kick();
        }
    }

    /// As [`resume`](Monitor::resume), for a worker that has put a fiber where others may take it
    /// and sees no worker asleep: a plain load. A monitor that dozes looks soon, because the fiber
    /// may wait behind a long computation.
    ///
    /// ORDERING: Relaxed: the fence of that worker's last awakening comes before; a monitor that
    /// stops after it sees that this worker is awake.
    #[inline]
    pub(in crate::sched) fn resume_if_stopped(&self) {
        if self.pace.load(Ordering::Relaxed) >= Pace::Dozing as u32 {
            self.kick();
        }
    }

    /// Wakes the monitor.
    #[cold]
    fn kick(&self) {
        let attending = Pace::Attending as u32;
        if self.pace.swap(attending, Ordering::SeqCst) != attending {
            self.parker.unpark();
        }
    }

    /// Makes the monitor look at the pool's phase now, even between two of its looks.
    pub(in crate::sched) fn look_now(&self) {
        self.pace.swap(Pace::Attending as u32, Ordering::SeqCst);
        self.parker.unpark();
    }

    /// Announces how soon the monitor looks again. Its thread only, as all below.
    pub(in crate::sched) fn set(&self, pace: Pace) {
        self.pace.store(pace as u32, Ordering::SeqCst);
    }

    /// Announces that the monitor looks seldom from now on: the next join of each worker is to
    /// notify it.
    pub(in crate::sched) fn arm<'a>(
        &self,
        pace: Pace,
        workers: impl Iterator<Item = &'a Jobs>,
    ) {
        self.set(pace);
        workers.for_each(Jobs::arm);
    }

    /// Waits until the next look; true if it was requested early.
    pub(in crate::sched) fn wait(&self, length: Duration) -> bool {
        self.parker.park_until(shim::now() + length)
    }

    /// Waits until a look is requested.
    pub(in crate::sched) fn wait_until_kicked(&self) {
        self.parker.park();
    }
}
