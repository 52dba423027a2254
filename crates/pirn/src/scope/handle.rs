//! The right to join a fiber of a scope.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use crate::fiber::FiberPtr;
use crate::join::{Fiber, JoinCase, JoinError, Joined};
use crate::wait::Interrupt;

/// Owns the right to join a fiber of a scope.
///
/// Dropping it lets the fiber go on; the scope waits for it all the same. If the fiber panics, or
/// has panicked, that cancels the scope then, since nobody is left to join it.
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

    /// Waits for the fiber to end and returns its result. A panic that is returned here is
    /// not raised again by the scope.
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
    /// The interrupt that the caller is under. A finished fiber is `Ok` all the same.
    ///
    /// # Cancellation
    /// As [`JoinHandle::join`](crate::JoinHandle::join).
    #[track_caller]
    pub fn wait(&self) -> Result<(), Interrupt> {
        self.joined.wait_for_end()
    }

    /// Waits for at most `limit`, and gives the handle back if the fiber still runs then.
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

    /// Whether the fiber has ended, so that joining it does not wait.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.joined.is_finished()
    }

    /// Whether the fiber, which has ended, has done so by a panic that nobody has taken.
    pub(super) fn has_panicked(&self) -> bool {
        self.joined.has_panicked()
    }

    /// Asks the fiber to stop, as [`JoinHandle::cancel`](crate::JoinHandle::cancel).
    ///
    /// # Cancellation
    /// Not an interruption point itself; never suspends, and does not wait for the fiber.
    pub fn cancel(&self) {
        self.joined.fiber().cancel();
    }

    /// Returns a case for a select, as [`JoinHandle::join_case`](crate::JoinHandle::join_case).
    pub fn join_case(&self) -> JoinCase<'_> {
        JoinCase::new(self.joined.fiber())
    }

    /// The fiber, for its name, its identity and [`unpark`](Fiber::unpark).
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
