//! Handles that identify a fiber.

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};

use crate::base::choice::Operation;
use crate::fiber::{FiberId, FiberPtr, FiberRef, Header};
use crate::wait::point;

/// A handle that identifies a fiber, as [`std::thread::Thread`] identifies a thread. It keeps only
/// the name alive.
///
/// # Examples
/// ```
/// let handle = pirn::spawn(|| pirn::park());
/// let fiber = handle.fiber().clone();
/// let waker = pirn::spawn(move || fiber.unpark());
/// assert!(handle.join().is_ok());
/// waker.join().unwrap();
/// ```
#[doc(alias = "Thread")]
#[doc(alias = "goroutine")]
#[doc(alias = "task")]
#[derive(Clone)]
pub struct Fiber(FiberRef);

impl UnwindSafe for Fiber {}
impl RefUnwindSafe for Fiber {}

impl Fiber {
    pub(crate) fn from_ref(fiber: FiberRef) -> Fiber {
        Fiber(fiber)
    }

    pub(crate) fn header(&self) -> &Header {
        self.0.header()
    }

    pub(crate) fn ptr(&self) -> FiberPtr {
        self.0.ptr()
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.header().join.lock().done
    }

    pub(crate) fn cancel(&self) {
        self.0.cancel();
    }

    /// Returns the fiber's identity.
    ///
    /// # Examples
    /// ```
    /// let handle = pirn::spawn(|| pirn::current().id());
    /// let id = handle.fiber().id();
    /// assert_ne!(id, pirn::current().id());
    /// assert_eq!(handle.join().unwrap(), id);
    /// ```
    #[must_use]
    pub fn id(&self) -> FiberId {
        FiberId::of_number(self.header().id())
    }

    /// Returns the name given to [`Builder::name`](crate::spawn::Builder::name).
    ///
    /// # Examples
    /// ```
    /// use pirn::spawn::Builder;
    ///
    /// let handle = Builder::new().name("reader").spawn(|| 7).unwrap();
    /// assert_eq!(handle.fiber().name(), Some("reader"));
    /// assert_eq!(pirn::spawn(|| 7).fiber().name(), None);
    /// ```
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.header().name()
    }

    /// Returns the address that identifies the fiber at choices.
    #[inline]
    pub(crate) fn address(&self) -> usize {
        (&raw const *self.header()).addr()
    }

    /// Gives the fiber the token that [`park`](crate::park()) waits for, as
    /// `std::thread::Thread::unpark` does.
    ///
    /// It can be called from any thread and never blocks. Effects before it are visible after the
    /// `park` that it ends. On a finished fiber it has no effect.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// let handle = pirn::spawn(|| {
    ///     pirn::park();
    ///     "resumed"
    /// });
    /// handle.fiber().unpark(); // before or after `park`
    /// assert_eq!(handle.join().unwrap(), "resumed");
    /// ```
    #[doc(alias = "wake")]
    pub fn unpark(&self) {
        point(Operation::Unpark, self.address());
        self.0.unpark();
    }
}

impl fmt::Debug for Fiber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fiber")
            .field("id", &self.id())
            .field("name", &self.name())
            .finish()
    }
}
