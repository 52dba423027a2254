//! The cancellation of a token as a case of a select.

use std::fmt;
use std::pin::Pin;

use pin_project_lite::pin_project;

use super::token::Token;
use crate::wait::choice::{Call, Case, Outcome};
use crate::wait::waiter_slot::WaiterSlot;

pin_project! {
    /// A select case that wins when a token has been cancelled; made by [`Token::case`].
    ///
    /// # Examples
    /// ```
    /// use pirn::cancel::Token;
    /// use pirn::select::Select;
    ///
    /// let token = Token::new();
    /// let mut case = token.case();
    /// let mut select = Select::new();
    /// select.add(&mut case);
    /// assert_eq!(select.try_wait(), None);
    /// token.cancel();
    /// assert_eq!(select.wait(), Ok(0));
    /// ```
    pub struct CancelCase<'a> {
        token: &'a Token,
        #[pin]
        slot: WaiterSlot<()>,
    }
}

impl Token {
    /// Returns a select case that wins when this token is cancelled.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::cancel::Token;
    /// use std::time::Duration;
    ///
    /// let token = Token::new();
    /// let other = token.clone();
    /// pirn::spawn(move || other.cancel());
    /// let stopped = pirn::select! {
    ///     case(token.case()) -> () => true,
    ///     after(Duration::from_secs(60)) => false,
    ///     cancelled(_) => false,
    /// };
    /// assert!(stopped);
    /// ```
    #[doc(alias = "Done")]
    #[doc(alias = "cancelled")]
    pub fn case(&self) -> CancelCase<'_> {
        CancelCase {
            token: self,
            slot: WaiterSlot::new(),
        }
    }
}

impl CancelCase<'_> {
    /// Does nothing: a cancellation has no value to take.
    pub fn take(&mut self) {}
}

impl Case for CancelCase<'_> {
    fn attempt(&self) -> bool {
        self.token.node().is_cancelled()
    }

    fn publish(self: Pin<&Self>, call: Call) -> bool {
        let mut tables = self.token.node().tables().lock();
        let live = !self.token.node().is_cancelled();
        if live {
            self.project_ref()
                .slot
                .link(tables.waiters(), call.ticket, call.code, ());
        }
        live
    }

    fn withdraw(self: Pin<&Self>, _: Call, _: Outcome) {
        let mut tables = self.token.node().tables().lock();
        self.project_ref().slot.unlink(tables.waiters());
    }
}

impl fmt::Debug for CancelCase<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancelCase").finish_non_exhaustive()
    }
}
