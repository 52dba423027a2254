//! What the two ends of a oneshot channel share.
//!
//! # Invariants
//! * OS1. The value lies in one place: with the sender, in the slot, in the waiter of the
//!   receiver, or with the receiver. It moves under the lock, and into the waiter only by the
//!   sender that has claimed it. A future that is dropped with it puts it back into the slot.
//! * OS2. The receiver waits only while the slot is empty and the sender is there; who fills
//!   the slot claims the waiter in the same critical section, and when the sender has gone
//!   nobody joins.

use crate::fiber::ticket::Wake;
use crate::fiber::waiter::WaitQueue;
use crate::shim::Lock;
use crate::wait::object::{Describe, ObjectKind};
use crate::wait::wake_all;

/// A place for one value.
pub(super) struct Slot<T> {
    pub(super) state: Lock<State<T>>,
}

/// What the lock guards.
pub(super) struct State<T> {
    pub(super) value: Option<T>,
    /// Who receives and waits, with the place for the value.
    pub(super) waiting: WaitQueue<Option<T>>,
    pub(super) sender_gone: bool,
    pub(super) receiver_gone: bool,
}

/// What a receiver finds.
pub(super) enum Found<T> {
    Value(T),
    /// Nothing yet.
    Empty,
    /// Nothing, for ever.
    Ended,
}

impl<T> Describe for State<T> {
    fn describe(&self) -> ObjectKind {
        ObjectKind::Oneshot {
            sender: !self.sender_gone,
        }
    }
}

impl<T> Slot<T> {
    pub(super) fn new() -> Self {
        Slot {
            state: Lock::new(State {
                value: None,
                waiting: WaitQueue::new(),
                sender_gone: false,
                receiver_gone: false,
            }),
        }
    }

    /// Hands `value` to the receiver that waits, or leaves it in the slot.
    pub(super) fn put(&self, value: T) -> Result<(), T> {
        let mut state = self.state.lock();
        if state.receiver_gone {
            return Err(value);
        }
        let mut value = Some(value);
        let wake = state.waiting.claim_first(|place| *place = value.take());
        if let Some(value) = value {
            state.value = Some(value);
        }
        drop(state);
        wake.into_iter().for_each(Wake::enqueue);
        Ok(())
    }

    /// Leaves `value`, which the receiver has been handed and has not taken, in the slot.
    pub(super) fn put_back(&self, value: T) {
        // OS2: nobody waits: the receiver's is the only wait, and that is over.
        self.state.lock().value = Some(value);
    }

    /// Tells the receiver that no value will come but what is in the slot.
    pub(super) fn end_sending(&self) {
        self.state.lock().sender_gone = true;
        wake_all(&self.state, |state| state.waiting.claim_first(|_| ()));
    }

    /// Refuses a later value; returns the one that is there.
    pub(super) fn end_receiving(&self) -> Option<T> {
        let mut state = self.state.lock();
        state.receiver_gone = true;
        state.value.take()
    }
}

impl<T> State<T> {
    pub(super) fn take(&mut self) -> Found<T> {
        match self.value.take() {
            Some(value) => Found::Value(value),
            None if self.sender_gone || self.receiver_gone => Found::Ended,
            None => Found::Empty,
        }
    }
}
