//! The threads of a pool: created when their worker is first woken or activated, ended when it has
//! been idle for long or when the pool stops.
//!
//! A member without a thread counts as asleep in `idle`: waking it starts its thread.
//! `WorkerThread::launched` distinguishes the two.
//!
//! A member's thread that leaves for lack of work has taken back its bit first, so no thread can
//! claim it any more (if one had, it stays). Then it marks itself as gone, and only then announces
//! the worker as asleep once more, as its last act: a thread that claims the worker from then on
//! finds no thread and starts one. The leaving thread looks for what was published before that
//! announcement after it, as every worker does that goes to sleep (S4 of `idle`).

use std::io;
use std::sync::Arc;

use crate::sched::pool::idle::Idle;
use crate::sched::pool::phase::Phase;
use crate::sched::pool::shared::Pool;
use crate::sched::pool::threads::decisions::ScaleReason;
use crate::sched::pool::threads::duty::Duty;
use crate::sched::pool::threads::thread_list::ThreadList;
use crate::sched::worker::run;
use crate::shim;
use crate::sys;

/// The result of calling in one more worker.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(in crate::sched) enum Called {
    /// It has a new thread.
    Started,
    /// It had one that was about to end.
    Recalled,
    /// The maximum of threads is reached.
    TooMany,
    /// The system could not create a thread.
    Refused,
}

impl Pool {
    /// True if it has a monitor.
    pub(crate) fn is_monitored(&self) -> bool {
        self.threads.lock().is_monitored()
    }

    /// Starts the thread of a member, unless it has one.
    ///
    /// # Errors
    /// The system's error if it cannot create a thread.
    pub(super) fn launch(self: &Arc<Self>, worker: usize) -> io::Result<()> {
        let mut list = self.threads.lock();
        let remote = &self.remotes[worker];
        if remote.thread.is_launched() {
            remote.inbox.unpark();
            return Ok(());
        }
        // It may have been claimed just before the pool was made smaller.
        let duty = match worker < self.workers() {
            true => Duty::Active,
            false => Duty::Draining,
        };
        self.start_thread(&mut list, worker, duty, true, 0)
    }

    fn start_thread(
        self: &Arc<Self>,
        list: &mut ThreadList,
        worker: usize,
        duty: Duty,
        member: bool,
        holder: u32,
    ) -> io::Result<()> {
        let remote = &self.remotes[worker];
        remote.thread.set_holder(holder);
        let before = remote.thread.duty.assign(duty);
        remote.thread.begin();
        let pool = Arc::clone(self);
        let name = format!("{}-{worker}", self.name());
        let main = sys::unpinned(move || run::main(pool, worker, member));
        match shim::thread::spawn(name, main) {
            Ok(thread) => {
                list.add(worker, thread);
                remote.thread.set_launched(true);
                Ok(())
            }
            Err(error) => {
                remote.thread.duty.restore(before);
                Err(error)
            }
        }
    }

    /// Calls in one more worker to replace one that is stuck.
    pub(super) fn call_in(self: &Arc<Self>, list: &mut ThreadList) -> Called {
        let members = self.workers();
        for remote in self.remotes.iter().skip(members) {
            let called = remote.thread.is_launched()
                && !remote.is_holder()
                && remote.inbox.is_parked()
                && remote.thread.duty.activate();
            if called {
                remote.inbox.unpark();
                return Called::Recalled;
            }
        }
        let Some(worker) = self.free_place() else {
            return Called::TooMany;
        };
        self.remotes.fill(worker + 1);
        match self.start_apart(list, worker, Duty::Active, 0) {
            true => Called::Started,
            false => Called::Refused,
        }
    }

    /// Returns a place for one more worker beside the members, if there may be one. *Under the
    /// lock.*
    pub(in crate::sched) fn free_place(&self) -> Option<usize> {
        let most = self.config.threads.most;
        let threads = self
            .remotes
            .iter()
            .filter(|r| r.thread.is_launched())
            .count();
        let free = |worker: &usize| {
            let row = &self.remotes;
            // A member that could not be removed has been claimed, and is about to be launched.
            *worker >= row.len()
                || (!row[*worker].thread.is_launched()
                    && !row[*worker].thread.is_member()
                    && row[*worker].placed.is_empty())
        };
        (self.workers()..most).find(free).filter(|_| threads < most)
    }

