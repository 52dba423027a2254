//! Driving a runtime without workers.

use super::handle::Handle;
use crate::sched::driven::workers::Drive;

impl Handle {
    /// Runs the fibers of a runtime [without workers](super::Builder::workers) on this thread,
    /// until none is ready.
    ///
    /// Waiting fibers resume in a later call, once they are ready. Timers that are due fire, but
    /// the call does not wait for others. To wait, call [`run`](Self::run) or
    /// [`wait_idle`](Self::wait_idle), which also drive the runtime and sleep while no fiber is
    /// ready.
    ///
    /// The first thread that drives a runtime is bound to it, because a fiber stays on the thread
    /// where it started. That thread must not end before those fibers. If it does, they are
    /// cancelled; if that does not end them, the process is aborted. See
    /// [`Builder::workers`](super::Builder::workers).
    ///
    /// # Panics
    /// If the runtime has workers, if another thread has driven it, or on a thread that runs
    /// fibers.
    ///
    /// # Cancellation
    /// Not an interruption point.
    ///
    /// # Blocking
    /// Until no fiber is ready: indefinitely, if one always is.
    ///
    /// # Examples
    /// ```
    /// let runtime = pirn::Runtime::builder().workers(0).build()?;
    /// let (tx, rx) = pirn::channel::bounded(1);
    /// let fiber = runtime.spawn(move || rx.recv());
    /// runtime.run_until_idle();
    /// assert!(!fiber.is_finished());
    ///
    /// tx.send(7).unwrap();
    /// runtime.run_until_idle();
    /// assert_eq!(fiber.join().unwrap(), Ok(7));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "run_until_stalled")]
    #[doc(alias = "LocalSet")]
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
