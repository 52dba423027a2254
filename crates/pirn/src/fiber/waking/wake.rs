//! Wakes: ending a wait by its ticket, and making the claimed fiber run again.

use std::ptr;

use super::ticket::{Ticket, Wake};
use crate::context;
use crate::fiber::state::Code;
use crate::fiber::state_names::State;

impl Ticket {
    /// Ends the wait of this ticket and makes its fiber ready.
    ///
    /// Returns false, and does nothing, if that wait has already ended, for any reason. Works from
    /// any thread, never blocks.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use std::sync::Mutex;
    ///
    /// use pirn::wait::{Ticket, Waitable, on};
    ///
    /// /// Completes with the ticket of its waiter.
    /// struct Kept(Mutex<Option<Ticket>>);
    ///
    /// impl Waitable for Kept {
    ///     type Output = Ticket;
    ///
    ///     fn try_complete(&self) -> Option<Ticket> {
    ///         *self.0.lock().unwrap()
    ///     }
    ///
    ///     fn register(&self, ticket: Ticket) -> bool {
    ///         *self.0.lock().unwrap() = Some(ticket);
    ///         false
    ///     }
    ///
    ///     fn unregister(&self, _: Ticket) {}
    /// }
    ///
    /// let ticket = on(&Kept(Mutex::new(None))).unwrap();
    /// assert!(!ticket.wake(), "the wait is over");
    /// ```
    pub fn wake(self) -> bool {
        self.wake_with(Code::RETRY)
    }

    /// As [`wake`](Ticket::wake), with a code that the waiting fiber reads.
    #[inline]
    pub(crate) fn wake_with(self, code: Code) -> bool {
        match self.claim(code) {
            Some(wake) => {
                wake.enqueue();
                true
            }
            None => false,
        }
    }
}

impl Wake {
    /// Hands the fiber to its scheduler, or wakes the plain thread that waits.
    #[inline]
    pub(crate) fn enqueue(self) {
        if let Some(fiber) = self.into_fiber() {
            // H3: the claim ordered `home` before this read.
            let header = fiber.header();
            header.life.step(State::Runnable);
            context::hand_on(ptr::from_ref(header).cast());
            header.home().schedule(fiber);
        }
    }
}
