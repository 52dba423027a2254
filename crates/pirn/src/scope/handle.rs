//! The join handle of a scope's fiber.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use crate::fiber::FiberPtr;
use crate::join::{Fiber, JoinCase, JoinError, Joined};
use crate::wait::Interrupt;

/// An owned permission to join a fiber of a scope.
///
/// If it is dropped, the fiber continues, and the scope still waits for it. If the fiber panics, or
/// has panicked, that then cancels the scope, because the panic can no longer be joined.
pub struct ScopedJoinHandle<'scope, T> {
    joined: Joined<T>,
    scope: PhantomData<&'scope ()>,
}

impl<T> ScopedJoinHandle<'_, T> {
    /// # Safety
    /// As [`Joined::new`]; the fiber is a child of a scope that ends after `'scope`.
    pub(super) unsafe fn new(fiber: FiberPtr) -> Self {
        // SAFETY: the caller's promise.
        ScopedJoinHandle::of(unsafe { Joined::new(fiber) })
    }

    fn of(joined: Joined<T>) -> Self {
        ScopedJoinHandle {
            joined,
            scope: PhantomData,
        }
    }

    /// Waits for the fiber to end and returns its result. The scope does not raise a panic that is
    /// returned here.
    ///
    /// # Errors
    /// As [`JoinHandle::join`](crate::JoinHandle::join).
    ///
    /// # Cancellation
    /// As [`JoinHandle::join`](crate::JoinHandle::join).
    #[track_caller]
    pub fn join(self) -> Result<T, JoinError> {
        self.joined.join()
    }

    /// Waits for the fiber to end and keeps the handle.
    ///
    /// # Errors
    /// The interrupt of the caller. For a finished fiber it returns `Ok` even then.
    ///
    /// # Cancellation
    /// As [`JoinHandle::join`](crate::JoinHandle::join).
    #[track_caller]
    pub fn wait(&self) -> Result<(), Interrupt> {
        self.joined.wait_for_end()
    }

    /// Waits for at most `limit`, and returns the handle if the fiber has not ended then.
    ///
    /// # Errors
    /// As [`JoinHandle::join_timeout`](crate::JoinHandle::join_timeout).
    ///
    /// # Cancellation
    /// As [`JoinHandle::join_timeout`](crate::JoinHandle::join_timeout).
    #[track_caller]
    pub fn join_timeout(self, limit: Duration) -> Result<Result<T, JoinError>, Self> {
        let ended = self.joined.join_timeout(limit);
        ended.map_err(ScopedJoinHandle::of)
    }

    /// Returns true if the fiber has ended, so that joining it does not wait.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.joined.is_finished()
    }

    /// Returns true if the fiber, which has ended, has panicked and the panic has not been taken.
    pub(super) fn has_panicked(&self) -> bool {
        self.joined.has_panicked()
    }

    /// Requests the fiber to stop, as [`JoinHandle::cancel`](crate::JoinHandle::cancel) does.
    ///
    /// # Cancellation
    /// Not an interruption point itself; never suspends, and does not wait for the fiber.
    pub fn cancel(&self) {
        self.joined.fiber().cancel();
    }

    /// Returns a select case, as [`JoinHandle::join_case`](crate::JoinHandle::join_case) does.
    pub fn join_case(&self) -> JoinCase<'_> {
        JoinCase::new(self.joined.fiber())
    }

    /// Returns the fiber, for its name, its identity and [`unpark`](Fiber::unpark).
    #[must_use]
    pub fn fiber(&self) -> &Fiber {
        self.joined.fiber()
    }
}

impl<T> fmt::Debug for ScopedJoinHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedJoinHandle")
            .field("fiber", self.fiber())
            .finish_non_exhaustive()
    }
}
