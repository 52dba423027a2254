//! Fibers with their types: creating one together with its handle, waiting for its end, and taking
//! its outcome.
//!
//! The common part of all spawns and join handles. The protocol with the fiber's end about which of
//! them drops the outcome is in `fiber::entry`.
//!
//! Invariants:
//! * J1. The `T` of a [`Fresh`] and of a [`Joined`] is the result type of the fiber's closure, the
//!   `F` that closure's type. At most one of them exists for one fiber; it has the handle's
//!   reference. A `Fresh` also has the runtime's: the fiber has not been published.

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use super::case::EndCase;
use super::error::{JoinError, Payload};
use super::fiber::Fiber;
use crate::base::choice::Operation;
use crate::base::drop_guard::abort_on_unwind;
use crate::base::mutant::mutant;
use crate::fiber::current::{self, Local};
use crate::fiber::local::{self, Inheritance};
use crate::fiber::stackless::{BorrowTarget, StackOwner};
use crate::fiber::state::Code;
use crate::fiber::{EndHook, FiberPtr, FiberRef, Header, Outcome, entry};
use crate::wait::awaiting::Awaiting;
use crate::wait::wait_info::Subject;
use crate::wait::{
    Attempt, How, Interrupt, Reason, Spec, Waited, consume_budget, deadline_in, lend,
    point, wait_for,
};

/// A fiber that has not been published, with the types of its closure and its result (J1). Dropping
/// it leaks the fiber.
#[must_use = "a fiber that is not published never runs"]
pub(crate) struct Fresh<F, T> {
    fiber: FiberPtr,
    types: PhantomData<(F, T)>,
}

/// One fiber's outcome, typed (J1); the common part of all join handles.
pub(crate) struct Joined<T> {
    fiber: Fiber,
    result: PhantomData<T>,
}

// SAFETY: J1: the only value that the handle takes from the other thread is a `T`, once.
unsafe impl<T: Send> Send for Joined<T> {}
// SAFETY: a shared handle gives no access to a value of type `T`.
unsafe impl<T: Send> Sync for Joined<T> {}

impl<F: FnOnce() -> T, T> Fresh<F, T> {
    /// Creates a fiber that runs `f`.
    #[inline(always)]
    pub(crate) fn new(
        local: &Local,
        location: &'static Location<'static>,
        f: F,
    ) -> Fresh<F, T>
    where
        F: Send + 'static,
        T: Send + 'static,
    {
        // SAFETY: `F` and `T` are `Send` and borrow nothing.
        unsafe { Fresh::borrowing(local, location, f) }
    }

    /// Creates a fiber that runs `f`, which may borrow.
    ///
    /// # Safety
    /// The fiber ends (or is refused, or taken back) before any borrow of `f` or its result does,
    /// and runs on a thread that may take `f`.
    #[inline(always)]
    pub(crate) unsafe fn borrowing(
        local: &Local,
        location: &'static Location<'static>,
        f: F,
    ) -> Fresh<F, T> {
        Fresh {
            // SAFETY: the caller's promise.
            fiber: unsafe { entry::fresh(local, location, f) },
            types: PhantomData,
        }
    }

    /// Returns the pointer to the header, which is the caller's until the fiber is published (H2).
    #[inline(always)]
    pub(crate) fn ptr(&self) -> FiberPtr {
        self.fiber
    }

    /// Gives the fiber its inherited values. Called once.
    #[inline(always)]
    pub(crate) fn inherit(&self, inherited: Inheritance) {
        // SAFETY: H2: not published yet.
        unsafe { inherited.give_to(self.fiber) };
    }

    /// Returns the fiber, to be published or refused, and its handle.
    #[inline(always)]
    pub(crate) fn into_parts(self) -> (FiberPtr, Joined<T>) {
        // SAFETY: J1: the handle's reference, of result type `T`.
        (self.fiber, unsafe { Joined::new(self.fiber) })
    }

    /// Publishes the fiber by `queue`, which returns it if it was not queued, and returns the
    /// handle.
    ///
    /// # Errors
    /// The closure, if the fiber was not queued. `queue` returns the fiber only if no other code
    /// has it.
    #[inline(always)]
    pub(crate) fn publish(
        self,
        queue: impl FnOnce(FiberPtr) -> Result<(), FiberPtr>,
    ) -> Result<Joined<T>, F> {
        match queue(self.fiber) {
            // SAFETY: J1: the handle's reference, of result type `T`.
            Ok(()) => Ok(unsafe { Joined::new(self.fiber) }),
            Err(_) => Err(self.take_back()),
        }
    }

    /// Releases both references and returns the closure.
    fn take_back(self) -> F {
        let Fresh { fiber, .. } = self;
        // SAFETY: J1, H5: not published, so the payload still holds an `F`.
        let f = unsafe { entry::take::<F>(fiber) };
        // H2: in no queue.
        if !mutant!("refused_keeps_locals") {
            local::destroy(fiber.header());
        }
        for _ in 0..2 {
            // SAFETY: the runtime's reference and the handle's.
            unsafe { Header::release(fiber) };
        }
        f
    }
}

