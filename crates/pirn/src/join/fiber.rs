//! Handles that name a fiber.

use std::fmt;
use std::num::NonZeroU64;

use crate::fiber::{FiberPtr, FiberRef, Header};

/// Identifies a fiber, or a plain thread that waits like one, within the process.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FiberId(NonZeroU64);

impl fmt::Debug for FiberId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FiberId({})", self.0)
    }
}

impl fmt::Display for FiberId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Names a fiber, as `std::thread::Thread` names a thread. Keeps nothing alive but the name.
#[derive(Clone)]
pub struct Fiber(FiberRef);

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

    pub(crate) fn cancel(&self) {
        self.0.cancel();
    }

    /// The fiber's identity.
    #[must_use]
    pub fn id(&self) -> FiberId {
        let id = NonZeroU64::new(self.header().id());
        FiberId(id.expect("generations start at one"))
    }

    /// The name given to [`Builder::name`](crate::spawn::Builder::name).
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.header().name()
    }

    /// Gives the fiber the token that [`park`](crate::park()) waits for, as `std::thread::Thread::unpark`.
    ///
    /// From any thread; never blocks. What happened before it is visible after the `park`
    /// that it ends. On a finished fiber it does nothing.
    pub fn unpark(&self) {
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
