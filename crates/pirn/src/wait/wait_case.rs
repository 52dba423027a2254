//! A user-defined primitive as a case of a select.

use std::fmt;

use super::choice::{Call, Case, Needs, Outcome};
use super::prize::Prize;
use super::waitable::Waitable;

/// Completes a [`Waitable`] as a case of a select; made by [`case`].
///
/// A result that was won and not taken is kept: the case wins again with it the next time.
pub struct WaitCase<'a, W: Waitable + ?Sized> {
    waitable: &'a W,
    prize: Prize<W::Output>,
}

/// Returns a case for a select that wins when `waitable` completes.
///
/// Its three functions are called without any lock held. If one of them panics, the select does,
/// and all its cases are withdrawn; if `unpublish` panics as well, the process ends.
pub fn case<W: Waitable + ?Sized>(waitable: &W) -> WaitCase<'_, W> {
    WaitCase {
        waitable,
        prize: Prize::new(),
    }
}

impl<W: Waitable + ?Sized> WaitCase<'_, W> {
    /// Returns the waitable's result.
    ///
    /// # Panics
    /// If the case has not won since the last call.
    pub fn take(&mut self) -> W::Output {
        self.prize.take()
    }
}

impl<W: Waitable + ?Sized> Case for WaitCase<'_, W> {
    fn attempt(&self) -> bool {
        self.prize.win_by(|| self.waitable.try_complete())
    }

    fn needs(&self) -> Needs {
        Needs::Loan
    }

    unsafe fn publish(&self, call: Call) -> bool {
        self.waitable.publish(call.ticket)
    }

    unsafe fn withdraw(&self, call: Call, _: Outcome) {
        self.waitable.unpublish(call.ticket);
    }
}

impl<W: Waitable + ?Sized> fmt::Debug for WaitCase<'_, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitCase").finish_non_exhaustive()
    }
}
