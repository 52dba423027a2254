//! The data that the two ends of a channel share. It has the state under one short lock, and a copy
//! of its length for reads without the lock. It also ends the channel.

// Owns: the work after unlocking: wakes, and notifying watchers. Does not own: where a value goes
// (`state`), waiting (`sending`, `receiving`, `case`), handles (`sender`, `receiver`), or the
// shape of errors.

use std::fmt;
use std::mem;
use std::time::Instant;

use super::buffer::{Buffer, Row};
use super::recv_batch::RecvBatch;
use super::state::{Deferred, Reason, Side, State};
use crate::base::pad::CachePadded;
use crate::fiber::{Ticket, current};
use crate::shim::Lock;
use crate::shim::atomic::{AtomicUsize, Ordering};
use crate::wait::wait_info::{Subject, closed};
use crate::wait::{self, wake_all};

/// The data that both ends share.
pub(super) struct Shared<T> {
    /// The capacity; `usize::MAX` means no limit.
    pub(super) capacity: usize,
    /// Twice the length of the buffer, plus one once closed, for reads without the lock. Values at
    /// the exit are not included. Written under the lock.
    glance: AtomicUsize,
    /// A timer that sends values, in place of senders.
    pub(super) clock: Option<Box<dyn Clock<T>>>,
    pub(super) state: Lock<State<T>>,
    /// Written by receivers, and by senders that find the channel full or drop its oldest value.
    pub(super) exit: CachePadded<RecvBatch<T>>,
}

/// Sends values at certain times.
pub(super) trait Clock<T>: Send + Sync {
    /// Returns the value that is due at `now`; each value is returned to one caller only.
    fn value_at(&self, now: Instant) -> Option<T>;

    /// Returns when the next value is due; `None` means never.
    fn due(&self) -> Option<Instant>;
}

impl<T> Shared<T> {
    pub(super) fn new(capacity: Option<usize>, clock: Option<Box<dyn Clock<T>>>) -> Self {
        let limit = capacity.unwrap_or(usize::MAX);
        Shared {
            capacity: limit,
            glance: AtomicUsize::new(0),
            clock,
            state: Lock::new(State::new(capacity)),
            exit: CachePadded::new(RecvBatch::new(Row::idle(capacity))),
        }
    }

    /// Publishes the length and the closed flag of `state` for reads without the lock. The lock is
    /// held.
    #[inline]
    pub(super) fn publish_len(&self, state: &State<T>) {
        let glance = state.buffer.len() << 1 | usize::from(state.closed);
        // ORDERING: for hints; a reader that acts on it takes the lock. Release pairs with the load
        // in `len`.
        self.glance.store(glance, Ordering::Release);
    }

    /// Updates in `state` the number of values at the exit. The lock is held.
    #[inline]
    pub(super) fn refresh_batch_len(&self, state: &mut State<T>) {
        if state.crowded > 0 {
            state.ahead = self.exit.len();
        }
    }

    /// Moves the values at the exit back to `state`. The lock is held, and until it is released all
    /// values are in one place (X3).
    #[inline]
    pub(super) fn reclaim_batch(&self, state: &mut State<T>) {
        if state.ahead > 0 {
            state.buffer.prepend(|row| self.exit.take_back(row));
            state.ahead = 0;
        }
    }

    /// Gives `value`, which was handed to a receiver and not taken, to the next receiver. It is
    /// older than all values in the channel.
    pub(super) fn put_back(&self, value: T) {
        let mut state = self.state.lock();
        self.reclaim_batch(&mut state);
        let after = state.put_back(value);
        self.publish_len(&state);
        drop(state);
        self.run_deferred(after);
    }

    /// Returns whether the channel holds a value for which `sought` returns true. `sought` is
    /// called with the lock held, so it must not be the user's.
    pub(super) fn holds(&self, sought: impl Fn(&T) -> bool) -> bool {
        let mut state = self.state.lock();
        self.reclaim_batch(&mut state);
        self.publish_len(&state);
        state.buffer.iter().any(sought)
    }

    /// Does the work that was deferred until the lock is released.
    #[inline]
    pub(super) fn run_deferred(&self, after: Deferred) {
        if let Some(wake) = after.wake {
            wake.enqueue();
        }
        if let Some(side) = after.notify {
            self.notify_watchers(side);
        }
    }

    #[cold]
    pub(super) fn notify_watchers(&self, side: Side) {
        self.notify_other_watchers(side, None);
    }

    /// Notifies all present watchers of `side`, except the party of `ticket`: a party that is about
    /// to wait makes the channel ready for others only.
    #[cold]
    pub(super) fn notify_other_watchers(&self, side: Side, ticket: Option<Ticket>) {
        // A look ends before another fiber runs: there is no party that waits.
        if ticket.is_some() && current::local().looks() {
            return;
        }
        let mut state = self.state.lock();
        state.notifications += 1;
        let limit = state.notifications;
        drop(state);
        wake_all(&self.state, |state| {
            // A watcher that joins after this call has seen `limit`, so the loop ends.
            state.watchers[side as usize]
                .claim_first_where(|watcher| watcher.is_due(limit, ticket), |_| ())
        });
    }

