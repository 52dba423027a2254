//! The calls by which a fiber acts on itself.

use std::time::Duration;

use crate::fiber::FiberRef;
use crate::fiber::current;
use crate::join::Fiber;
use crate::wait::park::{park_on, take_token, ticket_on, yield_if_allowed};
use crate::wait::polling::{forbids_waiting, refuse};
use crate::wait::{How, Interrupt, Reason, Spec, deadline_in, interrupted, spend};

/// The fiber that calls; on a plain thread, a handle that stands for the thread, so that
/// threads can be [unparked](Fiber::unpark) as fibers are.
///
/// # Cancellation
/// Not an interruption point; never suspends.
#[must_use]
pub fn current() -> Fiber {
    Fiber::from_ref(FiberRef::of(current::identity(current::local())))
}

/// Waits for the token of [`Fiber::unpark`] and consumes it.
///
/// Returns at once if the token is there already. Unlike `std::thread::park` it does not
/// return without a token.
///
/// # Cancellation
/// Not an interruption point: a cancelled fiber waits on, see [`park_interruptible`]. Parks
/// a fiber, blocks a plain thread.
#[track_caller]
pub fn park() {
    let _ = wait_for_token(Spec::of(Reason::Park).or_token());
}

/// As [`park`], but for at most `limit`; it does not say which of the two ended it. A limit
/// that the clock cannot express is none.
///
/// # Cancellation
/// As [`park`].
#[track_caller]
pub fn park_timeout(limit: Duration) {
    let spec = Spec::of(Reason::Park).or_token();
    let _ = wait_for_token(spec.until(deadline_in(limit)));
}

/// As [`park`], but can be interrupted.
///
/// # Errors
/// The interrupt that the caller is under; a token that is there is kept.
///
/// # Cancellation
/// An interruption point. Parks a fiber, blocks a plain thread.
#[track_caller]
pub fn park_interruptible() -> Result<(), Interrupt> {
    let how = wait_for_token(Spec::interruptible(Reason::Park).or_token());
    match how.interrupt() {
        None => Ok(()),
        Some(interrupt) => {
            spend();
            Err(interrupt)
        }
    }
}

#[track_caller]
fn wait_for_token(spec: Spec) -> How {
    let local = current::local();
    if forbids_waiting(local) {
        return take_at_once(spec);
    }
    park_on(local, ticket_on(local), &spec, None).how
}

/// What `wait_for_token` comes to in the middle of a poll.
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

/// Lets everything else that is ready on this worker run first. On a plain thread it gives
/// the core away, as `std::thread::yield_now` does.
///
/// # Panics
/// In the middle of the [poll](crate::future) of a future, on a fiber.
///
/// # Cancellation
/// Not an interruption point.
#[inline]
#[track_caller]
pub fn yield_now() {
    yield_if_allowed();
}

/// For loops that compute: counts as one operation of the 128 after which a fiber yields, and
/// reports an interrupt, a deadline that has passed included.
///
/// # Errors
/// The interrupt that the caller is under.
///
/// # Cancellation
/// An interruption point. Yields now and then, never parks.
///
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
#[inline]
pub fn checkpoint() -> Result<(), Interrupt> {
    spend();
    interrupted().map_or(Ok(()), Err)
}
