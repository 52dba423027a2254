//! What a case of a choice is, seen from the engine.

use std::time::Instant;

use crate::fiber::Ticket;
use crate::fiber::state::Code;
use crate::wait::notice::Subject;

/// Something that a choice can be completed by.
#[expect(unnameable_types, reason = "cases are made here only")]
pub trait Case {
    /// Completes the case if that is possible without waiting; true if it is complete, also
    /// from before. No ticket of the caller's is out.
    fn attempt(&self) -> bool;

    /// When the case becomes possible by itself, if ever.
    fn due(&self) -> Option<Instant> {
        None
    }

    /// What is waited for, for reports.
    #[doc(hidden)]
    fn subject(&self) -> Option<Subject<'_>> {
        None
    }

    /// What else the wait has to allow for.
    fn needs(&self) -> Needs {
        Needs::Nothing
    }

    /// Remembers `call` for whoever makes the case possible. False if it is possible by now:
    /// nothing is remembered then.
    ///
    /// # Safety
    /// The case stays alive and where it is until it has been withdrawn. Meanwhile no method
    /// is called but `due`, `needs` and `subject`.
    unsafe fn publish(&self, call: Call) -> bool;

    /// Forgets what was published.
    ///
    /// # Safety
    /// Once after a `publish` that returned true. `outcome` is true.
    unsafe fn withdraw(&self, call: Call, outcome: Outcome);
}

/// The right to be woken for one case.
#[expect(unnameable_types, reason = "cases are made here only")]
#[derive(Debug, Copy, Clone)]
pub struct Call {
    pub(crate) ticket: Ticket,
    pub(crate) code: Code,
}

/// What a case needs beyond a waker.
#[expect(unnameable_types, reason = "cases are made here only")]
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum Needs {
    /// Nothing.
    Nothing,
    /// The token of `unpark` ends the wait and completes the case.
    Token,
    /// The ticket is given to code of the user's.
    Loan,
}

/// How the wait has ended, for one case.
#[expect(unnameable_types, reason = "cases are made here only")]
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Not by this case.
    Lost,
    /// By this case. The waker may still be at work under the lock.
    Won,
    /// By this case, and the waker has finished.
    Handed,
}