/// Runs `f`, which may borrow, on a fiber, and returns its result. `begin` publishes the fiber or
/// refuses it, and is called once. `wait` is called until the fiber has ended.
///
/// # Errors
/// The panic of `f`; or `f` was not run.
pub(crate) fn call_on_fiber<F, T>(
    local: &Local,
    location: &'static Location<'static>,
    f: F,
    begin: &dyn Fn(FiberPtr, &Fiber),
    wait: &dyn Fn(&Fiber),
) -> Result<T, JoinError>
where
    F: FnOnce() -> T + Send,
    T: Send,
{
    // SAFETY: the borrows of `f` outlive this call, which only the end of the fiber ends.
    let fresh = unsafe { Fresh::borrowing(local, location, f) };
    let (fiber, joined) = fresh.into_parts();
    run_to_end(fiber, joined.fiber(), begin, wait);
    joined.take()
}

/// The part of [`call_on_fiber`] that is compiled once for all types.
fn run_to_end(
    published: FiberPtr,
    fiber: &Fiber,
    begin: &dyn Fn(FiberPtr, &Fiber),
    wait: &dyn Fn(&Fiber),
) {
    // UNWIND: the fiber may still use the borrows of its closure.
    abort_on_unwind(|| {
        begin(published, fiber);
        // The borrows of the closure depend on this, so the loop checks the outcome and does not
        // rely on the wake.
        while !fiber.is_finished() {
            wait(fiber);
        }
    });
}

impl<T> Joined<T> {
    /// # Safety
    /// The caller hands over one reference to a fiber that was made with result type `T`,
    /// and makes no second handle for it (J1).
    pub(crate) unsafe fn new(fiber: FiberPtr) -> Self {
        // SAFETY: the caller's promise.
        let fiber = Fiber::from_ref(unsafe { FiberRef::from_owned(fiber) });
        Joined {
            fiber,
            result: PhantomData,
        }
    }

    pub(crate) fn fiber(&self) -> &Fiber {
        &self.fiber
    }

    /// Waits until the outcome is available, or until the wait ends as `spec` says.
    ///
    /// # Panics
    /// In a start hook, if it would wait: the hook's own worker may be the only one that could run
    /// the fiber.
    #[inline]
    #[track_caller]
    pub(crate) fn wait(&self, spec: &Spec) -> How {
        wait(&self.fiber, spec)
    }

    /// As `JoinHandle::wait`.
    #[inline]
    #[track_caller]
    pub(crate) fn wait_for_end(&self) -> Result<(), Interrupt> {
        match self.wait(const { &Spec::interruptible(Reason::Join) }) {
            How::Interrupted(interrupt) => Err(interrupt),
            _ => {
                consume_budget(Operation::Join, self.fiber.address());
                Ok(())
            }
        }
    }

    /// As `JoinHandle::join`.
    #[inline]
    #[track_caller]
    pub(crate) fn join(self) -> Result<T, JoinError> {
        match self.wait(const { &Spec::interruptible(Reason::Join) }) {
            How::Interrupted(interrupt) => Err(JoinError::Interrupted(interrupt)),
            _ => self.take_and_spend(),
        }
    }

    /// As `JoinHandle::join_timeout`.
    #[track_caller]
    pub(crate) fn join_timeout(
        self,
        limit: Duration,
    ) -> Result<Result<T, JoinError>, Self> {
        let spec = Spec::interruptible(Reason::Join).until(deadline_in(limit));
        match self.wait(&spec) {
            How::TimedOut => Err(self),
            How::Interrupted(interrupt) => Ok(Err(JoinError::Interrupted(interrupt))),
            _ => Ok(self.take_and_spend()),
        }
    }

    #[inline]
    fn take_and_spend(self) -> Result<T, JoinError> {
        consume_budget(Operation::Join, self.fiber.address());
        self.take()
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.fiber.is_finished()
    }

    /// Returns true if the outcome of a finished fiber is a panic.
    pub(crate) fn has_panicked(&self) -> bool {
        // H5: done, so the outcome is the handle's.
        self.is_finished() && self.fiber.header().outcome() == Outcome::Panicked
    }

    /// Returns true if the outcome has been taken by [`take_outcome`](Self::take_outcome).
    pub(crate) fn has_yielded(&self) -> bool {
        // H5: done, so the outcome is the handle's.
        self.is_finished() && self.fiber.header().outcome() == Outcome::Taken
    }

