//! The data that the ends of a broadcast channel share: the last values, each with the number of
//! receivers that have not received it yet.
//!
//! # Invariants
//! * BR1. Values are numbered in the order in which they were sent; `slots` holds the numbers from
//!   `next - slots.len()` up to `next`. There are never more than `capacity`.
//! * BR2. A receiver's position is the number of the value that it receives next. `left` of a slot
//!   is the number of receivers at or before its number, among those that existed when it was sent.
//!   A slot with none left is removed as soon as it is the first.
//! * BR3. A receiver waits only at `next`, while the channel is open. A sender that sends or closes
//!   wakes all receivers that wait there.
//! * BR5. A sender waits in `closing` only while the channel is open and there are receivers
//!   (`closing`).
//! * BR4. Values are cloned and dropped only while the lock is free, so each has an allocation of
//!   its own.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::channel::closing::{Closing, wake_closing};
use crate::fiber::waiter::WaitQueue;
use crate::shim::Lock;
use crate::wait::object::{Describe, ObjectKind};
use crate::wait::wait_info::{Subject, closed};
use crate::wait::wake_all;

/// The last values, and the receivers that wait for the next one.
pub(super) struct Row<T> {
    pub(super) state: Lock<State<T>>,
}

/// The state under the lock.
pub(super) struct State<T> {
    slots: VecDeque<Slot<T>>,
    capacity: usize,
    pub(super) next: u64,
    /// Waiting receivers, each with its position (BR3).
    pub(super) waiting: WaitQueue<u64>,
    /// Parties that wait until nothing more can be sent (BR5).
    closing: WaitQueue<()>,
    pub(super) closed: bool,
    pub(super) senders: usize,
    receivers: usize,
}

struct Slot<T> {
    value: Arc<T>,
    left: usize,
}

/// The result of a look at a receiver's position.
pub(super) enum Found<T> {
    Value(Arc<T>),
    /// The given number of values was evicted.
    Lagged(u64),
    Empty,
    Ended,
}

impl<T> Describe for State<T> {
    fn describe(&self) -> ObjectKind {
        ObjectKind::Broadcast {
            senders: self.senders,
            waiting: self.waiting.count(),
        }
    }
}

impl<T> Closing for State<T> {
    fn is_over(&self) -> bool {
        self.closed || self.receivers == 0
    }

    fn closing(&mut self) -> &mut WaitQueue<()> {
        &mut self.closing
    }
}

impl<T> Row<T> {
    pub(super) fn new(capacity: usize) -> Self {
        Row {
            state: Lock::new(State {
                slots: VecDeque::new(),
                capacity,
                next: 0,
                waiting: WaitQueue::new(),
                closing: WaitQueue::new(),
                closed: false,
                senders: 1,
                receivers: 1,
            }),
        }
    }

    /// Appends `value`. Returns for how many receivers, or the value if there is no receiver.
    pub(super) fn send(&self, value: T) -> Result<usize, T> {
        let value = Arc::new(value);
        let mut state = self.state.lock();
        let receivers = state.receivers;
        if state.closed || receivers == 0 {
            drop(state);
            return Err(Arc::into_inner(value).expect("no receiver has seen it"));
        }
        let full = state.slots.len() == state.capacity;
        let displaced = if full { state.slots.pop_front() } else { None };
        state.slots.push_back(Slot {
            value,
            left: receivers,
        });
        state.next += 1;
        let next = state.next;
        let waited_for = !state.waiting.is_empty();
        drop(state);
        if waited_for {
            // A receiver that waits at `next` has received this value by then.
            wake_all(&self.state, |state| {
                state.waiting.claim_first_if(|at| *at < next, |_| ())
            });
        }
        // User code, which may panic or wait: after the wakes.
        drop(displaced);
        Ok(receivers)
    }

    /// Ends sending. Returns true for the one call that did it.
    pub(super) fn close(&self) -> bool {
        let mut state = self.state.lock();
        let open = !std::mem::replace(&mut state.closed, true);
        drop(state);
        if open {
            closed(Subject::of(&self.state));
            wake_all(&self.state, |state| state.waiting.claim_first(|_| ()));
            wake_closing(&self.state);
        }
        open
    }

    /// Takes the value for the receiver at `at`, and advances the position.
    pub(super) fn take(&self, at: &mut u64) -> Found<T> {
        let mut state = self.state.lock();
        let found = state.take(at);
        // Nearly always this pops exactly the value that was found.
        let over = state.slots.pop_front_if(|slot| slot.left == 0);
        let more = state.slots.front().is_some_and(|slot| slot.left == 0);
        drop(state);
        drop(over);
        if more {
            self.trim();
        }
        found
    }

    /// Removes values that no receiver is still to receive.
    pub(super) fn trim(&self) {
        loop {
            let mut state = self.state.lock();
            let over = state.slots.pop_front_if(|slot| slot.left == 0);
            drop(state);
            if over.is_none() {
                return;
            }
        }
    }

    /// Adds a receiver at `at`, or at the number of the next value. Returns its position.
    pub(super) fn subscribe(&self, at: Option<u64>) -> u64 {
        let mut state = self.state.lock();
        state.receivers += 1;
        let at = at.unwrap_or(state.next);
        state.standing_at(at).for_each(|slot| slot.left += 1);
        at
    }

    pub(super) fn unsubscribe(&self, at: u64) {
        let mut state = self.state.lock();
        state.receivers -= 1;
        state.standing_at(at).for_each(|slot| slot.left -= 1);
        let awaited = state.receivers == 0 && !state.closing.is_empty();
        drop(state);
        if awaited {
            wake_closing(&self.state);
        }
        self.trim();
    }

    /// Adds a sender, unless none is left.
    pub(super) fn revive_sender(&self) -> bool {
        let mut state = self.state.lock();
        let alive = state.senders > 0;
        state.senders += usize::from(alive);
        alive
    }

    pub(super) fn receivers(&self) -> usize {
        self.state.lock().receivers
    }
}

impl<T> State<T> {
    pub(super) fn take(&mut self, at: &mut u64) -> Found<T> {
        let missed = self.first().saturating_sub(*at);
        if missed > 0 {
            *at += missed;
            return Found::Lagged(missed);
        }
        let Some(slot) = self.standing_at(*at).next() else {
            return if self.closed {
                Found::Ended
            } else {
                Found::Empty
            };
        };
        slot.left -= 1;
        let value = Arc::clone(&slot.value);
        *at += 1;
        Found::Value(value)
    }

    /// Returns the number of values from a receiver's position on, also those that were evicted.
    pub(super) fn ahead_of(&self, at: u64) -> usize {
        usize::try_from(self.next - at).unwrap_or(usize::MAX)
    }

    fn first(&self) -> u64 {
        self.next - self.slots.len() as u64
    }

    /// Returns the index of the first value that a receiver at `at` can still receive.
    fn index_of(&self, at: u64) -> usize {
        at.saturating_sub(self.first()) as usize
    }

    fn standing_at(&mut self, at: u64) -> impl Iterator<Item = &mut Slot<T>> {
        let index = self.index_of(at);
        self.slots.range_mut(index..)
    }
}
