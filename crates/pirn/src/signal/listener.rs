//! A listener: the sending end of a signal channel that is never full.
//!
//! The thread of a signal must not wait, and no receiver may miss a signal. So the channel always
//! has a free slot, and holds each signal at most once. A signal that comes again while it is
//! queued is merged with it, as in the system itself.

// Owns: sending a signal. Does not own: which listener is notified when (`watch`). Called on the
// threads of signals.
//
// # Invariants
// * SL1. A signal is sent by its own thread only, after a check that it is not in the channel. If
//   the check finds it there, a later receive returns it. If not, it is sent. It is there twice
//   only if a dropped future gave back the value it had been handed.
//
// Rejected: recording here what was sent, and deriving from the channel's length what is still
// queued. Values that futures give back are pushed at the front, which this code cannot see.

use super::kind::Signal;
use crate::channel::{Receiver, Sender, unbounded};
use crate::fiber::thread_registry::{self, ExternalWaker};

/// The sender of one signal channel.
pub(crate) struct Listener {
    sender: Sender<Signal>,
    _external_waker: ExternalWaker,
}

impl Listener {
    /// Returns a listener and the receiver of its channel.
    pub(super) fn new() -> (Listener, Receiver<Signal>) {
        let (sender, receiver) = unbounded();
        let listener = Listener {
            _external_waker: thread_registry::register_external_waker(sender.awaited()),
            sender,
        };
        (listener, receiver)
    }

    /// Notifies that `signal` has come; false if all receivers are gone.
    pub(super) fn notify(&self, signal: usize) -> bool {
        let signal = Signal::from_raw(signal as i32);
        if self.sender.holds(|there| *there == signal) {
            return !self.has_gone();
        }
        self.sender.try_send(signal).is_ok()
    }

    /// Returns true if all receivers are gone.
    pub(super) fn has_gone(&self) -> bool {
        self.sender.has_closed()
    }
}
