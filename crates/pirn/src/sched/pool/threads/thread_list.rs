//! The threads of a pool, and the number of its members.
//!
//! Owns: the handles of the threads, the intended number of running workers, and which thread
//! drives a pool that has none. Does not own: when a thread starts or ends
//! (`sched::policy::threads`).

use crate::sched::pool::threads::decisions::Decisions;
use crate::shim::atomic::{AtomicUsize, Ordering};
use crate::shim::thread::{JoinHandle, ThreadId};
use crate::shim::{Mutex, MutexGuard};

/// The threads of one pool.
pub(in crate::sched) struct Threads {
    list: Mutex<ThreadList>,
    /// The intended number of running workers: the members (`sched::policy::standby`).
    members: AtomicUsize,
    /// The thread that runs the fibers of a pool without threads of its own.
    pub(in crate::sched) driver: Mutex<Option<ThreadId>>,
    pub(in crate::sched) decisions: Decisions,
}

/// The handles of the threads.
pub(in crate::sched) struct ThreadList {
    /// Each thread with the index of its worker; `None` for the monitor.
    working: Vec<(Option<usize>, JoinHandle<()>)>,
    /// Threads that have left and are about to end.
    leaving: Vec<JoinHandle<()>>,
    monitored: bool,
}

impl Threads {
    pub(in crate::sched) fn new(members: usize) -> Threads {
        Threads {
            list: Mutex::new(ThreadList {
                working: Vec::new(),
                leaving: Vec::new(),
                monitored: false,
            }),
            members: AtomicUsize::new(members),
            driver: Mutex::new(None),
            decisions: Decisions::default(),
        }
    }

    pub(in crate::sched) fn lock(&self) -> MutexGuard<'_, ThreadList> {
        self.list.lock()
    }

    /// The intended number of running workers.
    #[inline(always)]
    pub(in crate::sched) fn members(&self) -> usize {
        // ORDERING: Acquire: pairs with the Release in `set_members`: their places are filled.
        self.members.load(Ordering::Acquire)
    }

    /// Sets the number of members. Requires the lock of the list.
    pub(in crate::sched) fn set_members(&self, members: usize) {
        // ORDERING: Release: pairs with the Acquire in `members`: the places of new members have
        // been filled.
        self.members.store(members, Ordering::Release);
    }
}

impl ThreadList {
    /// True if there is a monitor.
    pub(in crate::sched) fn is_monitored(&self) -> bool {
        self.monitored
    }

    /// Adds the thread of the monitor.
    pub(in crate::sched) fn add_monitor(&mut self, thread: JoinHandle<()>) {
        self.working.push((None, thread));
        self.monitored = true;
    }

    /// Adds the thread of a worker.
    pub(in crate::sched) fn add(&mut self, worker: usize, thread: JoinHandle<()>) {
        self.working.push((Some(worker), thread));
    }

    /// Moves the thread of `worker` to those that are about to end, and returns the ones that were
    /// there before.
    pub(in crate::sched) fn leave(&mut self, worker: usize) -> Vec<JoinHandle<()>> {
        let gone = std::mem::take(&mut self.leaving);
        let own = self.working.iter().position(|(w, _)| *w == Some(worker));
        if let Some(own) = own {
            let (_, thread) = self.working.swap_remove(own);
            self.leaving.push(thread);
        }
        gone
    }

    /// Takes the threads, each with its worker; the monitor is no worker.
    pub(in crate::sched) fn take_working(
        &mut self,
    ) -> Vec<(Option<usize>, JoinHandle<()>)> {
        std::mem::take(&mut self.working)
    }

    /// Takes the threads that are about to end.
    pub(in crate::sched) fn take_leaving(&mut self) -> Vec<JoinHandle<()>> {
        std::mem::take(&mut self.leaving)
    }
}
