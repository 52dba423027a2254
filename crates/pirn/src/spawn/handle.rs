//! Handles that name a fiber, and the calls by which a fiber acts on itself.

use std::fmt;
use std::num::NonZeroU64;
use std::time::Duration;

use super::join::deadline_in;
use crate::fiber::current;
use crate::fiber::{FiberPtr, FiberRef, Header};
use crate::wait::park::{park as park_with, ticket};
use crate::wait::{How, Interrupt, Reason, Spec};

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

    /// The name given to [`Builder::name`](super::Builder::name).
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.header().name()
    }

    /// Gives the fiber the token that [`park`] waits for, as `std::thread::Thread::unpark`.
    ///
    /// From any thread; never blocks. What happened before it is visible after the `park`
    /// that it ends. On a finished fiber it does nothing.
    pub fn unpark(&self) {
        self.0.unpark();
    }
}

impl fmt::Debug for Fiber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fiber").field("id", &self.id()).field("name", &self.name()).finish()
    }
}

/// The fiber that calls; on a plain thread, a handle that stands for the thread.
#[must_use]
pub fn current() -> Fiber {
    Fiber(FiberRef::of(current::identity(current::local())))
}

/// Waits for the token of [`Fiber::unpark`] and consumes it.
///
/// Returns at once if the token is there already. Unlike `std::thread::park` it does not
/// return without a token.
#[track_caller]
pub fn park() {
    let _ = wait_for_token(Spec { token: true, ..Spec::of(Reason::Park) });
}

/// As [`park`], but for at most `limit`.
#[track_caller]
pub fn park_timeout(limit: Duration) {
    let spec = Spec { token: true, ..Spec::of(Reason::Park) };
    let _ = wait_for_token(spec.until(deadline_in(limit)));
}

/// As [`park`], but can be interrupted.
///
/// # Errors
/// The interrupt that the caller is under; a token that is there is kept.
///
/// # Cancellation
/// An interruption point.
#[track_caller]
pub fn park_interruptible() -> Result<(), Interrupt> {
    match wait_for_token(Spec { token: true, ..Spec::interruptible(Reason::Park) }) {
        How::Cancelled => Err(Interrupt::Cancelled),
        _ => Ok(()),
    }
}

fn wait_for_token(spec: Spec) -> How {
    park_with(ticket(), &spec).how
}

/// Lets everything else that is ready run first. Never an interruption point.
#[inline]
pub fn yield_now() {
    crate::wait::yield_now();
}
