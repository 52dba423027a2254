//! The sending end of a oneshot channel.

use std::fmt;
use std::sync::Arc;

use super::receiver::Receiver;
use super::slot::Slot;
use crate::wait::object::Nameable;

/// Opens a channel for one value.
///
/// # Cancellation
/// Not an interruption point; never suspends.
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let slot = Arc::new(Slot::new());
    (
        Sender {
            slot: Arc::clone(&slot),
        },
        Receiver::new(slot),
    )
}

/// Sends one value. Dropped without, it tells the receiver.
pub struct Sender<T> {
    slot: Arc<Slot<T>>,
}

impl<T> Nameable for Sender<T> {
    fn known_at(&self) -> usize {
        (&raw const self.slot.state).addr()
    }
}

impl<T> Sender<T> {
    /// Sends `value`; never waits.
    ///
    /// # Errors
    /// The value, if the receiver has gone or has been closed.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    pub fn send(self, value: T) -> Result<(), T> {
        self.slot.put(value)
    }

    /// True if nobody will receive any more, so that there is no use in going on.
    pub fn is_closed(&self) -> bool {
        self.slot.state.lock().receiver_gone
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.slot.end_sending();
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}
