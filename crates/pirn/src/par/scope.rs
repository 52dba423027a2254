//! Joins through a scope, which carries along the job list that [`join`](super::join())
//! looks up each time.
//!
//! Owns: [`Scope`]. Does not own: the list, nor how the halves are run (`fork`).

use std::fmt;
use std::panic::Location;

use super::fork::List;
use crate::fiber::current;
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
    /// The list of the fiber's worker. Where fibers may migrate, each join looks it up.
    list: List<'s>,
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
        Place::Outside => crate::run(|| Scope::with(f)),
        Place::Fiber(_) | Place::Alone => Scope::with(f),
    }
}

impl Scope<'_> {
    /// Calls `f` with the scope of the calling fiber.
    fn with<R>(f: impl FnOnce(&mut Scope<'_>) -> R) -> R {
        List::with(|list| f(&mut Scope { list }))
    }

    /// Returns true if there is a request for a job, or for the caller's thread: the next
    /// join serves it.
    #[inline(always)]
    pub(super) fn is_due(&self) -> bool {
        self.list.is_due()
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
        let list = self.list;
        let b = |here: Option<&mut Scope<'_>>| match here {
            Some(scope) => b(scope),
            None => Scope::with(b),
        };
        list.join(at, self, a, b)
    }
}

impl fmt::Debug for Scope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}
