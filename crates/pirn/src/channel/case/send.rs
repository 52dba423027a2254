//! Sending as a case of a select.

use std::cell::Cell;
use std::fmt;
use std::pin::Pin;

use pin_project_lite::pin_project;

use crate::channel::error::{SendError, TrySendError};
use crate::channel::shared::Shared;
use crate::channel::state::{Brought, Side};
use crate::wait::Interrupt;
use crate::wait::case_output::CaseOutput;
use crate::wait::choice::{Call, Case, Outcome};
use crate::wait::wait_info::Subject;
use crate::wait::waiter_slot::WaiterSlot;

pin_project! {
    /// A select case that sends to a channel; made by
    /// [`send_case`](crate::channel::Sender::send_case).
    ///
    /// The case holds its value until it wins, through any number of selects. It wins when the
    /// value has been sent, or because the channel is closed; [`take`](SendCase::take) returns
    /// which. A case without a value never wins; [`rearm`](SendCase::rearm) gives it another value.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel;
    /// use pirn::select::Select;
    ///
    /// let (tx, rx) = channel::bounded(1);
    /// let mut case = tx.send_case(7);
    /// let mut select = Select::new();
    /// let index = select.add(&mut case);
    /// assert_eq!(select.wait(), Ok(index));
    /// assert_eq!(case.take(), Ok(()));
    /// assert_eq!(rx.recv(), Ok(7));
    /// ```
    #[doc(alias = "SelectCase")]
    pub struct SendCase<'a, T> {
        shared: &'a Shared<T>,
        #[pin]
        slot: WaiterSlot<Brought<T>>,
        value: Cell<Option<T>>,
        output: CaseOutput<Result<(), SendError<T>>>,
    }
}

impl<'a, T> SendCase<'a, T> {
    pub(in crate::channel) fn new(shared: &'a Shared<T>, value: T) -> Self {
        SendCase {
            shared,
            slot: WaiterSlot::new(),
            value: Cell::new(Some(value)),
            output: CaseOutput::new(),
        }
    }

    /// Returns the result with which the case has won.
    ///
    /// # Errors
    /// `Disconnected` with the value if the channel is closed.
    ///
    /// # Panics
    /// If the case has not won since the last call.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::{self, SendError};
    /// use pirn::select::Select;
    ///
    /// let (tx, rx) = channel::bounded(1);
    /// drop(rx);
    /// let mut case = tx.send_case(7);
    /// let mut select = Select::new();
    /// select.add(&mut case);
    /// assert_eq!(select.wait(), Ok(0));
    /// assert_eq!(case.take(), Err(SendError::Disconnected(7)));
    /// ```
    pub fn take(&mut self) -> Result<(), SendError<T>> {
        self.output.take()
    }

    /// As [`take`](SendCase::take), through a shared reference.
    pub(in crate::channel) fn collect(&self) -> Result<(), SendError<T>> {
        self.output.take()
    }

    /// Returns the value if it has not been sent.
    ///
    /// # Examples
    /// ```
    /// use pirn::select::Select;
    ///
    /// let (tx, _rx) = pirn::channel::bounded(0);
    /// let mut case = tx.send_case("letter");
    /// let mut select = Select::new();
    /// select.add(&mut case);
    /// assert_eq!(select.try_wait(), None); // no receiver waits
    /// assert_eq!(case.reclaim(), Some("letter"));
    /// ```
    pub fn reclaim(self) -> Option<T> {
        match self.output.into_inner() {
            Some(Err(error)) => Some(error.into_inner()),
            Some(Ok(())) | None => self.value.into_inner(),
        }
    }

    /// Gives the case a value to send. A value that it still holds is dropped.
    ///
    /// # Examples
    /// ```
    /// use pirn::select::Select;
    ///
    /// let (tx, rx) = pirn::channel::bounded(2);
    /// let mut case = tx.send_case(1);
    /// for next in 2..=3 {
    ///     let mut select = Select::new();
    ///     select.add(&mut case);
    ///     select.wait().unwrap();
    ///     case.take().unwrap();
    ///     case.rearm(next);
    /// }
    /// assert_eq!(rx.try_iter().collect::<Vec<_>>(), [1, 2]);
    /// ```
    pub fn rearm(&mut self, value: T) {
        self.output = CaseOutput::new();
        self.value.set(Some(value));
    }

    /// Withdraws the case because of an interrupt.
    #[doc(hidden)]
    pub fn interrupt(&mut self, interrupt: Interrupt) {
        if let Some(value) = self.value.take() {
            self.output
                .win(Err(SendError::Interrupted(value, interrupt)));
        }
    }
}

impl<T> Case for SendCase<'_, T> {
    fn attempt(&self) -> bool {
        self.output.win_by(|| {
            let value = self.value.take()?;
            match self.shared.try_send(value) {
                Ok(()) => Some(Ok(())),
                Err(TrySendError::Disconnected(value)) => {
                    Some(Err(SendError::Disconnected(value)))
                }
                Err(TrySendError::Full(value)) => {
                    self.value.set(Some(value));
                    None
                }
            }
        })
    }

    fn subject(&self) -> Option<Subject<'_>> {
        Some(Subject::of(&self.shared.state))
    }

    fn publish(self: Pin<&Self>, call: Call) -> bool {
        let Some(value) = self.value.take() else {
            // A case without a value cannot be claimed.
            return true;
        };
        let mut state = self.shared.state.lock();
        self.shared.reclaim_batch(&mut state);
        if state.may_send(Some(call.ticket)) {
            drop(state);
            self.value.set(Some(value));
            return false;
        }
        let watched = state.is_watched_by_other(Side::Receive, call.ticket);
        let (queue, brought) = (&mut state.sending, Brought::Value(value));
        self.project_ref()
            .slot
            .link(queue, call.ticket, call.code, brought);
        drop(state);
        if watched {
            self.shared
                .notify_other_watchers(Side::Receive, Some(call.ticket));
        }
        true
    }

    fn withdraw(self: Pin<&Self>, _: Call, outcome: Outcome) {
        if self.slot.is_empty() {
            return;
        }
        let brought = if let Outcome::Handed(handed) = outcome {
            self.slot.take_payload(handed)
        } else {
            let mut state = self.shared.state.lock();
            self.project_ref().slot.unlink(&mut state.sending)
        };
        match brought.into_value() {
            // CH2: the party that took the value claimed this wait, whichever way the wait appears
            // to have ended.
            None => self.output.win(Ok(())),
            Some(value) if outcome == Outcome::Lost => self.value.set(Some(value)),
            Some(value) => self.output.win(Err(SendError::Disconnected(value))),
        }
    }
}

impl<T> fmt::Debug for SendCase<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendCase").finish_non_exhaustive()
    }
}
