//! The interface of a case, as the engine of a choice sees it.

use std::pin::Pin;
use std::time::Instant;

use crate::fiber::Ticket;
use crate::fiber::state::Code;
use crate::wait::wait_info::Subject;
use crate::wait::waiter_slot::Handed;

/// An event that can complete a choice.
#[expect(unnameable_types, reason = "cases are made here only")]
pub trait Case {
    /// Completes the case if that is possible without waiting; true if it is complete, also from an
    /// earlier call. No ticket of the caller is published.
    fn attempt(&self) -> bool;

    /// As `attempt`, of a case that needs [`Needs::Events`], but asks the system in any case.
    fn attempt_anew(&self) -> bool {
        self.attempt()
    }

    /// Returns the time at which the case becomes possible by itself, if any.
    fn due(&self) -> Option<Instant> {
        None
    }

    /// Returns the object of the wait, for reports.
    #[doc(hidden)]
    fn subject(&self) -> Option<Subject<'_>> {
        None
    }

    /// Returns the special requirements of the wait.
    fn needs(&self) -> Needs {
        Needs::Nothing
    }

    /// Registers `call` with the object that makes the case possible. False if it is already
    /// possible: nothing is registered then.
    ///
    /// Until the case has been withdrawn, only `due`, `needs` and `subject` are called, and it is
    /// neither moved nor dropped. That is all that it may conclude from being pinned.
    fn publish(self: Pin<&Self>, call: Call) -> bool;

    /// Deregisters the published call. Called once after a `publish` that returned true.
    fn withdraw(self: Pin<&Self>, call: Call, outcome: Outcome);
}

/// The right to be woken for one case.
#[expect(unnameable_types, reason = "cases are made here only")]
#[derive(Debug, Copy, Clone)]
pub struct Call {
    pub(crate) ticket: Ticket,
    pub(crate) code: Code,
}

/// A requirement of a case besides a waker.
#[expect(unnameable_types, reason = "cases are made here only")]
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum Needs {
    /// Nothing.
    Nothing,
    /// The token of `unpark` ends the wait and completes the case.
    Token,
    /// The ticket is given to user code.
    Loan,
    /// `attempt` relies on events, which only a wait receives.
    Events,
}

/// How the wait has ended, for one case.
#[expect(unnameable_types, reason = "cases are made here only")]
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Another case or event ended it.
    Lost,
    /// This case ended it. The waker may still be at work under the lock.
    Won,
    /// This case ended it, and the waker has finished.
    Handed(Handed),
}
