//! The cancellation of a token as a case of a select.

use std::fmt;

use super::token::Token;
use crate::wait::choice::{Call, Case, Outcome};
use crate::wait::waiter_slot::WaiterSlot;

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
    slot: WaiterSlot<()>,
}

impl<'a> CancelCase<'a> {
    pub(super) fn new(token: &'a Token) -> Self {
        CancelCase {
            token,
            slot: WaiterSlot::new(),
        }
    }

    /// Does nothing: a cancellation has no value to take.
    pub fn take(&mut self) {}
}

impl Case for CancelCase<'_> {
    fn attempt(&self) -> bool {
        self.token.is_cancelled()
    }

    unsafe fn publish(&self, call: Call) -> bool {
        let mut tables = self.token.node().tables().lock();
        let live = !self.token.is_cancelled();
        if live {
            // SAFETY: the lock is held; the caller keeps the case until it is withdrawn.
            unsafe {
                self.slot.link(tables.waiters(), call.ticket, call.code, ());
            }
        }
        live
    }

    unsafe fn withdraw(&self, _: Call, _: Outcome) {
        let mut tables = self.token.node().tables().lock();
        // SAFETY: the lock of the queue that was joined is held.
        unsafe { self.slot.unlink(tables.waiters()) };
    }
}

impl fmt::Debug for CancelCase<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancelCase").finish_non_exhaustive()
    }
}