    /// Closes the channel with `reason`. Returns true for the one call that closed it.
    pub(super) fn close(&self, reason: Option<Reason>) -> bool {
        let mut state = self.state.lock();
        if mem::replace(&mut state.closed, true) {
            return false;
        }
        state.reason = reason;
        self.publish_len(&state);
        drop(state);
        closed(Subject::of(&self.state));
        wake_all(&self.state, |state| {
            let wake = state.admit_parked();
            self.publish_len(state);
            wake
        });
        self.wake_all_parties();
        true
    }

    /// Wakes all parties that wait for the close or for readiness, and those that wait to receive
    /// unless reserved places are still to be filled. None joins after that (CH3, CH6), so the loop
    /// ends. The channel is closed.
    pub(super) fn wake_all_parties(&self) {
        wake_all(&self.state, |state| {
            let receiver = if state.has_ended() {
                state.receiving.claim_first(|_| ())
            } else {
                None
            };
            receiver.or_else(|| state.closing.claim_first(|_| ()))
        });
        self.notify_watchers(Side::Send);
        self.notify_watchers(Side::Receive);
    }

    pub(super) fn add_sender(&self) {
        self.state.lock().senders += 1;
    }

    /// Adds a sender, unless none is left.
    pub(super) fn revive_sender(&self) -> bool {
        let mut state = self.state.lock();
        let alive = state.senders > 0;
        state.senders += usize::from(alive);
        alive
    }

    pub(super) fn add_receiver(&self) {
        self.state.lock().receivers += 1;
    }

    /// Adds a receiver, unless none is left.
    pub(super) fn revive_receiver(&self) -> bool {
        let mut state = self.state.lock();
        let alive = state.receivers > 0;
        state.receivers += usize::from(alive);
        alive
    }

    pub(super) fn remove_sender(&self) {
        let mut state = self.state.lock();
        state.senders -= 1;
        let last = state.senders == 0;
        drop(state);
        if last {
            self.close(None);
        }
    }

    /// Removes a receiver. The last one drops the values that can no longer be received, and parked
    /// senders get theirs back.
    pub(super) fn remove_receiver(&self) {
        let mut state = self.state.lock();
        state.receivers -= 1;
        if state.receivers > 0 {
            return;
        }
        let was_open = !mem::replace(&mut state.closed, true);
        self.reclaim_batch(&mut state);
        let unreceived = mem::replace(&mut state.buffer, Buffer::new(None));
        self.publish_len(&state);
        drop(state);
        if was_open {
            closed(Subject::of(&self.state));
        }
        wake_all(&self.state, |state| state.sending.claim_first(|_| ()));
        self.wake_all_parties();
        drop(unreceived);
    }

    pub(super) fn close_reason(&self) -> Option<Reason> {
        self.state.lock().reason.clone()
    }

    /// Returns whether a receiver or a watcher waits for a value.
    pub(super) fn is_awaited(&self) -> bool {
        let state = self.state.lock();
        let watchers = &state.watchers[Side::Receive as usize];
        !state.receiving.is_empty() || !watchers.is_empty()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.glance() & 1 != 0
    }

    pub(super) fn len(&self) -> usize {
        // ORDERING: pairs with the store in `publish_len`: if it followed a move to the exit,
        // `was_opened` returns true here.
        let glance = self.glance.load(Ordering::Acquire);
        // A closed channel takes nothing from its clock.
        let takes = glance & 1 == 0;
        let ticked = takes && self.due().is_some_and(|due| due <= wait::now());
        let len = if self.exit.was_opened() {
            // Without the lock, values that move between buffer and exit could be counted twice or
            // not at all.
            let state = self.state.lock();
            state.buffer.len() + self.exit.len()
        } else {
            glance >> 1
        };
        len + usize::from(ticked)
    }

    pub(super) fn is_full(&self) -> bool {
        self.len() >= self.capacity
    }

    #[inline]
    pub(super) fn looks_empty(&self) -> bool {
        self.glance() >> 1 == 0 && self.exit.is_empty()
    }

    /// Returns whether a quarter of the places is free, and at least one. A thread that finds the
    /// channel full waits for that, so that it then sends more than one value.
    pub(super) fn looks_roomy(&self) -> bool {
        let used = (self.glance() >> 1) + self.exit.len();
        used < self.capacity - self.capacity / 4
    }

    /// Returns how many values the buffer can hold; `None` means no limit.
    pub(super) fn limit(&self) -> Option<usize> {
        (self.capacity != usize::MAX).then_some(self.capacity)
    }

    #[inline]
    fn glance(&self) -> usize {
        // ORDERING: Relaxed: see `publish_len`.
        self.glance.load(Ordering::Relaxed)
    }
}

impl<T> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("len", &self.len())
            .field("closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}