    /// Takes the outcome of a fiber that has finished.
    #[inline]
    pub(crate) fn take(self) -> Result<T, JoinError> {
        // The outcome is taken here, so `drop` has nothing to do.
        let mut this = ManuallyDrop::new(self);
        let result = this.take_outcome();
        // SAFETY: `this` is not used again, and its own drop does not run.
        unsafe { std::ptr::drop_in_place(&raw mut this.fiber) };
        result
    }

    /// As [`take`](Self::take), but keeps the handle; its outcome is `Taken` afterwards.
    #[inline(always)]
    pub(crate) fn take_outcome(&mut self) -> Result<T, JoinError> {
        let header = self.fiber.header();
        debug_assert!(
            header.join.lock().done,
            "an outcome is taken after the end only"
        );
        let outcome = header.take_outcome();
        let fiber = self.fiber.ptr();
        match outcome {
            // SAFETY: J1, H5: done, and the outcome says that a `T` is stored there.
            Outcome::Value => Ok(unsafe { entry::take::<T>(fiber) }),
            // SAFETY: H5, as above.
            Outcome::Panicked => Err(JoinError::Panicked(Payload::new(unsafe {
                entry::take_panic(fiber)
            }))),
            Outcome::NotRun | Outcome::Pending => Err(JoinError::NotRun),
            Outcome::Taken => Err(JoinError::Taken),
        }
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
        let raised_by_scope =
            header.flags.keeps_panic() && header.outcome() == Outcome::Panicked;
        if !raised_by_scope {
            // SAFETY: H5: done, so the outcome is the handle's.
            unsafe { entry::drop_outcome(self.fiber.ptr()) };
        } else if let Some(EndHook { table, data }) = header.on_end() {
            // It cancels the scope.
            point(Operation::Cancel, 0);
            // SAFETY: a panic is kept for a scope only, and its handles end before it does.
            unsafe { (table.panic_left)(data) };
        }
    }
}

/// The end of a fiber, awaited by a future.
pub(crate) struct AwaitedEnd(Pin<Box<Awaiting<EndCase<Fiber>>>>);

// SAFETY: accessed through an exclusive reference only.
unsafe impl Sync for AwaitedEnd {}

impl AwaitedEnd {
    pub(crate) fn new(fiber: Fiber) -> AwaitedEnd {
        AwaitedEnd(Box::pin(Awaiting::new(EndCase::new(fiber))))
    }

    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.0.as_ref().poll(context)
    }
}

/// [`Joined::wait`]. Waiting for a fiber does not depend on its result type, so it is compiled once
/// for all types.
#[inline]
#[track_caller]
fn wait(fiber: &Fiber, spec: &Spec) -> How {
    let mut refused = false;
    let refuse = || {
        refused = !current::local().starting().is_null();
        refused
    };
    let how = wait_unless(fiber, spec, refuse, || borrow_for(fiber, spec));
    assert!(!refused, "{}", current::IN_START_HOOK);
    how
}

/// As [`Joined::wait`], but also allowed in a start hook.
#[track_caller]
pub(crate) fn wait_anywhere(fiber: &Fiber, spec: &Spec) -> How {
    wait_unless(fiber, spec, || false, || borrow_for(fiber, spec))
}

/// As [`wait_anywhere`]; `on_stackless` is called when the fiber finds no stack.
#[track_caller]
pub(crate) fn wait_or(fiber: &Fiber, spec: &Spec, on_stackless: &dyn Fn()) -> How {
    wait_unless(fiber, spec, || false, on_stackless)
}

/// Does not wait if the outcome is available, or if `refuse` returns true.
#[inline(always)]
#[track_caller]
fn wait_unless(
    fiber: &Fiber,
    spec: &Spec,
    refuse: impl FnOnce() -> bool,
    on_stackless: impl Fn(),
) -> How {
    let mut refuse = Some(refuse);
    let mut refused = 0;
    loop {
        let waited = wait_for(
            Subject::end_of(fiber.ptr()),
            &fiber.header().join,
            |join| &mut join.waiters,
            spec,
            |join| {
                if join.done || refuse.take().is_some_and(|refuse| refuse()) {
                    Attempt::Done(None)
                } else if join.stackless % 2 == 1 && join.stackless != refused {
                    Attempt::Done(Some(join.stackless))
                } else if spec.deadline.is_none() {
                    Attempt::Wait(StackOwner::Borrower)
                } else {
                    Attempt::Wait(StackOwner::Other)
                }
            },
        );
        match waited {
            Waited::Done(None) => return How::Woken(Code::case(0)),
            Waited::Done(Some(request)) => {
                refused = request;
                on_stackless();
            }
            Waited::Ended(How::Woken(_), StackOwner::Asked) => {}
            Waited::Ended(how, _) => return how,
        }
    }
}

/// Runs the fiber, which finds no stack, on a borrowed one if possible, and waits for its end.
#[cold]
#[track_caller]
fn borrow_for(fiber: &Fiber, spec: &Spec) {
    let _ = lend(spec, BorrowTarget::Fiber(fiber.ptr()));
}
