//! What observers read of a pool and its workers, from any thread.
//!
//! Owns: readings of the words that workers keep for others. Does not own: the words (`remote`), or
//! what a reading means (`observe`). A reading changes nothing and asks no worker.

use crate::sched::pool::remote::{ASLEEP, AWAKE, Remote, TIMED};
use crate::sched::pool::shared::Pool;
use crate::shim::atomic::Ordering;
use crate::sys::ThreadProbe;

impl Pool {
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
}
