//! The operation on which all others of this module are built.
//!
//! Owns: [`join`], and [`join_context`], which also says where each half runs. Does not
//! own: how the halves are run (`fork`); joins that carry their job list along (`scope`).

use std::ptr;

use super::fork::join_here;
use crate::fiber::current;

/// Runs `a` and `b`, in parallel if another worker is idle, and returns both results.
///
/// Usually `a` runs first and then `b`, on the caller's stack and thread. But `b`, or an
/// older second half of a join around this one, becomes a fiber that another worker may
/// run, if
///
/// * there is a request for work when `a` begins, which an idle worker sets in advance,
/// * a request comes while `a` makes joins, or
/// * `a` waits for anything.
///
/// Then this call waits for that fiber.
///
/// So an `a` that neither joins nor waits hands out nothing once it has begun. A program
/// must not rely on `a` and `b` running at the same time. If `a` spins, or blocks by
/// means of `std`, until `b` has run, it may never end. Halves that wait for each other
/// by parking, through the channels and locks of this library, always make progress. Two
/// functions that must overlap are children of a [`pirn::scope`](crate::scope()).
///
/// The token and the deadline of the caller's code apply to both halves. A `b` that
/// becomes a fiber has copies of the caller's inherited fiber-locals
/// ([`fiber_local!`](crate::fiber_local!)), made at that time; a clone must not wait for
/// fibers. If a value cannot be copied then, `b` runs without it, and its use panics.
///
/// On a plain thread both halves run on fibers of the current runtime, as with
/// [`run`](crate::run()). In the [poll](crate::future) of a future on a fiber, and in a
/// hook that starts a runtime's thread, `a` runs, and then `b`.
///
/// # Complexity
/// A few nanoseconds, no allocation and no read-modify-write, unless there is a request
/// to the fiber or `b` becomes a fiber. From a plain thread, the cost of
/// [`run`](crate::run()). The frame of this call stays on the caller's stack while `a`
/// runs.
///
/// # Panics
/// With the panic of `a`, else with that of `b`, when both have ended: `b` runs even if
/// `a` panics.
///
/// # Cancellation
/// Not an interruption point: it returns when both have ended, and runs both even if the
/// caller has been cancelled. Waits inside them are interrupted as usual. The same holds
/// when the runtime is shut down; a `b` that becomes a fiber then stays on the caller's
/// worker.
///
/// # Blocking
/// Returns when both have ended. If `b` runs elsewhere, the calling fiber parks until
/// then. A plain thread waits for the fibers that run both.
///
/// # Examples
/// ```
/// fn fib(n: u32) -> u64 {
///     if n < 2 {
///         return u64::from(n);
///     }
///     let (a, b) = pirn::par::join(|| fib(n - 1), || fib(n - 2));
///     a + b
/// }
/// assert_eq!(fib(20), 6_765);
/// ```
#[inline]
#[track_caller]
pub fn join<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    join_here(a, b)
}

/// Runs `a` and `b` as [`join`] does, and passes to each whether it runs on another
/// thread than this call: [`FnContext::migrated`].
///
/// It is for code that does something else for work that has moved, for instance divides
/// it further, or does not use the caller's caches. The loops of this module divide by
/// requests of idle workers and need no such rule.
///
/// # Complexity
/// As [`join`], and three calls that look up the thread.
///
/// # Panics
/// As [`join`].
///
/// # Cancellation
/// As [`join`].
///
/// # Blocking
/// As [`join`].
///
/// # Examples
/// ```
/// use pirn::par::join_context;
///
/// /// Divides `cuts` times, and once more where another worker has taken a half.
/// fn sum(numbers: &[u64], cuts: u32) -> u64 {
///     if cuts == 0 || numbers.len() < 2 {
///         return numbers.iter().sum();
///     }
///     let (left, right) = numbers.split_at(numbers.len() / 2);
///     let (a, b) = join_context(
///         |_| sum(left, cuts - 1),
///         |context| sum(right, if context.migrated() { cuts } else { cuts - 1 }),
///     );
///     a + b
/// }
///
/// let numbers: Vec<u64> = (1..=1_000).collect();
/// assert_eq!(sum(&numbers, 5), 500_500);
/// ```
#[inline]
#[track_caller]
pub fn join_context<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    let caller = thread();
    join_here(
        move || a(FnContext::of(caller)),
        move || b(FnContext::of(caller)),
    )
}

/// Where a half of [`join_context`] runs.
///
/// # Examples
/// ```
/// use pirn::par::{FnContext, join_context};
///
/// let place = |it: FnContext| if it.migrated() { "elsewhere" } else { "here" };
/// let runtime = pirn::Runtime::builder().workers(1).build()?;
/// assert_eq!(runtime.run(|| join_context(place, place)), ("here", "here"));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct FnContext {
    migrated: bool,
}

impl FnContext {
    /// Returns the context of a half that begins now, of a join called on the thread
    /// `caller`.
    #[inline]
    fn of(caller: usize) -> FnContext {
        FnContext {
            migrated: thread() != caller,
        }
    }

    /// Returns true if this half began on another thread than that of the call of
    /// [`join_context`]. So it is true for both halves of a call on a plain thread. It is
    /// false for a second half that became a fiber and was not taken by another worker.
    ///
    /// # Examples
    /// ```
    /// use pirn::par::join_context;
    ///
    /// // From a plain thread, both halves run on a worker.
    /// let moved = join_context(|a| a.migrated(), |b| b.migrated());
    /// assert_eq!(moved, (true, true));
    /// ```
    #[must_use]
    pub fn migrated(self) -> bool {
        self.migrated
    }
}

/// Returns a number of the calling thread that no other living thread has.
#[inline]
fn thread() -> usize {
    ptr::from_ref(current::local()).addr()
}
