//! One who listens: the sending end of a channel of signals that is never full.
//!
//! The thread of a signal must not wait for anybody, and yet nobody may miss that a signal has
//! come. So each signal is in the channel once at most: one that comes again while it is there
//! is the same one, as with the system itself. There is a place for each, so there is always
//! room.
//!
//! Owns: what is in the channel, as far as the sending side can know. Does not own: who is told
//! when (`watch`). Called on the threads of signals.
//!
//! # Invariants
//! * SL1. `sent` ends with what is in the channel, in that order: values go in here only, under
//!   the lock, and are taken out at the front. So the last `len` of `sent` are what is still
//!   in, or was when `len` was read: if the signal is among them, somebody receives it after it
//!   has come.

use std::collections::VecDeque;

use super::kind::Signal;
use crate::channel::{Receiver, Sender, TrySendError, bounded};
use crate::fiber::vigil::{self, Hope};
use crate::shim::Mutex;

/// Somebody who listens.
pub(crate) struct Listener {
    sender: Sender<Signal>,
    /// What has been sent, without some of what has been received (SL1).
    sent: Mutex<VecDeque<Signal>>,
    _hope: Hope,
}

impl Listener {
    /// A listener for `most` signals, and what it listens to.
    pub(super) fn new(most: usize) -> (Listener, Receiver<Signal>) {
        let (sender, receiver) = bounded(most);
        let listener = Listener {
            _hope: vigil::hope_for(sender.awaited()),
            sender,
            sent: Mutex::new(VecDeque::new()),
        };
        (listener, receiver)
    }

    /// Tells that `signal` has come; false if nobody will ever know.
    pub(super) fn tell(&self, signal: usize) -> bool {
        let signal = Signal::from_raw(signal as i32);
        let mut sent = self.sent.lock();
        let received = sent.len().saturating_sub(self.sender.len());
        sent.drain(..received);
        if sent.contains(&signal) {
            return !self.has_gone();
        }
        match self.sender.try_send(signal) {
            Ok(()) => sent.push_back(signal),
            // A place for each signal: so it is there, given back by a future that was dropped.
            Err(TrySendError::Full(_)) => {}
            Err(TrySendError::Disconnected(_)) => return false,
        }
        true
    }

    /// Whether all receivers have gone.
    pub(super) fn has_gone(&self) -> bool {
        self.sender.is_closed()
    }
}
