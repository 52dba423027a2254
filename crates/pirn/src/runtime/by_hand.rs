//! Driving a runtime without workers.

use super::handle::Handle;
use crate::sched::by_hand::Drive;

impl Handle {
    /// Runs the fibers of a runtime [without workers](super::Builder::workers) on this thread,
    /// until none is ready.
    ///
    /// Fibers that wait go on in a later call, once what they wait for has come. Timers that
    /// are due fire; this does not wait for others. To wait, call [`run`](Self::run) or
    /// [`wait_idle`](Self::wait_idle), which drive the runtime too and sleep while nothing is
    /// ready.
    ///
    /// The first thread that drives a runtime is bound to it: a fiber stays on the thread
    /// where it has started. That thread must not end before those fibers: if it does, they are cancelled, and
    /// if that does not end them, the process is aborted; see [`Builder::workers`](super::Builder::workers).
    ///
    /// # Panics
    /// If the runtime has workers; if another thread has driven it; or on a thread that runs
    /// fibers.
    ///
    /// # Blocking
    /// Until the fibers have nothing to do: for ever, if they always have.
    #[track_caller]
    pub fn run_until_idle(&self) {
        let pool = self.pool();
        assert!(
            pool.is_by_hand(),
            "this runtime has workers, which run its fibers; build one with `workers(0)`"
        );
        assert!(
            pool.bind(),
            "this runtime is driven by another thread, or this one runs fibers: its fibers \
             stay on the thread where they have started, so call from the thread that drove it first"
        );
        pool.drive(Drive::UntilIdle);
    }
}
