//! Calls by which a fiber acts on itself.

use std::time::Duration;

use crate::base::choice::Operation;
use crate::fiber::FiberRef;
use crate::fiber::current;
use crate::join::Fiber;
use crate::wait::park::{park_on, take_token, ticket_on};
use crate::wait::polling::{forbids_waiting, refuse};
use crate::wait::yielding::{consume_budget_here, yield_if_allowed};
use crate::wait::{
    How, Interrupt, Reason, Spec, consume_budget, deadline_in, interrupted,
    interrupted_meanwhile,
};

/// Returns the calling fiber. On a plain thread it returns a handle to the thread, so that threads
/// can be [unparked](Fiber::unpark) as fibers are.
///
/// # Cancellation
/// Not an interruption point; never suspends.
///
/// # Examples
/// ```
/// let caller = pirn::current();
/// let fiber = pirn::spawn(move || {
///     caller.unpark();
///     pirn::current().id()
/// });
/// pirn::park(); // ends by `unpark`
/// let id = fiber.fiber().id();
/// assert_eq!(fiber.join().unwrap(), id);
/// ```
#[must_use]
pub fn current() -> Fiber {
    Fiber::from_ref(FiberRef::of(current::identity(current::local())))
}

/// Blocks until the caller has been given the token of [`Fiber::unpark`], and consumes it.
///
/// It returns at once if the token is present already. Unlike `std::thread::park` it never returns
/// without a token.
///
/// # Panics
/// Inside the [poll](crate::future#inside-a-poll) of a future on a fiber, if it has to wait.
///
/// # Cancellation
/// Not an interruption point: a cancelled fiber continues to wait; see [`park_interruptible`].
/// Parks a fiber, blocks a plain thread.
///
/// # Examples
/// ```
/// let fiber = pirn::spawn(|| {
///     pirn::park();
///     "resumed"
/// });
/// fiber.fiber().unpark();
/// assert_eq!(fiber.join().unwrap(), "resumed");
/// ```
#[track_caller]
pub fn park() {
    let _ = wait_for_token(Spec::of(Reason::Park).or_token());
}

/// Blocks as [`park`] does, for at most `limit`. It does not report whether the time was up. If the
/// clock cannot express `limit`, there is no limit.
///
/// # Panics
/// As [`park`].
///
/// # Cancellation
/// As [`park`].
///
/// # Examples
/// ```
/// use std::time::Duration;
///
/// let limit = Duration::from_millis(1);
/// let start = pirn::time::now();
/// pirn::spawn::park_timeout(limit);
/// assert!(pirn::time::now() - start >= limit);
/// ```
#[track_caller]
pub fn park_timeout(limit: Duration) {
    let spec = Spec::of(Reason::Park).or_token();
    let _ = wait_for_token(spec.until(deadline_in(limit)));
}

/// Blocks as [`park`] does, and can be interrupted.
///
/// # Errors
/// The interrupt of the caller; a token that is present is kept.
///
/// # Panics
/// As [`park`].
///
/// # Cancellation
/// An interruption point. Parks a fiber, blocks a plain thread.
///
/// # Examples
/// ```
/// use pirn::Interrupt;
/// use pirn::cancel::Token;
///
/// let token = Token::new();
/// token.cancel();
/// let parked = token.enter(|| pirn::spawn::park_interruptible());
/// assert_eq!(parked, Err(Interrupt::Cancelled));
/// ```
#[track_caller]
pub fn park_interruptible() -> Result<(), Interrupt> {
    let how = wait_for_token(Spec::interruptible(Reason::Park).or_token());
    how.interrupt().map_or(Ok(()), Err)
}

#[track_caller]
fn wait_for_token(spec: Spec) -> How {
    let local = current::local();
    if forbids_waiting(local) {
        return take_at_once(spec);
    }
    // A token, or an interrupt, that is there each time must not shut the others out.
    let local = consume_budget_here(Operation::Park, 0);
    park_on(local, ticket_on(local), &spec, None).how
}

/// The variant of `wait_for_token` in the middle of a poll.
#[cold]
#[track_caller]
fn take_at_once(spec: Spec) -> How {
    if spec.accepts.interrupts()
        && let Some(interrupt) = interrupted()
    {
        return How::Interrupted(interrupt);
    }
    match take_token() {
        true => How::Token,
        false => refuse(),
    }
}

/// Yields to other ready fibers of this worker. Those that have started run before this one
/// resumes. Fresh ones take turns with them, so one may start later than that. On a plain thread it
/// yields the processor, as [`std::thread::yield_now`] does.
///
/// # Panics
/// In the middle of the [poll](crate::future) of a future, on a fiber.
///
/// # Cancellation
/// Not an interruption point.
///
/// # Examples
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering};
///
/// let done = AtomicBool::new(false);
/// pirn::scope(|s| {
///     s.spawn(|| done.store(true, Ordering::Release));
///     while !done.load(Ordering::Acquire) {
///         pirn::yield_now();
///     }
/// });
/// ```
#[doc(alias = "Gosched")]
#[inline]
#[track_caller]
pub fn yield_now() {
    yield_if_allowed();
}

/// Returns an error if the caller is interrupted, and lets other fibers run occasionally; for loops
/// that compute. It counts as one of the 128 operations after which a fiber yields. A deadline that
/// has passed is an interrupt too.
///
/// # Errors
/// The interrupt of the caller.
///
/// # Cancellation
/// An interruption point. Yields occasionally, never parks.
///
/// # Examples
/// ```
/// # pirn::run(|| {
/// fn primes_below(n: u32) -> Result<Vec<u32>, pirn::Interrupt> {
///     let mut primes = Vec::new();
///     for candidate in 2..n {
///         pirn::spawn::checkpoint()?;
///         if primes.iter().all(|prime| candidate % prime != 0) {
///             primes.push(candidate);
///         }
///     }
///     Ok(primes)
/// }
/// assert_eq!(primes_below(1000)?.len(), 168);
/// # Ok::<(), pirn::Interrupt>(()) }).unwrap();
/// ```
#[doc(alias = "consume_budget")]
#[inline]
pub fn checkpoint() -> Result<(), Interrupt> {
    consume_budget(Operation::Check, 0);
    interrupted_meanwhile().map_or(Ok(()), Err)
}
