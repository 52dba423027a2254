//! [`scope`]: fibers that may borrow from the frame that spawns them.
//!
//! Owns: the lifetimes, and when a scope may end. Does not own: the count of its children
//! (`children`).
//!
//! Invariants:
//! * SC1. `scope` does not return, nor unwind, before every child has been counted off at its
//!   end. So what children borrow from `'env`, and the scope itself, outlive them.

use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::Duration;

use super::children::Children;
use crate::base::dropping::drop_caught;
use crate::fiber::limit::LimitRef;
use crate::fiber::{FiberPtr, current, entry};
use crate::join::{Fiber, JoinCase, JoinError, Joined};
use crate::runtime::Handle;
use crate::sched::place;
use crate::sched::pool::Pool;
use crate::spawn::{Builder, Rejected, SpawnError, take_back};
use crate::wait::{How, Interrupt, Reason, Spec, deadline_in, limit, spend};

/// A scope to spawn fibers in; see [`scope`].
pub struct Scope<'scope, 'env: 'scope> {
    children: Children,
    pool: Arc<Pool>,
    /// The deadline that the scope is under, and so its children.
    limit: Option<LimitRef>,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// Owns the right to join a fiber of a scope.
///
/// Dropping it lets the fiber go on; the scope waits for it all the same.
pub struct ScopedJoinHandle<'scope, T> {
    joined: Joined<T>,
    scope: PhantomData<&'scope ()>,
}

/// Runs `f` with a scope in which it may spawn fibers that borrow local variables, waits
/// for all of them, and returns what `f` returned.
///
/// As [`std::thread::scope`], with fibers. The scope ends when all of its fibers have
/// ended, in every case: also when `f` panics or the caller is interrupted.
///
/// # Panics
/// With the payload of the first child that panicked and was not joined; else with the
/// panic of `f`. And if there is no runtime yet and the default one cannot be made; or in
/// that runtime's [`on_thread_start`](crate::runtime::Builder::on_thread_start) hook.
///
/// # Cancellation
/// Waiting for the children is not an interruption point: it ends with the last of them.
/// Parks a fiber, blocks a plain thread.
///
/// ```
/// let mut parts = [1, 2, 3, 4];
/// pirn::scope(|s| {
///     for part in &mut parts {
///         s.spawn(move || *part *= 10);
///     }
/// });
/// assert_eq!(parts, [10, 20, 30, 40]);
/// ```
#[track_caller]
pub fn scope<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    scope_in(Arc::clone(Handle::current().pool()), f)
}

#[track_caller]
fn scope_in<'env, F, T>(pool: Arc<Pool>, f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    pool.refuse_in_start_hook();
    let limit = match pool.shares_clock(current::local()) {
        true => limit::nearest(),
        false => None,
    };
    let scope = Scope {
        children: Children::new(),
        pool,
        limit,
        scope: PhantomData,
        env: PhantomData,
    };
    // UNWIND: the body's panic is kept until its children have ended (SC1).
    let result = catch_unwind(AssertUnwindSafe(|| f(&scope)));
    // SC1 rests on the count, not on the wake.
    while scope.children.alive() > 0 {
        let _ = scope.children.wait(&Spec::of(Reason::Scope));
    }
    match (scope.children.take_panic(), result) {
        (None, Ok(value)) => value,
        (None, Err(panic)) => resume_unwind(panic),
        (Some(panic), rest) => {
            // UNWIND: what the body left must not unwind into the child's panic.
            drop_caught(rest);
            resume_unwind(panic)
        }
    }
}

impl Handle {
    /// A scope whose fibers run on this runtime, as [`scope`](crate::scope()). `f` itself
    /// runs where it is called.
    ///
    /// # Panics
    /// With the payload of the first child that panicked and was not joined; else with the
    /// panic of `f`. In this runtime's
    /// [`on_thread_start`](crate::runtime::Builder::on_thread_start) hook.
    ///
    /// # Cancellation
    /// As [`scope`](crate::scope()).
    #[track_caller]
    pub fn scope<'env, F, T>(&self, f: F) -> T
    where
        F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
    {
        scope_in(Arc::clone(self.pool()), f)
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Spawns a fiber in this scope.
    ///
    /// If the scope's runtime has been shut down, `f` is dropped and the handle joins as
    /// [`NotRun`](crate::spawn::JoinError::NotRun).
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, f: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let fiber = self.fresh(Builder::new(), f);
        if let Err(fiber) = place::spawn(&self.pool, current::local(), fiber) {
            entry::refuse(fiber);
        }
        ScopedJoinHandle::new(fiber)
    }

