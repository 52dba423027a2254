//! Handles that name a fiber.

use std::fmt;

use crate::fiber::{FiberId, FiberPtr, FiberRef, Header};

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
        FiberId::from_number(self.header().id()).expect("generations start at one")
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
