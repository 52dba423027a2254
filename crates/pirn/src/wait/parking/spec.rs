//! The description of a wait, and its end.

use std::panic::Location;
use std::time::Instant;

use crate::fiber::state::{Accepts, Code};
use crate::wait::interrupt::Interrupt;
use crate::wait::reason::Reason;

/// The reason of a wait, and what may end it besides a wake.
#[derive(Debug, Copy, Clone)]
pub(crate) struct Spec {
    pub(crate) reason: Reason,
    pub(crate) deadline: Option<Instant>,
    /// If this includes interrupts, a deadline of the code around the wait ends it too.
    pub(crate) accepts: Accepts,
    /// The place that reports name; none: that of the wait itself.
    pub(crate) at: Option<&'static Location<'static>>,
}

impl Spec {
    /// Returns a wait that only a waker ends.
    pub(crate) const fn of(reason: Reason) -> Spec {
        Spec {
            reason,
            deadline: None,
            accepts: Accepts::NOTHING,
            at: None,
        }
    }

    /// Returns a wait that an interrupt ends too.
    pub(crate) const fn interruptible(reason: Reason) -> Spec {
        Spec {
            accepts: Accepts::INTERRUPTS,
            ..Spec::of(reason)
        }
    }

    pub(crate) const fn until(self, deadline: Option<Instant>) -> Spec {
        Spec { deadline, ..self }
    }

    /// Sets the place, for a wait in a closure, which does not know its caller.
    pub(crate) const fn at(self, at: &'static Location<'static>) -> Spec {
        Spec {
            at: Some(at),
            ..self
        }
    }

    /// Returns the place that reports name.
    #[track_caller]
    #[inline(always)]
    pub(super) fn place(&self) -> &'static Location<'static> {
        match self.at {
            Some(at) => at,
            None => Location::caller(),
        }
    }

    /// Adds that the token of `unpark` ends the wait too.
    pub(crate) const fn or_token(self) -> Spec {
        let accepts = self.accepts.or(Accepts::TOKEN);
        Spec { accepts, ..self }
    }
}

/// The end of a wait.
#[must_use]
#[derive(Debug, Copy, Clone)]
pub(crate) struct End {
    pub(crate) how: How,
    /// Set if the claim came before the fiber had parked, or while a visitor held it, so its waker
    /// may still be at work.
    pub(crate) early: bool,
}

/// The end of a wait.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub(crate) enum How {
    /// A waker, with the code of its case.
    Woken(Code),
    /// The wait's own deadline.
    TimedOut,
    /// Cancellation, or a deadline of the code around the wait.
    Interrupted(Interrupt),
    /// The token of `unpark`, which is consumed.
    Token,
}

impl How {
    /// Returns the interrupt that has ended the wait, if one has.
    #[inline]
    pub(crate) fn interrupt(self) -> Option<Interrupt> {
        match self {
            How::Interrupted(interrupt) => Some(interrupt),
            How::Woken(_) | How::TimedOut | How::Token => None,
        }
    }
}

impl End {
    #[inline]
    pub(super) fn new(code: Code, early: bool) -> End {
        let how = match code {
            Code::TIMED_OUT => How::TimedOut,
            Code::CANCELLED => How::Interrupted(Interrupt::Cancelled),
            Code::TOKEN => How::Token,
            code => How::Woken(code),
        };
        End { how, early }
    }
}
