//! Joins through a scope, which carries along the job list that [`join`](super::join())
//! looks up each time.
//!
//! Owns: on which list the joins of a scope push their jobs. Does not own: how the halves
//! are run (`fork`).

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;

use super::fork::{fork, fork_when_due};
use crate::fiber::current;
use crate::fiber::jobs::Jobs;
use crate::sched::worker::heartbeat::{Place, place};

/// The state shared by the joins of one fiber; created by [`scope`].
///
/// # Examples
/// ```
/// use pirn::par::{self, Scope};
///
/// fn max(scope: &mut Scope<'_>, items: &[u32]) -> Option<u32> {
///     if items.len() < 100 {
///         return items.iter().copied().max();
///     }
///     let (left, right) = items.split_at(items.len() / 2);
///     let (a, b) = scope.join(|s| max(s, left), |s| max(s, right));
///     a.max(b)
/// }
///
/// let items: Vec<u32> = (0..1_000).collect();
/// assert_eq!(par::scope(|s| max(s, &items)), Some(999));
/// ```
pub struct Scope<'s> {
    /// The list of the fiber's worker. The static empty list where fibers may migrate, so
    /// that each join looks it up.
    jobs: &'static Jobs,
    /// Stays with its fiber, and in the call of [`scope`].
    fiber: PhantomData<*mut &'s ()>,
}

/// Calls `f` with a [`Scope`] and returns its result. Joins through the scope are a
/// little faster than with [`join`](super::join()).
///
/// This is not rayon's `scope`, which is [`pirn::scope`](crate::scope()).
///
/// On a plain thread `f` runs on a fiber of the current runtime, as with
/// [`run`](crate::run()).
///
/// # Panics
/// With the panic of `f`; on a plain thread also like [`run`](crate::run()).
///
/// # Cancellation
/// Not an interruption point, but `f` may contain some.
///
/// # Blocking
/// Like `f`; on a plain thread like [`run`](crate::run()).
///
/// # Examples
/// ```
/// use pirn::par::{self, Scope};
///
/// fn fib(s: &mut Scope<'_>, n: u32) -> u64 {
///     if n < 2 {
///         return u64::from(n);
///     }
///     let (a, b) = s.join(|s| fib(s, n - 1), |s| fib(s, n - 2));
///     a + b
/// }
/// assert_eq!(par::scope(|s| fib(s, 20)), 6_765);
/// ```
#[track_caller]
pub fn scope<F, R>(f: F) -> R
where
    F: FnOnce(&mut Scope<'_>) -> R + Send,
    R: Send,
{
    match place(current::local()) {
        Place::Outside => crate::run(|| f(&mut Scope::here())),
        Place::Fiber(_) | Place::Alone => f(&mut Scope::here()),
    }
}

impl Scope<'_> {
    /// Creates the scope of the calling fiber.
    pub(super) fn here() -> Self {
        let local = current::local();
        // Where fibers may migrate, the list may be another one after a wait.
        let jobs = match local.is_free() {
            true => Jobs::none(),
            false => local.jobs(),
        };
        Scope {
            jobs,
            fiber: PhantomData,
        }
    }

    /// Returns true if there is a request for a job, or for the caller's thread: the next
    /// join serves it.
    #[inline(always)]
    pub(super) fn is_due(&self) -> bool {
        match self.jobs.has_no_owner() {
            false => self.jobs.is_due(),
            true => current::local().jobs().is_due(),
        }
    }

    /// Runs `a` and `b`, in parallel if another worker is idle, and returns both results:
    /// [`join`](super::join()) through this scope. Both halves receive a scope: that of
    /// the fiber they run on.
    ///
    /// # Panics
    /// With the panic of `a`, else with that of `b`, when both have ended.
    ///
    /// # Cancellation
    /// Not an interruption point: it returns when both have ended.
    ///
    /// # Blocking
    /// If `b` runs elsewhere, the calling fiber parks until it has ended.
    ///
    /// # Examples
    /// ```
    /// let (a, b) = pirn::par::scope(|s| s.join(|_| 6 * 7, |_| "two"));
    /// assert_eq!((a, b), (42, "two"));
    /// ```
    #[inline]
    #[track_caller]
    pub fn join<A, B, RA, RB>(&mut self, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce(&mut Scope<'_>) -> RA + Send,
        B: FnOnce(&mut Scope<'_>) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        self.join_at(Location::caller(), a, b)
    }

    /// [`join`](Self::join) for a caller with a place that reports must not show.
    #[inline(always)]
    pub(super) fn join_at<A, B, RA, RB>(
        &mut self,
        at: &'static Location<'static>,
        a: A,
        b: B,
    ) -> (RA, RB)
    where
        A: FnOnce(&mut Scope<'_>) -> RA + Send,
        B: FnOnce(&mut Scope<'_>) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        let jobs = self.jobs;
        let b = |here: Option<&mut Scope<'_>>| match here {
            Some(scope) => b(scope),
            None => b(&mut Scope::here()),
        };
        if jobs.is_due() {
            return fork_when_due(at, self, a, b);
        }
        // SAFETY: looked up when the scope was made, on this worker. The scope stays with
        // its fiber, which does not migrate, or else the list is the static empty one,
        // which is always due.
        unsafe { fork(jobs, at, self, a, b) }
    }
}

impl fmt::Debug for Scope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}
