//! A change of the value as a case of a select.

use std::cell::RefCell;
use std::fmt;
use std::pin::Pin;

use pin_project_lite::pin_project;

use super::board::Board;
use crate::channel::error::RecvError;
use crate::fiber::state::Code;
use crate::wait::case_output::CaseOutput;
use crate::wait::choice::{Call, Case, Outcome};
use crate::wait::waiter_slot::WaiterSlot;

pin_project! {
    /// A select case that wins when the value of a watch channel has changed; made by
    /// [`changed_case`](super::Receiver::changed_case).
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::watch;
    /// use pirn::select::Select;
    ///
    /// let (tx, mut rx) = watch::channel(0);
    /// tx.send(1).unwrap();
    /// let mut case = rx.changed_case();
    /// let mut select = Select::new();
    /// select.add(&mut case);
    /// assert_eq!(select.wait(), Ok(0));
    /// assert_eq!(case.take(), Ok(()));
    /// assert_eq!(*rx.borrow(), 1);
    /// ```
    pub struct ChangedCase<'a, T> {
        board: &'a Board<T>,
        // The receiver's seen version; in a cell, so that the case is `Send`.
        seen: RefCell<&'a mut u64>,
        #[pin]
        slot: WaiterSlot<u64>,
        output: CaseOutput<Result<(), RecvError>>,
    }
}

impl<'a, T> ChangedCase<'a, T> {
    pub(super) fn new(board: &'a Board<T>, seen: &'a mut u64) -> Self {
        ChangedCase {
            board,
            seen: RefCell::new(seen),
            slot: WaiterSlot::new(),
            output: CaseOutput::new(),
        }
    }

    /// Returns the result with which the case has won: the value has changed.
    ///
    /// # Errors
    /// `Disconnected` if all senders have been dropped and the last value has been seen.
    ///
    /// # Panics
    /// If the case has not won since the last call.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::{RecvError, watch};
    /// use pirn::select::Select;
    ///
    /// let (tx, mut rx) = watch::channel(0);
    /// drop(tx);
    /// let mut case = rx.changed_case();
    /// let mut select = Select::new();
    /// select.add(&mut case);
    /// assert_eq!(select.wait(), Ok(0));
    /// assert_eq!(case.take(), Err(RecvError::Disconnected));
    /// ```
    pub fn take(&mut self) -> Result<(), RecvError> {
        self.collect()
    }

    /// As [`take`](ChangedCase::take), through a shared reference.
    pub(super) fn collect(&self) -> Result<(), RecvError> {
        self.output.take()
    }

    fn seen(&self) -> u64 {
        **self.seen.borrow()
    }
}

impl<T> Case for ChangedCase<'_, T> {
    fn attempt(&self) -> bool {
        self.output.win_by(|| {
            let state = self.board.state.lock();
            if state.version != self.seen() {
                **self.seen.borrow_mut() = state.version;
                Some(Ok(()))
            } else if state.senders == 0 {
                Some(Err(RecvError::Disconnected))
            } else {
                None
            }
        })
    }

    fn publish(self: Pin<&Self>, call: Call) -> bool {
        let mut state = self.board.state.lock();
        let ready = state.senders == 0 || state.version != self.seen();
        if !ready {
            let (queue, seen) = (&mut state.waiting, self.seen());
            // A waker hands nothing over: a woken case checks again.
            let code = Code::RETRY;
            self.project_ref().slot.link(queue, call.ticket, code, seen);
        }
        !ready
    }

    fn withdraw(self: Pin<&Self>, _: Call, _: Outcome) {
        let mut state = self.board.state.lock();
        self.project_ref().slot.unlink(&mut state.waiting);
    }
}

impl<T> fmt::Debug for ChangedCase<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChangedCase").finish_non_exhaustive()
    }
}
