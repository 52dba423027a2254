//! Receiving from a broadcast channel as a case of a select.

use std::cell::RefCell;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use pin_project_lite::pin_project;

use super::buffer::{Found, Row};
use super::error::RecvError;
use crate::wait::case_output::CaseOutput;
use crate::wait::choice::{Call, Case, Outcome};
use crate::wait::waiter_slot::WaiterSlot;

pin_project! {
    /// A select case that receives from a broadcast channel; made by
    /// [`recv_case`](super::Receiver::recv_case).
    ///
    /// A value that was won and not taken is dropped with the case.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::broadcast;
    /// use pirn::select::Select;
    ///
    /// let (tx, mut rx) = broadcast::channel(8);
    /// tx.send(7).unwrap();
    /// let mut case = rx.recv_case();
    /// let mut select = Select::new();
    /// select.add(&mut case);
    /// assert_eq!(select.wait(), Ok(0));
    /// assert_eq!(case.take(), Ok(7));
    /// ```
    pub struct RecvCase<'a, T> {
        row: &'a Row<T>,
        // The receiver's position; in a cell, so that the case is `Send`.
        at: RefCell<&'a mut u64>,
        #[pin]
        slot: WaiterSlot<u64>,
        output: CaseOutput<Result<Arc<T>, RecvError>>,
    }
}

impl<'a, T> RecvCase<'a, T> {
    pub(super) fn new(row: &'a Row<T>, at: &'a mut u64) -> Self {
        RecvCase {
            row,
            at: RefCell::new(at),
            slot: WaiterSlot::new(),
            output: CaseOutput::new(),
        }
    }
}

impl<T: Clone> RecvCase<'_, T> {
    /// Returns the result with which the case has won.
    ///
    /// # Errors
    /// `Disconnected` or `Lagged`, as with [`recv`](super::Receiver::recv).
    ///
    /// # Panics
    /// If the case has not won since the last call, or the value's `clone` panics.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::broadcast::{self, RecvError};
    /// use pirn::select::Select;
    ///
    /// let (tx, mut rx) = broadcast::channel(1);
    /// (1..=3).for_each(|n| assert_eq!(tx.send(n), Ok(1)));
    /// let mut case = rx.recv_case();
    /// let mut select = Select::new();
    /// select.add(&mut case);
    /// assert_eq!(select.wait(), Ok(0));
    /// assert_eq!(case.take(), Err(RecvError::Lagged(2)));
    /// ```
    pub fn take(&mut self) -> Result<T, RecvError> {
        self.collect()
    }

    /// As [`take`](RecvCase::take), through a shared reference.
    pub(super) fn collect(&self) -> Result<T, RecvError> {
        self.output.take().map(Arc::unwrap_or_clone)
    }
}

impl<T> Case for RecvCase<'_, T> {
    fn attempt(&self) -> bool {
        self.output
            .win_by(|| match self.row.take(&mut self.at.borrow_mut()) {
                Found::Value(value) => Some(Ok(value)),
                Found::Lagged(missed) => Some(Err(RecvError::Lagged(missed))),
                Found::Ended => Some(Err(RecvError::Disconnected)),
                Found::Empty => None,
            })
    }

    fn publish(self: Pin<&Self>, call: Call) -> bool {
        let mut state = self.row.state.lock();
        let ready = state.closed || state.next != **self.at.borrow();
        if !ready {
            let (queue, at) = (&mut state.waiting, **self.at.borrow());
            // A waker hands nothing over: a woken case checks again.
            let code = crate::fiber::state::Code::RETRY;
            self.project_ref().slot.link(queue, call.ticket, code, at);
        }
        !ready
    }

    fn withdraw(self: Pin<&Self>, _: Call, _: Outcome) {
        let mut state = self.row.state.lock();
        self.project_ref().slot.unlink(&mut state.waiting);
    }
}

impl<T> fmt::Debug for RecvCase<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecvCase").finish_non_exhaustive()
    }
}
