//! Readiness of a channel as a case of a select.

use std::fmt;
use std::pin::Pin;
use std::time::Instant;

use pin_project_lite::pin_project;

use super::watch::Watched;
use crate::channel::state::{Side, Watcher};
use crate::wait::choice::{Call, Case, Outcome};
use crate::wait::waiter_slot::WaiterSlot;

pin_project! {
    /// A select case that wins when an operation on a channel would not wait, and performs no
    /// operation; made by [`Sender::ready_case`](crate::channel::Sender::ready_case) and
    /// [`Receiver::ready_case`](crate::channel::Receiver::ready_case).
    ///
    /// A closed channel is ready. Another party may take the value or the room before the caller
    /// does.
    ///
    /// # Examples
    /// ```
    /// use pirn::select::Select;
    ///
    /// let (tx, rx) = pirn::channel::bounded(1);
    /// tx.send(7).unwrap();
    /// let mut to_send = tx.ready_case();
    /// let mut to_receive = rx.ready_case();
    /// let mut select = Select::new();
    /// select.add(&mut to_send);
    /// let readable = select.add(&mut to_receive);
    /// // The channel is full: only a receive would not wait.
    /// assert_eq!(select.wait(), Ok(readable));
    /// assert_eq!(rx.len(), 1);
    /// ```
    #[doc(alias = "SelectCase")]
    pub struct ReadyCase<'a> {
        watched: &'a dyn Watched,
        side: Side,
        #[pin]
        slot: WaiterSlot<Watcher>,
    }
}

impl<'a> ReadyCase<'a> {
    pub(in crate::channel) fn new(watched: &'a dyn Watched, side: Side) -> Self {
        ReadyCase {
            watched,
            side,
            slot: WaiterSlot::new(),
        }
    }

    /// Does nothing: readiness has no value to take.
    pub fn take(&mut self) {}
}

impl Case for ReadyCase<'_> {
    fn attempt(&self) -> bool {
        self.watched.is_ready(self.side)
    }

    fn due(&self) -> Option<Instant> {
        self.watched.due(self.side)
    }

    fn publish(self: Pin<&Self>, call: Call) -> bool {
        self.watched.watch(self.side, call, self.project_ref().slot)
    }

    fn withdraw(self: Pin<&Self>, _: Call, _: Outcome) {
        self.watched.unwatch(self.side, self.project_ref().slot);
    }
}

impl fmt::Debug for ReadyCase<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadyCase").finish_non_exhaustive()
    }
}
