//! Receiving the one value as a case of a select.

use std::fmt;
use std::pin::Pin;

use pin_project_lite::pin_project;

use super::slot::{Found, Slot};
use crate::channel::error::RecvError;
use crate::wait::Interrupt;
use crate::wait::case_output::CaseOutput;
use crate::wait::choice::{Call, Case, Outcome};
use crate::wait::waiter_slot::WaiterSlot;

pin_project! {
    /// A select case that receives from a oneshot channel; made by
    /// [`recv_case`](super::Receiver::recv_case).
    ///
    /// A value that was won and not taken is dropped with the case.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::oneshot;
    /// use pirn::select::Select;
    ///
    /// let (tx, rx) = oneshot::channel();
    /// tx.send(7).unwrap();
    /// let mut case = rx.recv_case();
    /// let mut select = Select::new();
    /// select.add(&mut case);
    /// assert_eq!(select.wait(), Ok(0));
    /// assert_eq!(case.take(), Ok(7));
    /// ```
    pub struct RecvCase<'a, T> {
        slot: &'a Slot<T>,
        #[pin]
        waiter: WaiterSlot<Option<T>>,
        output: CaseOutput<Result<T, RecvError>>,
    }
}

impl<'a, T> RecvCase<'a, T> {
    pub(super) fn new(slot: &'a Slot<T>) -> Self {
        RecvCase {
            slot,
            waiter: WaiterSlot::new(),
            output: CaseOutput::new(),
        }
    }

    /// Returns the result with which the case has won: the value, or `Disconnected`.
    ///
    /// # Errors
    /// `Disconnected` if the sender was dropped without sending.
    ///
    /// # Panics
    /// If the case has not won since the last call.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::{RecvError, oneshot};
    /// use pirn::select::Select;
    ///
    /// let (tx, rx) = oneshot::channel::<u32>();
    /// drop(tx);
    /// let mut case = rx.recv_case();
    /// let mut select = Select::new();
    /// select.add(&mut case);
    /// assert_eq!(select.wait(), Ok(0));
    /// assert_eq!(case.take(), Err(RecvError::Disconnected));
    /// ```
    pub fn take(&mut self) -> Result<T, RecvError> {
        self.collect()
    }

    /// As [`take`](RecvCase::take), through a shared reference.
    pub(super) fn collect(&self) -> Result<T, RecvError> {
        self.output.take()
    }

    /// Takes the value that was won and not collected, if there is one.
    pub(super) fn give_up(&self) -> Option<T> {
        self.output.claim()?.ok()
    }

    /// Withdraws the case because of an interrupt.
    #[doc(hidden)]
    pub fn interrupt(&mut self, interrupt: Interrupt) {
        self.output.win(Err(RecvError::Interrupted(interrupt)));
    }
}

impl<T> Case for RecvCase<'_, T> {
    fn attempt(&self) -> bool {
        self.output.win_by(|| match self.slot.state.lock().take() {
            Found::Value(value) => Some(Ok(value)),
            Found::Ended => Some(Err(RecvError::Disconnected)),
            Found::Empty => None,
        })
    }

    fn publish(self: Pin<&Self>, call: Call) -> bool {
        let mut state = self.slot.state.lock();
        let ready = state.value.is_some() || state.sender_gone || state.receiver_gone;
        if !ready {
            let queue = &mut state.waiting;
            self.project_ref()
                .waiter
                .link(queue, call.ticket, call.code, None);
        }
        !ready
    }

    fn withdraw(self: Pin<&Self>, _: Call, outcome: Outcome) {
        let value = if let Outcome::Handed(handed) = outcome {
            self.waiter.take_payload(handed)
        } else {
            let mut state = self.slot.state.lock();
            self.project_ref().waiter.unlink(&mut state.waiting)
        };
        match value {
            // OS1: the party that stored the value claimed this wait, whichever way the wait
            // appears to have ended.
            Some(value) => self.output.win(Ok(value)),
            None if outcome == Outcome::Lost => {}
            None => self.output.win(Err(RecvError::Disconnected)),
        }
    }
}

impl<T> fmt::Debug for RecvCase<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecvCase").finish_non_exhaustive()
    }
}