    /// Starts the thread of a holder (`sched::placement::holders`).
    pub(in crate::sched) fn start_holder(
        self: &Arc<Self>,
        list: &mut ThreadList,
        worker: usize,
        holder: u32,
    ) -> bool {
        self.start_apart(list, worker, Duty::Draining, holder)
    }

    /// Starts the thread of a worker apart; false if the system cannot create one.
    fn start_apart(
        self: &Arc<Self>,
        list: &mut ThreadList,
        worker: usize,
        duty: Duty,
        holder: u32,
    ) -> bool {
        self.idle.wake_apart();
        let started = self.start_thread(list, worker, duty, false, holder);
        if started.is_err() {
            self.idle.sleep_apart();
        }
        started.is_ok()
    }

    /// True if an idle worker apart may end: it is dead then.
    pub(super) fn dismiss(&self, worker: usize) -> bool {
        let _locked = self.threads.lock();
        let open = self.phase() != Phase::Stopped;
        open && worker >= self.workers()
            && self.remotes[worker].placed.is_empty()
            && self.remotes[worker].thread.duty.end()
    }

    /// The last act of a worker's thread that ends while its pool lives.
    pub(super) fn leave(self: &Arc<Self>, worker: usize, member: bool) {
        let (gone, needed) = {
            let mut list = self.threads.lock();
            let gone = list.leave(worker);
            // ORDERING: Release: before the announcement, see above.
            self.remotes[worker].thread.set_launched(false);
            // The pool may have been made larger while this thread was ending.
            let joins = !member && worker < self.workers();
            if joins {
                self.remotes[worker].thread.set_member(true);
                self.idle.add_asleep(worker);
            }
            (gone, joins)
        };
        // LIVENESS: for what was published while this worker was no sleeper any more.
        let look = match member {
            true => self.idle.announce(worker, false),
            false => needed,
        };
        if !member {
            self.decided(ScaleReason::Retired);
            self.idle.sleep_apart();
            if !self.idle.all_asleep() {
                self.monitor.resume();
            }
        }
        if look
            && self.has_visible_work()
            && let Some(sleeper) = self.idle.claim_any(worker)
        {
            self.wakes.outside.increment_shared();
            self.wake(sleeper);
        }
        for thread in gone {
            let _ = thread.join();
        }
    }

    /// True if the number of members may change.
    pub(crate) fn can_resize(&self) -> bool {
        self.config.seed.is_none() && !self.config.exclusive && !self.config.by_hand
    }

    /// Changes the number of members to `members`, or to as many as `idle` can hold.
    pub(crate) fn resize(self: &Arc<Self>, members: usize) {
        let members = members.min(Idle::room(self.config.workers));
        self.policy().watch(self);
        {
            let _locked = self.threads.lock();
            let before = self.workers();
            self.remotes.fill(members);
            self.threads.set_members(members);
            for worker in before..members {
                let remote = &self.remotes[worker];
                remote.thread.set_holder(0);
                if !remote.thread.is_launched() {
                    // Unless it has been claimed before it could be removed.
                    if !remote.thread.set_member(true) {
                        self.idle.add_asleep(worker);
                    }
                    continue;
                }
                // A worker that is ending handles it itself (`leave`).
                let _ = remote.thread.duty.activate();
                remote.inbox.unpark();
            }
            for worker in members..before {
                let remote = &self.remotes[worker];
                if !remote.thread.is_launched() {
                    let removed = self.idle.remove_asleep(worker);
                    remote.thread.set_member(!removed);
                } else {
                    let _ = remote.thread.duty.retire();
                    remote.inbox.unpark();
                }
            }
        }
        self.monitor.attend();
        if self.has_visible_work() && self.wake_one(0) {
            self.wakes.outside.increment_shared();
        }
    }

    /// Waits for the threads, which are about to end, except those of the workers in `except`,
    /// which are left alone, and except the caller's: a stop hook may drop the runtime.
    pub(in crate::sched) fn join_threads(&self, except: &[usize]) {
        let (working, leaving) = {
            let mut list = self.threads.lock();
            (list.take_working(), list.take_leaving())
        };
        let working = working
            .into_iter()
            // The monitor continues for those that may migrate.
            .filter(|(worker, _)| match worker {
                None => !self.is_watched(),
                Some(worker) => !except.contains(worker),
            })
            .map(|(_, thread)| thread);
        let own = shim::thread::current().id();
        for thread in working.chain(leaving).filter(|t| t.thread().id() != own) {
            // A worker's panic would be a bug; the panic hook has printed it.
            let _ = thread.join();
        }
    }
}
