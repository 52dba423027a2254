//! One who listens: the sending end of a channel of signals that is never full.
//!
//! The thread of a signal must not wait for anybody, and yet nobody may miss that a signal has
//! come. So there is always room, and each signal is in the channel once at most: one that comes again
//! while it is there is the same one, as with the system itself.
//!
//! Owns: what is sent. Does not own: who is told when (`watch`). Called on the threads of signals.
//!
//! # Invariants
//! * SL1. A signal is sent by its own thread only, after a look that has not found it in the channel. If it
//!   has been found there, somebody receives it after it has come. If not, it is sent. It may be there
//!   twice only by a future that was dropped and gave back what it had been handed.
//!
//! Rejected: to remember here what was sent, and to tell from the channel's length what is still in. What
//! futures give back comes in at the front, where nobody here sees it.

use super::kind::Signal;
use crate::channel::{Receiver, Sender, unbounded};
use crate::fiber::vigil::{self, Hope};

/// Somebody who listens.
pub(crate) struct Listener {
    sender: Sender<Signal>,
    _hope: Hope,
}

impl Listener {
    /// A listener, and what it listens to.
    pub(super) fn new() -> (Listener, Receiver<Signal>) {
        let (sender, receiver) = unbounded();
        let listener = Listener {
            _hope: vigil::hope_for(sender.awaited()),
            sender,
        };
        (listener, receiver)
    }

    /// Tells that `signal` has come; false if nobody will ever know.
    pub(super) fn tell(&self, signal: usize) -> bool {
        let signal = Signal::from_raw(signal as i32);
        if self.sender.holds(|there| *there == signal) {
            return !self.has_gone();
        }
        self.sender.try_send(signal).is_ok()
    }

    /// Whether all receivers have gone.
    pub(super) fn has_gone(&self) -> bool {
        self.sender.is_closed()
    }
}
