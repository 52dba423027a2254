//! Errors of spawning.

use std::error::Error;
use std::fmt;
use std::io;

use crate::wait::Interrupt;

/// An error returned when a fiber was not spawned; contains the closure.
///
/// # Examples
/// ```
/// use pirn::spawn::{Builder, Rejected};
///
/// let error = Builder::new().stack_size(usize::MAX).spawn(|| 6 * 7).unwrap_err();
/// assert_eq!(error.reason(), Rejected::OutOfMemory);
/// let f = error.into_inner();
/// assert_eq!(f(), 42); // called directly instead
/// ```
pub struct SpawnError<F> {
    closure: F,
    reason: Rejected,
}

/// The reason why a fiber was not spawned, in a [`SpawnError`].
///
/// # Examples
/// ```
/// use pirn::scope::TaskGroup;
/// use pirn::spawn::Rejected;
///
/// let group = TaskGroup::new();
/// group.cancel();
/// let error = group.spawn(|| 7).unwrap_err();
/// assert_eq!(error.reason(), Rejected::Cancelled);
/// ```
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rejected {
    /// The fiber's scope or group has been cancelled; or the group has a limit, and the caller is
    /// interrupted.
    Cancelled,
    /// The runtime accepts no more fibers.
    ShutDown,
    /// The system has no memory for a stack of the requested size.
    OutOfMemory,
}

impl<F> SpawnError<F> {
    pub(crate) fn new(closure: F, reason: Rejected) -> Self {
        SpawnError { closure, reason }
    }

    /// Returns the closure, which has not run.
    ///
    /// # Examples
    /// ```
    /// let group = pirn::scope::TaskGroup::new();
    /// group.cancel();
    /// let f = group.spawn(|| 7).unwrap_err().into_inner();
    /// assert_eq!(f(), 7);
    /// ```
    pub fn into_inner(self) -> F {
        self.closure
    }

    /// Returns the reason why it was not spawned.
    ///
    /// # Examples
    /// ```
    /// use pirn::spawn::Rejected;
    ///
    /// let group = pirn::scope::TaskGroup::new();
    /// group.cancel();
    /// match group.spawn(|| 7) {
    ///     Ok(fiber) => panic!("{fiber:?} was spawned"),
    ///     Err(error) => assert_eq!(error.reason(), Rejected::Cancelled),
    /// }
    /// ```
    #[must_use]
    pub fn reason(&self) -> Rejected {
        self.reason
    }
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rejected::Cancelled => f.write_str("cancelled"),
            Rejected::ShutDown => f.write_str("the runtime has been shut down"),
            Rejected::OutOfMemory => f.write_str("no memory for a stack of that size"),
        }
    }
}

impl<F> fmt::Debug for SpawnError<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpawnError")
            .field("reason", &self.reason)
            .finish_non_exhaustive()
    }
}

impl<F> fmt::Display for SpawnError<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the fiber was not spawned: {}", self.reason)
    }
}

impl<F> Error for SpawnError<F> {}

impl Error for Rejected {}

/// Kind `OutOfMemory` without memory for the stack, else `Other`. `Cancelled` becomes the error of
/// [`Interrupt::Cancelled`], so [`Interrupt::of`] finds it.
impl From<Rejected> for io::Error {
    fn from(reason: Rejected) -> io::Error {
        match reason {
            Rejected::Cancelled => Interrupt::Cancelled.into(),
            Rejected::ShutDown => io::Error::other(reason),
            Rejected::OutOfMemory => io::Error::new(io::ErrorKind::OutOfMemory, reason),
        }
    }
}

/// As for [`Rejected`]. The closure is dropped.
impl<F> From<SpawnError<F>> for io::Error {
    fn from(error: SpawnError<F>) -> io::Error {
        error.reason.into()
    }
}
