//! Receiving as a case of a select.

use std::borrow::Borrow;
use std::fmt;
use std::pin::Pin;
use std::time::Instant;

use pin_project_lite::pin_project;

use crate::channel::error::{RecvError, TryRecvError};
use crate::channel::shared::Shared;
use crate::channel::state::Side;
use crate::wait::case_output::CaseOutput;
use crate::wait::choice::{Call, Case, Outcome};
use crate::wait::wait_info::Subject;
use crate::wait::waiter_slot::WaiterSlot;
use crate::wait::{self, Interrupt};

pin_project! {
    /// A select case that receives from a channel; made by
    /// [`recv_case`](crate::channel::Receiver::recv_case).
    ///
    /// It wins with a value, or because the channel is closed and drained; [`take`](RecvCase::take)
    /// returns which. A result that was won and not taken is kept: the case wins again with it in
    /// the next select.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel;
    /// use pirn::select::Select;
    ///
    /// let (tx, rx) = channel::bounded(1);
    /// tx.send(7).unwrap();
    /// let mut case = rx.recv_case();
    /// let mut select = Select::new();
    /// let index = select.add(&mut case);
    /// assert_eq!(select.wait(), Ok(index));
    /// assert_eq!(case.take(), Ok(7));
    /// ```
    #[doc(alias = "SelectCase")]
    pub struct RecvCase<'a, T> {
        #[pin]
        case: ValueCase<&'a Shared<T>, T>,
    }
}

pin_project! {
    /// A case that wins with a value, or because the channel is closed and drained. `P` holds the
    /// channel.
    pub(in crate::channel) struct ValueCase<P, T> {
        shared: P,
        #[pin]
        slot: WaiterSlot<Option<T>>,
        output: CaseOutput<Result<T, RecvError>>,
    }
}

impl<'a, T> RecvCase<'a, T> {
    pub(in crate::channel) fn new(shared: &'a Shared<T>) -> Self {
        RecvCase {
            case: ValueCase::new(shared),
        }
    }

    /// Returns the result with which the case has won: a value, or `Disconnected`.
    ///
    /// # Errors
    /// `Disconnected` if the channel is closed and drained.
    ///
    /// # Panics
    /// If the case has not won since the last call.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::{self, RecvError};
    /// use pirn::select::Select;
    ///
    /// let (tx, rx) = channel::bounded::<u32>(1);
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

    fn due(&self) -> Option<Instant> {
        self.case.due()
    }

    fn subject(&self) -> Option<Subject<'_>> {
        self.case.subject()
    }

    fn publish(self: Pin<&Self>, call: Call) -> bool {
        self.project_ref().case.publish(call)
    }

    fn withdraw(self: Pin<&Self>, call: Call, outcome: Outcome) {
        self.project_ref().case.withdraw(call, outcome);
    }
}

impl<P: Borrow<Shared<T>>, T> ValueCase<P, T> {
    pub(in crate::channel) fn new(shared: P) -> Self {
        ValueCase {
            shared,
            slot: WaiterSlot::new(),
            output: CaseOutput::new(),
        }
    }

    pub(in crate::channel) fn shared(&self) -> &Shared<T> {
        self.shared.borrow()
    }

    /// Takes the result that was won.
    pub(in crate::channel) fn collect(&self) -> Result<T, RecvError> {
        self.output.take()
    }

    /// Completes the case with the value that the channel's clock sends at `now`, if any.
    pub(in crate::channel) fn attempt_at(&self, now: Instant) {
        let shared = self.shared();
        if !shared.is_closed() {
            // By the caller's clock more moments may have been missed.
            let now = now.max(wait::now());
            self.output.win_by(|| shared.by_clock(now).map(Ok));
        }
    }

    /// Takes the value that was won and not collected, if there is one.
    pub(in crate::channel) fn give_up(&self) -> Option<T> {
        self.output.claim()?.ok()
    }
}

impl<P: Borrow<Shared<T>>, T> Case for ValueCase<P, T> {
    fn attempt(&self) -> bool {
        self.output.win_by(|| match self.shared().try_recv() {
            Ok(value) => Some(Ok(value)),
            Err(TryRecvError::Disconnected) => Some(Err(RecvError::Disconnected)),
            Err(TryRecvError::Empty) => None,
        })
    }

    fn due(&self) -> Option<Instant> {
        self.shared().due()
    }

    fn subject(&self) -> Option<Subject<'_>> {
        Some(Subject::of(&self.shared().state))
    }

    fn publish(self: Pin<&Self>, call: Call) -> bool {
        let shared = self.shared();
        let mut state = shared.state.lock();
        shared.refresh_batch_len(&mut state);
        if state.may_receive(Some(call.ticket)) {
            return false;
        }
        let watched = state.is_watched_by_other(Side::Send, call.ticket);
        let queue = &mut state.receiving;
        self.project_ref()
            .slot
            .link(queue, call.ticket, call.code, None);
        drop(state);
        if watched {
            shared.notify_other_watchers(Side::Send, Some(call.ticket));
        }
        true
    }

    fn withdraw(self: Pin<&Self>, _: Call, outcome: Outcome) {
        let value = if let Outcome::Handed(handed) = outcome {
            self.slot.take_payload(handed)
        } else {
            let mut state = self.shared().state.lock();
            self.project_ref().slot.unlink(&mut state.receiving)
        };
        match value {
            // CH2: the party that stored the value claimed this wait, whichever way the wait
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
