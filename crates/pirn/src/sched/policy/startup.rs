//! The start of a pool: its first threads, and its first stacks.

use std::io;
use std::sync::Arc;

use crate::sched::config::Config;
use crate::sched::policy::sysmon;
use crate::sched::pool::phase::Phase;
use crate::sched::pool::registry;
use crate::sched::pool::shared::{AtEnd, Policy, Pool};
use crate::shim;
use crate::sys;

/// Threads that start when their worker is needed.
struct ByNeed;

impl Policy for ByNeed {
    #[cold]
    fn launch(&self, pool: &Arc<Pool>, worker: usize) {
        if pool.launch(worker).is_err() {
            // No thread can be created: the others continue without it. It sleeps again, and can be
            // woken another time.
            let _ = pool.idle.announce(worker, true);
            pool.release_placed(worker);
            // LIVENESS: another worker must find the work that it was to look for.
            pool.wake_all_workers();
        }
    }

    #[cold]
    fn watch(&self, pool: &Arc<Pool>) {
        // Without it, work that has aged stays with its worker.
        let _ = pool.launch_monitor();
    }

    #[cold]
    fn leave(&self, pool: &Arc<Pool>, worker: usize, member: bool) {
        pool.leave(worker, member);
    }
}

impl Pool {
    /// Creates the pool and starts its first worker; the others start when there is work for them.
    /// `at_end` reports on it when it has ended, or the process ends before it.
    ///
    /// # Errors
    /// The system's error if it has no memory for stacks or cannot create a thread.
    pub(crate) fn start(config: Config, at_end: Option<AtEnd>) -> io::Result<Arc<Pool>> {
        let workers = config.workers;
        let pool = Pool::new(config, &ByNeed, at_end)?;
        registry::enter(&pool);
        if pool.is_by_hand() {
            // Waking it leaves a token.
            pool.remotes[0].thread.set_launched(true);
            return Ok(pool);
        }
        let first = pool.idle.claim_any(0).expect("all workers sleep");
        let mut launched = pool.launch(first);
        while pool.config.threads.prewarm.is_some()
            && launched.is_ok()
            && let Some(next) = pool.idle.claim_any(0)
        {
            launched = pool.launch(next);
        }
        if let Err(error) = launched {
            pool.enter(Phase::Stopped);
            pool.join_threads(&[]);
            return Err(error);
        }
        pool.warm_stacks(pool.config.threads.prewarm.unwrap_or(0));
        for observer in pool.observers() {
            observer.started();
        }
        let watched =
            (workers > 1 && !pool.config.exclusive) || pool.stall_threshold().is_some();
        if (watched || pool.is_elastic() || pool.is_free())
            && let Err(error) = pool.launch_monitor()
        {
            pool.enter(Phase::Stopped);
            pool.join_threads(&[]);
            return Err(error);
        }
        Ok(pool)
    }

    /// Starts the monitor's thread, unless there is one.
    ///
    /// # Errors
    /// The system's error if it cannot create a thread.
    fn launch_monitor(self: &Arc<Self>) -> io::Result<()> {
        let mut list = self.threads.lock();
        if list.is_monitored() {
            return Ok(());
        }
        let pool = Arc::clone(self);
        let name = format!("{}-monitor", self.name());
        let watch = sys::unpinned(move || sysmon::watch(&pool));
        let thread = shim::thread::spawn(name, watch)?;
        list.add_monitor(thread);
        Ok(())
    }

    /// Prepares the first page of `n` stacks, or of all stacks if there can only be fewer.
    fn warm_stacks(&self, n: usize) {
        let stacks: Vec<_> = (0..n).map_while(|_| self.stacks.take().ok()).collect();
        for stack in stacks {
            // Touches the page where a fiber's first frames are.
            // SAFETY: no fiber uses the stack, so it has no owner.
            unsafe { stack.set_owner(std::ptr::null()) };
            self.stacks.give(stack);
        }
    }
}
