//! Receiving the one value as a case of a select.

use std::fmt;

use super::slot::{Found, Slot};
use crate::channel::error::RecvError;
use crate::wait::Interrupt;
use crate::wait::berth::Berth;
use crate::wait::choice::{Call, Case, Outcome};
use crate::wait::prize::Prize;

/// Receives from a oneshot channel as a case of a select; made by
/// [`recv_case`](super::Receiver::recv_case).
///
/// What has been won and not taken is dropped with the case.
pub struct RecvCase<'a, T> {
    slot: &'a Slot<T>,
    berth: Berth<Option<T>>,
    prize: Prize<Result<T, RecvError>>,
}

impl<'a, T> RecvCase<'a, T> {
    pub(super) fn new(slot: &'a Slot<T>) -> Self {
        RecvCase {
            slot,
            berth: Berth::new(),
            prize: Prize::new(),
        }
    }

    /// Returns what the case has won: the value, or `Disconnected`.
    ///
    /// # Errors
    /// `Disconnected` if the sender has gone without sending.
    ///
    /// # Panics
    /// If the case has not won since it was last asked.
    pub fn take(&mut self) -> Result<T, RecvError> {
        self.collect()
    }

    /// As [`take`](RecvCase::take), of a case that is shared.
    pub(super) fn collect(&self) -> Result<T, RecvError> {
        self.prize.take()
    }

    /// The value that has been won and not been taken, if there is one.
    pub(super) fn give_up(&self) -> Option<T> {
        self.prize.claim()?.ok()
    }

    /// Has the case come to nothing because of an interrupt.
    #[doc(hidden)]
    pub fn interrupt(&mut self, interrupt: Interrupt) {
        self.prize.win(Err(RecvError::Interrupted(interrupt)));
    }
}

impl<T> Case for RecvCase<'_, T> {
    fn attempt(&self) -> bool {
        self.prize.win_by(|| match self.slot.state.lock().take() {
            Found::Value(value) => Some(Ok(value)),
            Found::Ended => Some(Err(RecvError::Disconnected)),
            Found::Empty => None,
        })
    }

    unsafe fn publish(&self, call: Call) -> bool {
        let mut state = self.slot.state.lock();
        let ready = state.value.is_some() || state.sender_gone || state.receiver_gone;
        if !ready {
            let queue = &mut state.waiting;
            // SAFETY: the lock is held; the caller keeps the case until it is withdrawn.
            unsafe { self.berth.join(queue, call.ticket, call.code, None) };
        }
        !ready
    }

    unsafe fn withdraw(&self, _: Call, outcome: Outcome) {
        let value = if outcome == Outcome::Handed {
            // SAFETY: claimed after it had parked, and resumed.
            unsafe { self.berth.disembark() }
        } else {
            let mut state = self.slot.state.lock();
            // SAFETY: the lock of the queue that was joined is held.
            unsafe { self.berth.leave(&mut state.waiting) }
        };
        match value {
            // OS1: whoever put it here has claimed the wait, however it looks from here.
            Some(value) => self.prize.win(Ok(value)),
            None if outcome == Outcome::Lost => {}
            None => self.prize.win(Err(RecvError::Disconnected)),
        }
    }
}

impl<T> fmt::Debug for RecvCase<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecvCase").finish_non_exhaustive()
    }
}
