//! The data that the two ends of a oneshot channel share.
//!
//! # Invariants
//! * OS1. The value is in exactly one place: with the sender, in the slot, in the receiver's
//!   waiter, or with the receiver. It moves under the lock, and into the waiter only by the sender
//!   that claimed it. A case or future that is dropped with the value drops it.
//! * OS2. The receiver waits only while the slot is empty and the sender exists. A sender that
//!   fills the slot is gone by that, and claims the waiter in the same critical section. After the
//!   sender is gone no waiter joins.
//! * OS3. A sender waits in `closing` only while the receiver exists and is open (`closing`).

use std::mem;

use crate::channel::closing::{Closing, wake_closing};
use crate::fiber::ticket::Wake;
use crate::fiber::waiter::WaitQueue;
use crate::shim::Lock;
use crate::wait::object::{Describe, ObjectKind};
use crate::wait::wake_all;

/// A place for one value.
pub(super) struct Slot<T> {
    pub(super) state: Lock<State<T>>,
}

/// The state under the lock.
pub(super) struct State<T> {
    pub(super) value: Option<T>,
    /// The waiting receiver, with the place for the value.
    pub(super) waiting: WaitQueue<Option<T>>,
    /// Parties that wait until the receiver is gone (OS3).
    closing: WaitQueue<()>,
    pub(super) sender_gone: bool,
    pub(super) receiver_gone: bool,
}

/// The result of a look into the slot.
pub(super) enum Found<T> {
    Value(T),
    /// No value yet.
    Empty,
    /// There will never be a value.
    Ended,
}

impl<T> Describe for State<T> {
    fn describe(&self) -> ObjectKind {
        ObjectKind::Oneshot {
            sender: !self.sender_gone,
        }
    }
}

impl<T> Closing for State<T> {
    fn is_over(&self) -> bool {
        self.receiver_gone
    }

    fn closing(&mut self) -> &mut WaitQueue<()> {
        &mut self.closing
    }
}

impl<T> Slot<T> {
    pub(super) fn new() -> Self {
        Slot {
            state: Lock::new(State {
                value: None,
                waiting: WaitQueue::new(),
                closing: WaitQueue::new(),
                sender_gone: false,
                receiver_gone: false,
            }),
        }
    }

    /// Hands `value` to the waiting receiver, or stores it in the slot.
    pub(super) fn put(&self, value: T) -> Result<(), T> {
        let mut state = self.state.lock();
        if state.receiver_gone {
            return Err(value);
        }
        // OS2: in this critical section, so that a receiver of the value finds the channel ended.
        state.sender_gone = true;
        let mut value = Some(value);
        let wake = state.waiting.claim_first(|place| *place = value.take());
        if let Some(value) = value {
            state.value = Some(value);
        }
        drop(state);
        wake.into_iter().for_each(Wake::enqueue);
        Ok(())
    }

    /// Ends sending: wakes the receiver, for which at most the value in the slot remains.
    pub(super) fn end_sending(&self) {
        self.state.lock().sender_gone = true;
        wake_all(&self.state, |state| state.waiting.claim_first(|_| ()));
    }

    /// Closes the channel for the sender: a later send fails. Returns true for the first call.
    pub(super) fn close(&self) -> bool {
        let mut state = self.state.lock();
        let was_gone = mem::replace(&mut state.receiver_gone, true);
        let awaited = !state.closing.is_empty();
        drop(state);
        if awaited {
            wake_closing(&self.state);
        }
        !was_gone
    }

    /// Ends receiving: a later send fails. Returns the value in the slot.
    pub(super) fn end_receiving(&self) -> Option<T> {
        let mut state = self.state.lock();
        state.receiver_gone = true;
        let value = state.value.take();
        let awaited = !state.closing.is_empty();
        drop(state);
        if awaited {
            wake_closing(&self.state);
        }
        value
    }
}

impl<T> State<T> {
    pub(super) fn take(&mut self) -> Found<T> {
        match self.value.take() {
            Some(value) => Found::Value(value),
            None if self.has_ended() => Found::Ended,
            None => Found::Empty,
        }
    }

    /// Returns true if there is no value and there will never be one.
    pub(super) fn has_ended(&self) -> bool {
        self.value.is_none() && (self.sender_gone || self.receiver_gone)
    }
}
