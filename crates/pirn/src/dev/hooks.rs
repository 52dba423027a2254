//! What the crate `pirn-hooks` needs so that calls of libc park the fiber that makes them.

use std::io;
use std::os::fd::RawFd;
use std::time::Instant;

pub use crate::net::Interest;

use crate::fiber::current;
use crate::readiness::{Seen, Source};
use crate::wait::{Reason, Spec};

/// Returns whether a call of libc parks its caller: a fiber, on its own stack, in code for which
/// [`set_parking`] was called, and not in the middle of a poll.
#[inline]
#[must_use]
pub fn is_parking() -> bool {
    let local = current::local();
    let Some(fiber) = local.fiber() else {
        return false;
    };
    let header = fiber.header();
    header.flags.parks_in_libc() && !local.is_polling() && is_on_own_stack(header)
}

/// A signal handler may have a stack of its own.
fn is_on_own_stack(header: &crate::fiber::Header) -> bool {
    let here = 0_u8;
    // SAFETY: H2: the caller is the fiber itself, or a signal handler in place of it.
    let stack = unsafe { &*header.stack() };
    stack
        .as_ref()
        .is_some_and(|stack| stack.range().contains(&(&raw const here).addr()))
}

/// Sets whether calls of libc park the running fiber; returns what was set before. Without effect
/// on a plain thread, which returns false.
///
/// # Panics
/// If the runtime's fibers may migrate.
pub fn set_parking(parks: bool) -> bool {
    let local = current::local();
    assert!(
        !local.is_free() || !parks,
        "`pirn_hooks::within` on a runtime with fibers that migrate: code between two calls of libc \
         may rely on its thread; build the runtime without `free_migration`"
    );
    let Some(fiber) = local.fiber() else {
        return false;
    };
    let flags = &fiber.header().flags;
    let before = flags.parks_in_libc();
    flags.set_parks_in_libc(parks);
    before
}

/// Counts an operation of the running fiber. Returns true if it has to yield now, since it has
/// completed many without waiting.
#[inline]
#[must_use]
pub fn is_spent() -> bool {
    let local = current::local();
    local.consume_budget() && local.is_to_give_way()
}

/// The waiters for one number of a descriptor, whatever it stands for.
#[derive(Debug)]
pub struct Waiters(Source);

/// The known readiness before an attempt.
#[derive(Debug, Copy, Clone)]
pub struct Known(Seen);

impl Known {
    /// Returns false if no event has come since an attempt has failed.
    #[inline]
    #[must_use]
    pub fn is_ready(self, interest: Interest) -> bool {
        self.0.is_ready(interest)
    }
}

impl Waiters {
    /// Creates the record of a number that has none.
    ///
    /// # Errors
    /// There are too many sources.
    pub fn new() -> io::Result<Waiters> {
        Source::new().map(Waiters)
    }

    /// Returns the known readiness. For [`wait`](Self::wait), before the attempt that precedes it.
    #[inline]
    #[must_use]
    pub fn look(&self) -> Known {
        Known(self.0.look())
    }

    /// Parks the caller until an attempt may succeed that has failed since `known`; may also return
    /// without that.
    ///
    /// # Errors
    /// * Kind `TimedOut`: `until`.
    /// * The caller's interrupt.
    /// * The error of the system: the descriptor cannot be watched.
    #[track_caller]
    pub fn wait(
        &self,
        descriptor: RawFd,
        known: Known,
        interest: Interest,
        until: Option<Instant>,
    ) -> io::Result<()> {
        self.0.clear(known.0, interest);
        let reason = match interest {
            Interest::Readable => Reason::Readable,
            Interest::Writable => Reason::Writable,
        };
        self.0.wait_anew(
            descriptor,
            interest,
            &Spec::interruptible(reason).until(until),
        )
    }

    /// Records that an attempt has taken all there was: the next one would fail, unless an event
    /// has come since `known`.
    pub fn set_emptied(&self, known: Known, interest: Interest) {
        self.0.drained(known.0, interest);
    }

    /// Wakes all that wait: the number is about to be closed, or to stand for another object.
    pub fn abandon(&self) {
        self.0.abandon();
    }
}