    /// Spawns a fiber in this scope, unless the scope's runtime has been shut down.
    ///
    /// # Errors
    /// Gives `f` back.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    #[track_caller]
    pub fn try_spawn<F, T>(
        &'scope self,
        f: F,
    ) -> Result<ScopedJoinHandle<'scope, T>, SpawnError<F>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        Builder::new().spawn_scoped(self, f)
    }

    /// Waits for all children that have been spawned so far, and those they spawn.
    /// Called by one of them it ends only by an interrupt.
    ///
    /// # Errors
    /// The interrupt that the caller is under. `Ok` all the same if no child is left.
    ///
    /// # Cancellation
    /// An interruption point, but not if no child is left. Parks a fiber, blocks a plain
    /// thread.
    #[track_caller]
    pub fn wait(&self) -> Result<(), Interrupt> {
        match self.children.wait(&Spec::interruptible(Reason::Scope)) {
            How::Interrupted(interrupt) => Err(interrupt),
            _ => {
                spend();
                Ok(())
            }
        }
    }

    /// As [`wait`](Self::wait), for at most `limit`; false if children are left then. A limit
    /// that the clock cannot express is none.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    ///
    /// # Cancellation
    /// As [`wait`](Self::wait).
    #[track_caller]
    pub fn wait_timeout(&self, limit: Duration) -> Result<bool, Interrupt> {
        let spec = Spec::interruptible(Reason::Scope).until(deadline_in(limit));
        match self.children.wait(&spec) {
            How::Interrupted(interrupt) => Err(interrupt),
            How::TimedOut => Ok(false),
            _ => {
                spend();
                Ok(true)
            }
        }
    }

    /// How many children have not ended.
    #[must_use]
    pub fn len(&self) -> usize {
        self.children.alive()
    }

    /// Whether all children have ended.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[track_caller]
    fn fresh<F, T>(&'scope self, builder: Builder, f: F) -> FiberPtr
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        self.children.count();
        // SAFETY: SC1: what `F` and `T` borrow lives for `'scope`, which is longer than the
        // child.
        let fiber = unsafe { builder.fresh(current::local(), Location::caller(), f) };
        // SAFETY: SC1.
        unsafe { self.children.adopt(fiber) };
        // LI1: the code that the limit holds for is around the scope (SC1).
        // SAFETY: H1, H2: not published yet.
        unsafe { fiber.as_ref() }.limit.set(self.limit);
        fiber
    }
}

impl Builder {
    /// Spawns the fiber in a scope, as [`Scope::try_spawn`].
    ///
    /// # Errors
    /// Gives `f` back if the scope's runtime has been shut down, or no stack can be that
    /// large.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    #[track_caller]
    pub fn spawn_scoped<'scope, F, T>(
        self,
        scope: &'scope Scope<'scope, '_>,
        f: F,
    ) -> Result<ScopedJoinHandle<'scope, T>, SpawnError<F>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        if self.asks_too_much() {
            return Err(SpawnError::new(f, Rejected::OutOfMemory));
        }
        let fiber = scope.fresh(self, f);
        match place::spawn(&scope.pool, current::local(), fiber) {
            Ok(()) => Ok(ScopedJoinHandle::new(fiber)),
            Err(fiber) => {
                // SAFETY: refused, so it is in no queue and still holds an `F`.
                let f = unsafe { take_back(fiber) };
                scope.children.uncount();
                Err(SpawnError::new(f, Rejected::ShutDown))
            }
        }
    }
}

impl<T> ScopedJoinHandle<'_, T> {
    fn new(fiber: FiberPtr) -> Self {
        // SAFETY: J1: called once for each fresh fiber, with its result type.
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

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope")
            .field("alive", &self.len())
            .finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for ScopedJoinHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedJoinHandle")
            .field("fiber", self.fiber())
            .finish_non_exhaustive()
    }
}
