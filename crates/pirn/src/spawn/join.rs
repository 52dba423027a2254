//! The handle of a spawned fiber.

use std::fmt;
use std::time::Duration;

use crate::fiber::FiberPtr;
use crate::join::{Fiber, JoinCase, JoinError, Joined};
use crate::wait::Interrupt;

/// Owns the right to wait for a fiber and to take its result.
///
/// Dropping the handle detaches the fiber: it goes on, and its result is dropped when it
/// ends; of a fiber that has ended, by whoever drops the handle. A panic of the result's
/// destructor goes no further. Handles may be shared: any number of fibers and threads can [`wait`](Self::wait).
pub struct JoinHandle<T>(Joined<T>);

impl<T> JoinHandle<T> {
    /// # Safety
    /// As [`Joined::new`].
    #[inline]
    pub(crate) unsafe fn new(fiber: FiberPtr) -> Self {
        // SAFETY: the caller's promise.
        JoinHandle(unsafe { Joined::new(fiber) })
    }

    /// Waits for the fiber to end and returns its result.
    ///
    /// # Errors
    /// * [`JoinError::Panicked`] with the payload if the fiber panicked.
    /// * [`JoinError::NotRun`] if it was cancelled, or its runtime shut down, before it
    ///   started; its closure has been dropped.
    /// * [`JoinError::Interrupted`] if the *caller* was interrupted; the fiber goes on,
    ///   detached. [`wait`](Self::wait) first to keep the handle.
    ///
    /// # Panics
    /// In a start hook of a runtime ([`on_thread_start`](crate::runtime::Builder::on_thread_start)),
    /// if the fiber has not ended; so do [`wait`](Self::wait) and
    /// [`join_timeout`](Self::join_timeout).
    ///
    /// # Cancellation
    /// An interruption point, but not for a fiber that has finished. Parks a fiber, blocks a
    /// plain thread.
    #[inline]
    #[track_caller]
    pub fn join(self) -> Result<T, JoinError> {
        self.0.join()
    }

    /// Waits for the fiber to end and keeps the handle.
    ///
    /// # Errors
    /// The interrupt that the caller is under. A finished fiber is `Ok` all the same.
    ///
    /// # Cancellation
    /// As [`join`](Self::join).
    #[track_caller]
    pub fn wait(&self) -> Result<(), Interrupt> {
        self.0.wait_for_end()
    }

    /// Waits for at most `limit`, and gives the handle back if the fiber still runs then. A
    /// limit that the clock cannot express is none.
    ///
    /// # Errors
    /// `Err(handle)` when the time is up; inside `Ok`, what [`join`](Self::join) says.
    ///
    /// # Cancellation
    /// As [`join`](Self::join). Interrupted it returns `Ok(Err(JoinError::Interrupted(_)))`,
    /// and the handle is gone.
    #[track_caller]
    pub fn join_timeout(
        self,
        limit: Duration,
    ) -> Result<Result<T, JoinError>, JoinHandle<T>> {
        self.0.join_timeout(limit).map_err(JoinHandle)
    }

    /// Whether the fiber has ended, so that joining it does not wait.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.0.is_finished()
    }

    /// Asks the fiber to stop. One that has not started never will; one that runs is
    /// interrupted in its present wait and in every later one, as far as those are
    /// interruption points. On a finished fiber it does nothing.
    ///
    /// # Cancellation
    /// Not an interruption point itself; never suspends, and does not wait for the fiber.
    pub fn cancel(&self) {
        self.0.fiber().cancel();
    }

    /// Lets the fiber go on by itself; the same as dropping the handle.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    pub fn detach(self) {
        drop(self);
    }

    /// Returns a case for a select that wins when the fiber has ended; then
    /// [`join`](Self::join) does not wait.
    pub fn join_case(&self) -> JoinCase<'_> {
        JoinCase::new(self.0.fiber())
    }

    /// The fiber, for its name, its identity and [`unpark`](Fiber::unpark).
    #[must_use]
    pub fn fiber(&self) -> &Fiber {
        self.0.fiber()
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle")
            .field("fiber", self.fiber())
            .finish_non_exhaustive()
    }
}
