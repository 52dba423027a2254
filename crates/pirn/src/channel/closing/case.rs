//! A select case for the end of a channel, and `closed` and `closed_case` of `Sender`.

// Owns: the case, for channels of all kinds. Does not own: the protocol (`wait`).

use std::fmt;
use std::pin::Pin;

use pin_project_lite::pin_project;

use super::wait::{Closing, wait_closed};
use crate::channel::sender::Sender;
use crate::fiber::state::Code;
use crate::shim::Lock;
use crate::wait::Interrupt;
use crate::wait::choice::{Call, Case, Outcome};
use crate::wait::wait_info::Subject;
use crate::wait::waiter_slot::WaiterSlot;

/// A lock around the state of any channel.
trait Ending {
    fn is_over(&self) -> bool;

    /// Links the waiter. Returns false if the channel is over already.
    fn link(&self, call: Call, slot: Pin<&WaiterSlot<()>>) -> bool;

    /// Unlinks the waiter. Called after a `link` that returned true.
    fn unlink(&self, slot: Pin<&WaiterSlot<()>>);

    fn subject(&self) -> Subject<'_>;
}

pin_project! {
    /// A select case that wins when nothing more can be sent to a channel; made by
    /// [`Sender::closed_case`](crate::channel::Sender::closed_case), and by the senders of
    /// [`oneshot`](crate::channel::oneshot), [`watch`](crate::channel::watch) and
    /// [`broadcast`](crate::channel::broadcast) channels.
    ///
    /// # Examples
    /// ```
    /// use pirn::select::Select;
    ///
    /// let (tx, rx) = pirn::channel::bounded::<u32>(1);
    /// let mut closed = tx.closed_case();
    /// let mut select = Select::new();
    /// select.add(&mut closed);
    /// assert_eq!(select.try_wait(), None);
    /// drop(rx);
    /// assert_eq!(select.wait(), Ok(0));
    /// ```
    #[doc(alias = "SelectCase")]
    pub struct ClosedCase<'a> {
        channel: &'a dyn Ending,
        #[pin]
        slot: WaiterSlot<()>,
    }
}

impl<'a> ClosedCase<'a> {
    pub(in crate::channel) fn new<S: Closing>(channel: &'a Lock<S>) -> Self {
        ClosedCase {
            channel,
            slot: WaiterSlot::new(),
        }
    }

    /// Does nothing: the end of a channel has no value to take.
    pub fn take(&mut self) {}
}

impl<T> Sender<T> {
    /// Waits until nothing can be sent any more: the channel is closed, or the last receiver has
    /// been dropped. Work for the receivers can then stop.
    ///
    /// # Errors
    /// The interrupt of the caller, even if the channel is closed.
    ///
    /// # Panics
    /// Inside the [poll](crate::future#inside-a-poll) of a future on a fiber, if it has to wait.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// let (tx, rx) = pirn::channel::bounded(1);
    /// let reader = pirn::spawn(move || rx.recv());
    /// tx.send(7).unwrap();
    /// assert_eq!(tx.closed(), Ok(())); // the reader has ended, and dropped `rx`
    /// assert!(tx.is_closed());
    /// assert_eq!(reader.join().unwrap(), Ok(7));
    /// ```
    #[track_caller]
    pub fn closed(&self) -> Result<(), Interrupt> {
        wait_closed(&self.shared().state)
    }

    /// Returns a select case that wins when nothing more can be sent: when
    /// [`closed`](Sender::closed) would return `Ok`.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::bounded;
    ///
    /// let (results, receiver) = bounded::<u32>(1);
    /// let (_tx, jobs) = bounded::<u32>(1);
    /// drop(receiver);
    /// pirn::select! {
    ///     recv(jobs) -> job => panic!("{job:?}"),
    ///     case(results.closed_case()) -> () => {} // nothing more can be sent to `results`
    ///     cancelled(interrupt) => panic!("{interrupt}"),
    /// }
    /// ```
    pub fn closed_case(&self) -> ClosedCase<'_> {
        ClosedCase::new(&self.shared().state)
    }
}

impl Case for ClosedCase<'_> {
    fn attempt(&self) -> bool {
        self.channel.is_over()
    }

    fn subject(&self) -> Option<Subject<'_>> {
        Some(self.channel.subject())
    }

    fn publish(self: Pin<&Self>, call: Call) -> bool {
        self.channel.link(call, self.project_ref().slot)
    }

    fn withdraw(self: Pin<&Self>, _: Call, _: Outcome) {
        self.channel.unlink(self.project_ref().slot);
    }
}

impl<S: Closing> Ending for Lock<S> {
    fn is_over(&self) -> bool {
        self.lock().is_over()
    }

    fn link(&self, call: Call, slot: Pin<&WaiterSlot<()>>) -> bool {
        let mut state = self.lock();
        let open = !state.is_over();
        if open {
            // The channel may continue before the party runs, so a woken case checks again.
            slot.link(state.closing(), call.ticket, Code::RETRY, ());
        }
        open
    }

    fn unlink(&self, slot: Pin<&WaiterSlot<()>>) {
        slot.unlink(self.lock().closing());
    }

    fn subject(&self) -> Subject<'_> {
        Subject::of(self)
    }
}

impl fmt::Debug for ClosedCase<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClosedCase").finish_non_exhaustive()
    }
}
