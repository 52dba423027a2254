//! Receiving the one value as a case of a select.

use std::borrow::Borrow;
use std::fmt;
use std::pin::Pin;

use pin_project_lite::pin_project;

use super::slot::{Found, Slot, State};
use crate::channel::error::RecvError;
use crate::shim::LockGuard;
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
        #[pin]
        case: ValueCase<&'a Slot<T>, T>,
    }
}

pin_project! {
    /// A case that wins with the value, or because there will be none. `P` holds the channel.
    pub(super) struct ValueCase<P, T> {
        slot: P,
        #[pin]
        waiter: WaiterSlot<Option<T>>,
        output: CaseOutput<Result<T, RecvError>>,
    }
}

impl<'a, T> RecvCase<'a, T> {
    pub(super) fn new(slot: &'a Slot<T>) -> Self {
        RecvCase {
            case: ValueCase::new(slot),
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
        self.case.collect()
    }

    /// Withdraws the case because of an interrupt.
    #[doc(hidden)]
    pub fn interrupt(&mut self, interrupt: Interrupt) {
        self.case.output.win(Err(RecvError::Interrupted(interrupt)));
    }
}

impl<T> Case for RecvCase<'_, T> {
    fn attempt(&self) -> bool {
        self.case.attempt()
    }

    fn publish(self: Pin<&Self>, call: Call) -> bool {
        self.project_ref().case.publish(call)
    }

    fn withdraw(self: Pin<&Self>, call: Call, outcome: Outcome) {
        self.project_ref().case.withdraw(call, outcome);
    }
}

impl<P: Borrow<Slot<T>>, T> ValueCase<P, T> {
    pub(super) fn new(slot: P) -> Self {
        ValueCase {
            slot,
            waiter: WaiterSlot::new(),
            output: CaseOutput::new(),
        }
    }

    /// Takes the result that was won.
    pub(super) fn collect(&self) -> Result<T, RecvError> {
        self.output.take()
    }

    fn state(&self) -> LockGuard<'_, State<T>> {
        self.slot.borrow().state.lock()
    }
}

impl<P: Borrow<Slot<T>>, T> Case for ValueCase<P, T> {
    fn attempt(&self) -> bool {
        self.output.win_by(|| match self.state().take() {
            Found::Value(value) => Some(Ok(value)),
            Found::Ended => Some(Err(RecvError::Disconnected)),
            Found::Empty => None,
        })
    }

    fn publish(self: Pin<&Self>, call: Call) -> bool {
        let mut state = self.state();
        // OS2: with a value the sender is gone.
        let ready = state.sender_gone || state.receiver_gone;
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
            let mut state = self.state();
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
