//! Waiting for objects defined elsewhere: the contract for user-made primitives.

use super::deadline::interrupted;
use super::interrupt::Interrupt;
use super::park::{call_in, lend_ticket, park};
use super::reason::Reason;
use super::spec::Spec;
use super::yielding::consume_budget;
use crate::base::choice::Operation;
use crate::base::mutant::mutant;
use crate::fiber::Ticket;

/// An object that fibers and threads can wait for, with [`on`].
///
/// The three functions are called without any lock of the runtime held, and may hold locks of their
/// own briefly, those of `std` for instance. None of them may block or wait, as the locks of
/// [`sync`](crate::sync) do.
///
/// # Examples
/// ```
/// use std::sync::Mutex;
///
/// use pirn::wait::{Ticket, Waitable};
///
/// #[derive(Default)]
/// struct Gate(Mutex<(bool, Vec<Ticket>)>);
///
/// impl Gate {
///     fn open(&self) {
///         let mut gate = self.0.lock().unwrap();
///         gate.0 = true;
///         gate.1.drain(..).for_each(|ticket| _ = ticket.wake());
///     }
/// }
///
/// impl Waitable for Gate {
///     type Output = ();
///
///     fn try_complete(&self) -> Option<()> {
///         self.0.lock().unwrap().0.then_some(())
///     }
///
///     fn register(&self, ticket: Ticket) -> bool {
///         let mut gate = self.0.lock().unwrap();
///         if !gate.0 {
///             gate.1.push(ticket);
///         }
///         !gate.0
///     }
///
///     fn unregister(&self, ticket: Ticket) {
///         self.0.lock().unwrap().1.retain(|other| *other != ticket);
///     }
/// }
///
/// // The fiber waits until the gate is open.
/// let gate = Gate::default();
/// pirn::scope(|s| {
///     s.spawn(|| assert_eq!(pirn::wait::on(&gate), Ok(())));
///     gate.open();
/// });
/// ```
pub trait Waitable {
    /// The result of a completed wait.
    type Output;

    /// Completes the wait if that is possible now, and returns its result, else `None`. Does not
    /// wait.
    ///
    /// # Examples
    /// ```
    /// use pirn::wait::{Ticket, Waitable};
    ///
    /// /// Completes at once.
    /// struct Ready(u32);
    ///
    /// impl Waitable for Ready {
    ///     type Output = u32;
    ///
    ///     fn try_complete(&self) -> Option<u32> {
    ///         Some(self.0)
    ///     }
    ///
    ///     fn register(&self, _: Ticket) -> bool {
    ///         false
    ///     }
    ///
    ///     fn unregister(&self, _: Ticket) {}
    /// }
    ///
    /// assert_eq!(Ready(7).try_complete(), Some(7));
    /// ```
    fn try_complete(&self) -> Option<Self::Output>;

    /// Registers `ticket`. The code that makes completion possible calls [`Ticket::wake`] on it.
    /// Returns false if completion is already possible: nothing is registered then, and
    /// [`try_complete`](Waitable::try_complete) is called again.
    ///
    /// After this has returned true, every event that makes completion possible wakes the ticket,
    /// until [`unregister`](Waitable::unregister). The [trait](Waitable) has an example.
    fn register(&self, ticket: Ticket) -> bool;

    /// Deregisters `ticket`. Called once after each successful `register`, also when the ticket has
    /// been used. The object may have removed it already.
    fn unregister(&self, ticket: Ticket);
}

/// Waits until `waitable` completes.
///
/// # Errors
/// The interrupt that ended the wait; nothing has been completed then.
///
/// # Panics
/// If one of the three functions does. The wait is over then, and its ticket has no effect. If
/// `try_complete` panics after a successful `register`, `unregister` is called, and if that panics
/// as well the process ends. After a panic of `register` it is not called. If only `unregister`
/// panics, the result of `try_complete` is dropped.
///
/// Inside the [poll](crate::future#inside-a-poll) of a future on a fiber, if it has to wait.
///
/// # Cancellation
/// An interruption point. Parks a fiber, blocks a plain thread.
///
/// # Examples
/// With a waitable that completes at once; [`Waitable`] has an example that waits:
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
/// assert_eq!(pirn::wait::on(&Ready(7)), Ok(7));
/// ```
#[track_caller]
pub fn on<W: Waitable + ?Sized>(waitable: &W) -> Result<W::Output, Interrupt> {
    loop {
        if let Some(interrupt) = interrupted() {
            consume_budget(Operation::Wait, (&raw const *waitable).addr());
            return Err(interrupt);
        }
        if let Some(output) = waitable.try_complete() {
            consume_budget(Operation::Wait, (&raw const *waitable).addr());
            return Ok(output);
        }
        let ticket = lend_ticket();
        let mut registered = Registered {
            waitable,
            ticket,
            remembered: false,
        };
        registered.remembered = waitable.register(ticket);
        if !registered.remembered {
            // Before the yield: the user's code may have kept the ticket.
            drop(registered);
            // A fiber of this worker may have to act first.
            consume_budget(Operation::Wait, (&raw const *waitable).addr());
            continue;
        }
        if let Some(output) = waitable.try_complete() {
            drop(registered);
            consume_budget(Operation::Wait, (&raw const *waitable).addr());
            return Ok(output);
        }
        let end = park(ticket, &Spec::interruptible(Reason::Waitable));
        drop(registered);
        if let Some(interrupt) = end.how.interrupt() {
            return Err(interrupt);
        }
    }
}

/// A registered ticket; dropping this revokes it. That also holds if the user's code unwinds, or has
/// kept a ticket although `register` returned false.
struct Registered<'a, W: Waitable + ?Sized> {
    waitable: &'a W,
    ticket: Ticket,
    remembered: bool,
}

impl<W: Waitable + ?Sized> Drop for Registered<'_, W> {
    fn drop(&mut self) {
        if mutant!("ticket_called_in_late") && std::mem::take(&mut self.remembered) {
            self.waitable.unregister(self.ticket);
        }
        // First, since `unregister` may unwind, and must accept a used ticket.
        call_in(self.ticket);
        if self.remembered {
            self.waitable.unregister(self.ticket);
        }
    }
}
