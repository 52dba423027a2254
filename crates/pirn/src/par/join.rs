//! The operation on which all others of this module are built.
//!
//! Owns: [`join`]. Does not own: how the halves are run (`fork`); joins that carry their
//! job list along (`scope`).

use super::fork::join_here;

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
