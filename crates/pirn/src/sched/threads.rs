//! The threads of a pool: made when their worker is first woken, ended when it has nothing
//! to do for long (if the pool is told to) or when the pool stops.
//!
//! A worker without a thread counts as asleep in `idle`: to wake it is to start its thread.
//! `Remote::launched` says which it is.
//!
//! A thread that leaves for want of work has taken back its bit first, so nobody can claim it
//! any more (if somebody had, it stays). Then it says that it is gone, and only then announces
//! the worker as asleep once more, as its last act:
//! whoever claims the worker from then on finds no thread and starts one. What was published
//! before that announcement is looked for after it, as by everyone who goes to sleep (S4 of
//! `idle`).

use std::io;
use std::sync::Arc;

use super::pool::Pool;
use super::worker;
use crate::shim::atomic::Ordering;
use crate::shim::{self, Mutex};

/// The threads of one pool.
pub(super) struct Threads(Mutex<Roster>);

struct Roster {
    /// Whose thread each is; the monitor is no worker.
    working: Vec<(Option<usize>, shim::thread::JoinHandle<()>)>,
    /// Those that have left and are about to end.
    leaving: Vec<shim::thread::JoinHandle<()>>,
}

impl Threads {
    pub(super) fn new() -> Threads {
        Threads(Mutex::new(Roster {
            working: Vec::new(),
            leaving: Vec::new(),
        }))
    }
}

impl Pool {
    /// Starts the monitor's thread.
    ///
    /// # Errors
    /// What the system says when it has no thread to give.
    pub(super) fn launch_monitor(self: &Arc<Self>) -> io::Result<()> {
        let mut roster = self.threads.0.lock();
        let pool = Arc::clone(self);
        let name = format!("{}-monitor", self.name());
        let thread = shim::thread::spawn(name, move || pool.monitor.watch(&pool))?;
        roster.working.push((None, thread));
        Ok(())
    }

    /// Wakes the thread of a worker that the caller has claimed, or starts it.
    pub(super) fn wake(self: &Arc<Self>, worker: usize) {
        let remote = &self.remotes[worker];
        if remote.launched.load(Ordering::Acquire) {
            remote.mailbox.parker().unpark();
        } else if self.launch(worker).is_err() {
            // No thread to be had: the others go on without it. It sleeps again, to be
            // tried another time.
            let _ = self.idle.announce(worker, true);
            // LIVENESS: the work that it was to look for is another worker's to find.
            self.rouse();
        }
    }

    /// Starts the thread of a worker, unless it has one.
    ///
    /// # Errors
    /// What the system says when it has no thread to give.
    pub(super) fn launch(self: &Arc<Self>, worker: usize) -> io::Result<()> {
        let mut roster = self.threads.0.lock();
        let remote = &self.remotes[worker];
        if remote.launched.load(Ordering::Relaxed) {
            remote.mailbox.parker().unpark();
            return Ok(());
        }
        remote.ended.store(false, Ordering::Relaxed);
        let pool = Arc::clone(self);
        let name = format!("{}-{worker}", self.name());
        let thread = shim::thread::spawn(name, move || worker::main(pool, worker))?;
        roster.working.push((Some(worker), thread));
        remote.launched.store(true, Ordering::Release);
        Ok(())
    }

    /// The last act of a worker's thread that ends while its pool goes on.
    pub(super) fn leave(self: &Arc<Self>, worker: usize) {
        let gone = {
            let mut roster = self.threads.0.lock();
            let gone = std::mem::take(&mut roster.leaving);
            let own = roster.working.iter().position(|(w, _)| *w == Some(worker));
            if let Some(own) = own {
                let (_, thread) = roster.working.swap_remove(own);
                roster.leaving.push(thread);
            }
            // ORDERING: Release: before the announcement, see above.
            self.remotes[worker]
                .launched
                .store(false, Ordering::Release);
            gone
        };
        // LIVENESS: what was published while this worker was no sleeper any more.
        if self.idle.announce(worker, false)
            && self.has_visible_work()
            && let Some(sleeper) = self.idle.claim_any(worker)
        {
            self.wake(sleeper);
        }
        for thread in gone {
            let _ = thread.join();
        }
    }

    /// Waits for the threads, which are about to end, but for those of the workers in
    /// `except`, which are left to themselves.
    pub(super) fn join_threads(&self, except: &[usize]) {
        let (working, leaving) = {
            let mut roster = self.threads.0.lock();
            let working = std::mem::take(&mut roster.working);
            (working, std::mem::take(&mut roster.leaving))
        };
        let working = working
            .into_iter()
            .filter(|(worker, _)| worker.is_none_or(|worker| !except.contains(&worker)))
            .map(|(_, thread)| thread);
        for thread in working.chain(leaving) {
            // A worker's panic would be a bug that has been printed by the panic hook.
            let _ = thread.join();
        }
    }
}
