//! The one operation that all others here are made of.
//!
//! Owns: [`join`]. Does not own: how the halves are run (`fork`); joins that know where
//! they are (`scope`).

use std::panic::Location;

use super::fork::{fork, fork_when_due};
use crate::fiber::current;
use crate::sched::beat::{Place, place};

/// Runs `a` and `b`, in parallel if somebody has nothing else to do, and returns both
/// results.
///
/// As a rule `a` runs first and then `b`, in the caller's own stack and thread. But `b`
/// (or what was noted earlier, by a join around this one) becomes a fiber, which another
/// worker may run, if somebody has asked for work by the time `a` begins, as a worker
/// without work does beforehand; if somebody asks while `a` makes joins; or if `a` waits
/// for anything. Then this waits for that fiber.
///
/// So an `a` that neither joins nor waits hands out nothing once it has begun, and
/// nothing may rest on `a` and `b` running at the same time: an `a` that spins, or waits
/// by `std`'s means, until `b` has run may do so for ever. Halves that wait for each
/// other by what parks, as the channels and locks of this library, always go on. Two
/// functions that must overlap are children of a [`pirn::scope`](crate::scope()).
///
/// The token and the deadline of the caller's code hold for both halves. Of its
/// fiber-locals ([`fiber_local!`](crate::fiber_local!)) a `b` that becomes a fiber has
/// copies of those that are inherited, made when it does; a clone must not wait for
/// fibers. If one cannot be copied then, `b` runs without it, and its use panics.
///
/// On a plain thread both run on fibers of the current runtime, as by
/// [`run`](crate::run()). In the middle of the [poll](crate::future) of a future on a
/// fiber, and in a hook that starts a runtime's thread, `a` runs, and then `b`.
///
/// # Complexity
/// A few nanoseconds, no allocation and no read-modify-write, unless somebody has asked
/// the fiber for something or `b` becomes a fiber; from a plain thread, what
/// [`run`](crate::run()) costs. The frame of this call lies on the caller's stack for as
/// long as `a` runs.
///
/// # Panics
/// With the panic of `a`, else with that of `b`, when both have ended: `b` runs even if
/// `a` panics.
///
/// # Cancellation
/// Not an interruption point: it returns when both have ended, and runs both even if the
/// caller has been cancelled. What waits inside them is interrupted as ever. So it
/// is when the runtime is shut down; a `b` that becomes a fiber then stays on the
/// caller's worker.
///
/// # Blocking
/// Returns when both have ended. A fiber whose `b` runs elsewhere parks until then; a
/// plain thread waits for the fibers that do both.
///
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
    let jobs = current::local().jobs();
    if jobs.is_due() {
        return join_when_due(a, b);
    }
    // SAFETY: looked up here; nobody's are always due.
    unsafe { fork(jobs, Location::caller(), &mut (), |()| a(), |_| b()) }
}

#[cold]
#[inline(never)]
#[track_caller]
fn join_when_due<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    let at = Location::caller();
    match place(current::local()) {
        Place::Outside => crate::run(|| fork_when_due(at, &mut (), |()| a(), |_| b())),
        Place::Fiber(_) | Place::Alone => fork_when_due(at, &mut (), |()| a(), |_| b()),
    }
}
