//! Changing a runtime's size while it runs.

use std::num::NonZeroUsize;

use super::handle::Handle;

impl Handle {
    /// Sets the number of workers to `workers`, limited to 64 or to the number it was built with,
    /// rounded up to a multiple of 64.
    ///
    /// Additional workers start when there is work for them. Surplus workers accept no new fibers;
    /// each ends about a second after the last fiber that started there has ended. No fiber is lost
    /// or moved.
    ///
    /// # Panics
    /// On a deterministic runtime, which has one worker, and on one without workers.
    ///
    /// # Cancellation
    /// Not an interruption point; does not wait for the workers.
    ///
    /// # Examples
    /// ```
    /// use std::num::NonZeroUsize;
    ///
    /// let runtime = pirn::Runtime::builder().workers(1).build()?;
    /// runtime.set_workers(NonZeroUsize::new(4).unwrap());
    /// assert_eq!(runtime.workers(), 4);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "GOMAXPROCS")]
    pub fn set_workers(&self, workers: NonZeroUsize) {
        assert!(
            self.pool().can_resize(),
            "this runtime cannot have another number of workers"
        );
        self.pool().resize(workers.get());
    }

    /// Returns the number of workers that the runtime is set to; 0 if it is driven by a thread of
    /// the program.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// let runtime = pirn::Runtime::builder().workers(3).build()?;
    /// assert_eq!(runtime.workers(), 3);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "num_workers")]
    #[doc(alias = "current_num_threads")]
    #[must_use]
    pub fn workers(&self) -> usize {
        match self.pool().is_by_hand() {
            true => 0,
            false => self.pool().workers(),
        }
    }
}
