//! The calls by which a fiber acts on itself.

use std::time::Duration;

use crate::fiber::FiberRef;
use crate::fiber::current;
use crate::join::{Fiber, deadline_in};
use crate::wait::park::{park as park_with, ticket};
use crate::wait::{How, Interrupt, Reason, Spec};

/// The fiber that calls; on a plain thread, a handle that stands for the thread.
#[must_use]
pub fn current() -> Fiber {
    Fiber::from_ref(FiberRef::of(current::identity(current::local())))
}

/// Waits for the token of [`Fiber::unpark`] and consumes it.
///
/// Returns at once if the token is there already. Unlike `std::thread::park` it does not
/// return without a token.
#[track_caller]
pub fn park() {
    let _ = wait_for_token(Spec {
        token: true,
        ..Spec::of(Reason::Park)
    });
}

/// As [`park`], but for at most `limit`.
#[track_caller]
pub fn park_timeout(limit: Duration) {
    let spec = Spec {
        token: true,
        ..Spec::of(Reason::Park)
    };
    let _ = wait_for_token(spec.until(deadline_in(limit)));
}

/// As [`park`], but can be interrupted.
///
/// # Errors
/// The interrupt that the caller is under; a token that is there is kept.
///
/// # Cancellation
/// An interruption point.
#[track_caller]
pub fn park_interruptible() -> Result<(), Interrupt> {
    match wait_for_token(Spec {
        token: true,
        ..Spec::interruptible(Reason::Park)
    }) {
        How::Cancelled => Err(Interrupt::Cancelled),
        _ => Ok(()),
    }
}

fn wait_for_token(spec: Spec) -> How {
    park_with(ticket(), &spec).how
}

/// Lets everything else that is ready run first. Never an interruption point.
#[inline]
pub fn yield_now() {
    crate::wait::yield_now();
}
