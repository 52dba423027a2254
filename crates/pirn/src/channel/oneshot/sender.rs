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

/// Sends one value. If it is dropped without sending, the receiver returns `Disconnected`.
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
    /// The value, if the receiver was dropped or closed.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    pub fn send(self, value: T) -> Result<(), T> {
        self.slot.put(value)
    }

    /// Returns true if no receiver will take a value, so that the work for it can stop.
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
