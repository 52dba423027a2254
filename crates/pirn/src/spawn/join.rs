//! Join handles: waiting for a fiber's end and taking its outcome.
//!
//! Owns: [`JoinHandle`] and the part of it that scopes share ([`Joined`]). The agreement
//! with the fiber's end, who drops what, is in `fiber::entry`.

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::time::{Duration, Instant};

use super::error::{JoinError, Payload};
use super::handle::Fiber;
use crate::fiber::entry::{self, Panic};
use crate::fiber::{FiberPtr, FiberRef, Outcome};
use crate::shim;
use crate::wait::{Attempt, How, Interrupt, Reason, Spec, Waited, spend, wait_in};

/// One fiber's outcome, typed; the common part of all join handles.
///
/// Invariant J1: `T` is the result type of the fiber's closure, and at most one `Joined`
/// exists for one fiber.
pub(crate) struct Joined<T> {
    fiber: Fiber,
    result: PhantomData<T>,
}

// SAFETY: J1: what the handle gives out of the other thread is a `T`, once.
unsafe impl<T: Send> Send for Joined<T> {}
// SAFETY: through a shared handle nothing of type `T` can be reached.
unsafe impl<T: Send> Sync for Joined<T> {}

impl<T> Joined<T> {
    /// # Safety
    /// The caller hands over one reference to a fiber that was made with result type `T`,
    /// and makes no second handle for it (J1).
    pub(crate) unsafe fn new(fiber: FiberPtr) -> Self {
        // SAFETY: the caller's promise.
        let fiber = Fiber::from_ref(unsafe { FiberRef::from_owned(fiber) });
        Joined { fiber, result: PhantomData }
    }

    pub(crate) fn fiber(&self) -> &Fiber {
        &self.fiber
    }

    /// Waits until the outcome is there, or `spec` says otherwise.
    #[inline]
    pub(crate) fn wait(&self, spec: &Spec) -> How {
        let waited = wait_in(
            &self.fiber.header().join,
            |join| &mut join.waiters,
            spec,
            |join| if join.done { Attempt::Done(()) } else { Attempt::Wait(()) },
        );
        match waited {
            Waited::Done(()) => How::Woken(crate::fiber::state::Code::case(0)),
            Waited::Ended(how, ()) => how,
        }
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.fiber.header().join.lock().done
    }

    /// Takes the outcome of a fiber that has finished.
    #[inline]
    pub(crate) fn take(self) -> Result<T, JoinError> {
        // The outcome is taken here, so there is nothing left for `drop` to settle.
        let mut this = ManuallyDrop::new(self);
        let header = this.fiber.header();
        debug_assert!(header.join.lock().done, "an outcome is taken after the end only");
        let outcome = header.outcome.replace(Outcome::Taken);
        let fiber = this.fiber.ptr();
        let result = match outcome {
            // SAFETY: J1, H5: done, and the outcome says that a `T` lies there.
            Outcome::Value => Ok(unsafe { entry::take::<T>(fiber) }),
            // SAFETY: H5, as above.
            Outcome::Panicked => Err(JoinError::Panicked(Payload::new(unsafe {
                entry::take::<Panic>(fiber)
            }))),
            Outcome::NotRun | Outcome::Pending | Outcome::Taken => Err(JoinError::NotRun),
        };
        // SAFETY: `this` is not used again, and its own drop does not run.
        unsafe { std::ptr::drop_in_place(&raw mut this.fiber) };
        result
    }
}

impl<T> Drop for Joined<T> {
    fn drop(&mut self) {
        let header = self.fiber.header();
        let mut join = header.join.lock();
        if !join.done {
            join.detached = true;
            return;
        }
        drop(join);
        let raised_by_scope = header.keeps_panic.get() && header.outcome.get() == Outcome::Panicked;
        if !raised_by_scope {
            // SAFETY: H5: done, so the outcome is the handle's.
            unsafe { entry::drop_outcome(self.fiber.ptr()) };
        }
    }
}

/// Owns the right to wait for a fiber and to take its result.
///
/// Dropping the handle detaches the fiber: it goes on, and its result is dropped when it
/// ends. Handles may be shared: any number of fibers and threads can [`wait`](Self::wait).
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
    /// # Cancellation
    /// An interruption point, but not for a fiber that has finished.
    #[inline]
    #[track_caller]
    pub fn join(self) -> Result<T, JoinError> {
        match self.0.wait(&Spec::interruptible(Reason::Join)) {
            How::Cancelled => Err(JoinError::Interrupted(Interrupt::Cancelled)),
            _ => {
                let result = self.0.take();
                spend();
                result
            }
        }
    }

    /// Waits for the fiber to end and keeps the handle.
    ///
    /// # Errors
    /// The interrupt that the caller is under. A finished fiber is `Ok` all the same.
    ///
    /// # Cancellation
    /// An interruption point, but not for a fiber that has finished.
    #[track_caller]
    pub fn wait(&self) -> Result<(), Interrupt> {
        match self.0.wait(&Spec::interruptible(Reason::Join)) {
            How::Cancelled => Err(Interrupt::Cancelled),
            _ => {
                spend();
                Ok(())
            }
        }
    }

    /// Waits for at most `limit`, and gives the handle back if the fiber still runs then.
    ///
    /// # Errors
    /// `Err(handle)` when the time is up; inside `Ok`, what [`join`](Self::join) says.
    ///
    /// # Cancellation
    /// An interruption point: `Ok(Err(JoinError::Interrupted(_)))`.
    #[track_caller]
    pub fn join_timeout(self, limit: Duration) -> Result<Result<T, JoinError>, JoinHandle<T>> {
        let spec = Spec::interruptible(Reason::Join).until(deadline_in(limit));
        match self.0.wait(&spec) {
            How::TimedOut => Err(self),
            How::Cancelled => Ok(Err(JoinError::Interrupted(Interrupt::Cancelled))),
            _ => Ok(self.0.take()),
        }
    }

    /// Whether the fiber has ended, so that joining it does not wait.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.0.is_finished()
    }

    /// Asks the fiber to stop. One that has not started never will; one that runs is
    /// interrupted in its present wait and in every later one.
    pub fn cancel(&self) {
        self.0.fiber().cancel();
    }

    /// Lets the fiber go on by itself; the same as dropping the handle.
    pub fn detach(self) {
        drop(self);
    }

    /// The fiber, for its name, its identity and [`unpark`](Fiber::unpark).
    #[must_use]
    pub fn fiber(&self) -> &Fiber {
        self.0.fiber()
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").field("fiber", self.fiber()).finish_non_exhaustive()
    }
}

/// The moment `limit` from now; `None`, which is never, if the clock cannot express it.
pub(crate) fn deadline_in(limit: Duration) -> Option<Instant> {
    shim::now().checked_add(limit)
}
