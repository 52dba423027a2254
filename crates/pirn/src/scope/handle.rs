//! The join handle of a scope's fiber.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use super::children::Children;
use crate::base::choice::Operation;
use crate::join::{Fiber, JoinCase, JoinError, Joined};
use crate::wait::{Interrupt, point};

/// An owned permission to join a fiber of a scope.
///
/// If it is dropped, the fiber continues, and the scope still waits for it. If the fiber then
/// panics, or has panicked before, the scope is cancelled, because no join can return the panic any
/// more. In [`supervise`](super::supervise) the panic is dropped, and nothing is cancelled.
///
/// # Examples
/// ```
/// let words = ["a", "few", "words"];
/// let lengths: Vec<usize> = pirn::scope(|s| {
///     let handles: Vec<_> = words.iter().map(|word| s.spawn(move || word.len())).collect();
///     handles.into_iter().map(|handle| handle.join().unwrap()).collect()
/// });
/// assert_eq!(lengths, [1, 3, 5]);
/// ```
pub struct ScopedJoinHandle<'scope, T> {
    joined: Joined<T>,
    scope: PhantomData<&'scope ()>,
}

impl<'scope, T> ScopedJoinHandle<'scope, T> {
    /// Returns the handle of one of `children`.
    pub(super) fn new(joined: Joined<T>, _: &'scope Children) -> Self {
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
    /// # Panics
    /// As [`JoinHandle::join`](crate::JoinHandle::join).
    ///
    /// # Cancellation
    /// As [`JoinHandle::join`](crate::JoinHandle::join).
    ///
    /// # Examples
    /// ```
    /// let text = String::from("seven");
    /// let length = pirn::scope(|s| s.spawn(|| text.len()).join().unwrap());
    /// assert_eq!(length, 5);
    /// ```
    #[track_caller]
    pub fn join(self) -> Result<T, JoinError> {
        self.joined.join()
    }

    /// Waits for the fiber to end and keeps the handle.
    ///
    /// # Errors
    /// The interrupt of the caller. For a finished fiber it returns `Ok` even then.
    ///
    /// # Panics
    /// As [`JoinHandle::join`](crate::JoinHandle::join).
    ///
    /// # Cancellation
    /// As [`JoinHandle::join`](crate::JoinHandle::join).
    ///
    /// # Examples
    /// ```
    /// pirn::scope(|s| {
    ///     let handle = s.spawn(|| 7);
    ///     handle.wait().unwrap();
    ///     assert!(handle.is_finished());
    ///     assert_eq!(handle.join().unwrap(), 7);
    /// });
    /// ```
    #[track_caller]
    pub fn wait(&self) -> Result<(), Interrupt> {
        self.joined.wait_for_end()
    }

    /// Waits for at most `limit`, and returns the handle if the fiber has not ended by then. If
    /// the clock cannot express `limit`, there is no limit.
    ///
    /// # Errors
    /// As [`JoinHandle::join_timeout`](crate::JoinHandle::join_timeout).
    ///
    /// # Panics
    /// As [`JoinHandle::join`](crate::JoinHandle::join).
    ///
    /// # Cancellation
    /// As [`JoinHandle::join_timeout`](crate::JoinHandle::join_timeout).
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    ///
    /// pirn::scope(|s| {
    ///     let handle = s.spawn(|| pirn::park());
    ///     let handle = handle.join_timeout(Duration::from_millis(1)).unwrap_err();
    ///     handle.fiber().unpark();
    ///     handle.join().unwrap();
    /// });
    /// ```
    #[track_caller]
    pub fn join_timeout(self, limit: Duration) -> Result<Result<T, JoinError>, Self> {
        let ScopedJoinHandle { joined, scope } = self;
        let back = |joined| ScopedJoinHandle { joined, scope };
        joined.join_timeout(limit).map_err(back)
    }

    /// Returns true if the fiber has ended, so that joining it does not wait.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// pirn::scope(|s| {
    ///     let handle = s.spawn(|| pirn::park());
    ///     assert!(!handle.is_finished());
    ///     handle.fiber().unpark();
    ///     handle.wait().unwrap();
    ///     assert!(handle.is_finished());
    /// });
    /// ```
    #[must_use]
    pub fn is_finished(&self) -> bool {
        point(Operation::Look, self.joined.fiber().address());
        self.joined.is_finished()
    }

    /// Returns true if the fiber has panicked and the panic has not been taken. The fiber has
    /// ended.
    pub(super) fn has_panicked(&self) -> bool {
        self.joined.has_panicked()
    }

    /// Requests that the fiber stop, as [`JoinHandle::cancel`](crate::JoinHandle::cancel) does.
    ///
    /// # Cancellation
    /// Not an interruption point itself; never suspends, and does not wait for the fiber.
    ///
    /// # Examples
    /// ```
    /// use pirn::Interrupt;
    ///
    /// pirn::scope(|s| {
    ///     let handle = s.spawn(|| pirn::spawn::park_interruptible());
    ///     handle.cancel();
    ///     match handle.join() {
    ///         Ok(parked) => assert_eq!(parked, Err(Interrupt::Cancelled)),
    ///         Err(error) => println!("{error}"), // cancelled before it started
    ///     }
    /// });
    /// ```
    #[doc(alias = "abort")]
    pub fn cancel(&self) {
        point(Operation::Cancel, self.joined.fiber().address());
        self.joined.fiber().cancel();
    }

    /// Returns a select case that wins when the fiber has ended; then [`join`](Self::join) does not
    /// wait.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::select::Select;
    ///
    /// pirn::scope(|s| {
    ///     let handle = s.spawn(|| 7);
    ///     let mut case = handle.join_case();
    ///     let mut select = Select::new();
    ///     select.add(&mut case);
    ///     assert_eq!(select.wait(), Ok(0));
    ///     assert!(handle.is_finished());
    /// });
    /// ```
    pub fn join_case(&self) -> JoinCase<'_> {
        JoinCase::new(self.joined.fiber())
    }

    /// Returns the fiber, for its name, its identity and [`unpark`](Fiber::unpark).
    ///
    /// # Examples
    /// ```
    /// pirn::scope(|s| {
    ///     let handle = s.spawn(|| pirn::current().id());
    ///     let id = handle.fiber().id();
    ///     assert_eq!(handle.join().unwrap(), id);
    /// });
    /// ```
    #[doc(alias = "thread")]
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
