//! A user-defined primitive as a case of a select.

use std::fmt;
use std::pin::Pin;

use super::case_output::CaseOutput;
use super::choice::{Call, Case, Needs, Outcome};
use super::waitable::Waitable;

/// A case of a select that completes a [`Waitable`]; made by [`case`].
///
/// A result that was won and not taken is kept: the case wins again with it the next time.
///
/// # Examples
/// With a waitable that completes at once:
/// ```
/// # use pirn::wait::{Ticket, Waitable};
/// # /// Completes at once.
/// # struct Ready(u32);
/// # impl Waitable for Ready {
/// #     type Output = u32;
/// #     fn try_complete(&self) -> Option<u32> {
/// #         Some(self.0)
/// #     }
/// #     fn register(&self, _: Ticket) -> bool {
/// #         false
/// #     }
/// #     fn unregister(&self, _: Ticket) {}
/// # }
/// use pirn::select::Select;
///
/// let ready = Ready(7);
/// let mut case = pirn::wait::case(&ready);
/// let mut select = Select::new();
/// select.add(&mut case);
/// assert_eq!(select.wait(), Ok(0));
/// assert_eq!(case.take(), 7);
/// ```
pub struct WaitCase<'a, W: Waitable + ?Sized> {
    waitable: &'a W,
    output: CaseOutput<W::Output>,
}

/// Returns a case for a select that wins when `waitable` completes.
///
/// Its three functions are called without any lock held. If one of them panics, the select does,
/// and all its cases are withdrawn; if `unregister` panics as well, the process ends.
///
/// # Cancellation
/// Not an interruption point; never suspends.
///
/// # Examples
/// With a waitable that completes at once:
/// ```
/// # use pirn::wait::{Ticket, Waitable};
/// # /// Completes at once.
/// # struct Ready(u32);
/// # impl Waitable for Ready {
/// #     type Output = u32;
/// #     fn try_complete(&self) -> Option<u32> {
/// #         Some(self.0)
/// #     }
/// #     fn register(&self, _: Ticket) -> bool {
/// #         false
/// #     }
/// #     fn unregister(&self, _: Ticket) {}
/// # }
/// use std::time::Duration;
///
/// let ready = Ready(7);
/// pirn::select! {
///     case(pirn::wait::case(&ready)) -> value => assert_eq!(value, 7),
///     after(Duration::from_secs(60)) => panic!("nothing for a minute"),
///     cancelled(interrupt) => panic!("{interrupt}"),
/// }
/// ```
pub fn case<W: Waitable + ?Sized>(waitable: &W) -> WaitCase<'_, W> {
    WaitCase {
        waitable,
        output: CaseOutput::new(),
    }
}

impl<W: Waitable + ?Sized> WaitCase<'_, W> {
    /// Returns the result of the waitable.
    ///
    /// # Panics
    /// If the case has not won since the last call.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// With a waitable that completes at once:
    /// ```
    /// # use pirn::wait::{Ticket, Waitable};
    /// # /// Completes at once.
    /// # struct Ready(u32);
    /// # impl Waitable for Ready {
    /// #     type Output = u32;
    /// #     fn try_complete(&self) -> Option<u32> {
    /// #         Some(self.0)
    /// #     }
    /// #     fn register(&self, _: Ticket) -> bool {
    /// #         false
    /// #     }
    /// #     fn unregister(&self, _: Ticket) {}
    /// # }
    /// use pirn::select::Select;
    ///
    /// let ready = Ready(7);
    /// let mut case = pirn::wait::case(&ready);
    /// let mut select = Select::new();
    /// select.add(&mut case);
    /// assert_eq!(select.wait(), Ok(0));
    /// assert_eq!(case.take(), 7);
    /// ```
    pub fn take(&mut self) -> W::Output {
        self.output.take()
    }
}

impl<W: Waitable + ?Sized> Case for WaitCase<'_, W> {
    fn attempt(&self) -> bool {
        self.output.win_by(|| self.waitable.try_complete())
    }

    fn needs(&self) -> Needs {
        Needs::Loan
    }

    fn publish(self: Pin<&Self>, call: Call) -> bool {
        self.waitable.register(call.ticket)
    }

    fn withdraw(self: Pin<&Self>, call: Call, _: Outcome) {
        self.waitable.unregister(call.ticket);
    }
}

impl<W: Waitable + ?Sized> fmt::Debug for WaitCase<'_, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitCase").finish_non_exhaustive()
    }
}
