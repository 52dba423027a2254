//! What the two ends of a channel share: the state under one short lock, a glance at it without
//! the lock, and how a channel ends.
//!
//! Owns: what is done when the lock is free: wakes, and telling those who watch. Does not own:
//! where a value goes (`state`), waiting (`sending`, `receiving`, `case`), handles (`sender`,
//! `receiver`), or the shape of errors.

use std::fmt;
use std::mem;
use std::time::Instant;

use super::buffer::{Buffer, Row};
use super::exit::Exit;
use super::state::{After, Reason, Side, State};
use crate::base::pad::CachePadded;
use crate::fiber::Ticket;
use crate::shim::Lock;
use crate::shim::atomic::{AtomicUsize, Ordering};
use crate::wait::notice::{Subject, closed};
use crate::wait::{self, wake_all};

/// What both ends share.
pub(super) struct Pipe<T> {
    /// Room for values; `usize::MAX` means any number.
    pub(super) capacity: usize,
    /// Twice the length of the buffer, plus one once closed; for looks without the lock. What
    /// is at the exit comes on top.
    /// Written under the lock.
    glance: AtomicUsize,
    /// Sends by the time, in place of senders.
    pub(super) clock: Option<Box<dyn Clock<T>>>,
    pub(super) state: Lock<State<T>>,
    /// Written by receivers.
    pub(super) exit: CachePadded<Exit<T>>,
}

/// Sends values when their time has come.
pub(super) trait Clock<T>: Send + Sync {
    /// The value that is due at `now`, for one caller.
    fn tell(&self, now: Instant) -> Option<T>;

    /// When the next value is due; `None` is never.
    fn due(&self) -> Option<Instant>;
}

impl<T> Pipe<T> {
    pub(super) fn new(capacity: Option<usize>, clock: Option<Box<dyn Clock<T>>>) -> Self {
        let limit = capacity.unwrap_or(usize::MAX);
        Pipe {
            capacity: limit,
            glance: AtomicUsize::new(0),
            clock,
            state: Lock::new(State::new(capacity)),
            exit: CachePadded::new(Exit::new(Row::idle(capacity))),
        }
    }

    /// Writes down for looks without the lock what `state`, whose lock is held, has become.
    #[inline]
    pub(super) fn note(&self, state: &State<T>) {
        let glance = state.buffer.len() << 1 | usize::from(state.closed);
        // ORDERING: for opinions; whoever acts on it takes the lock. Release pairs with the
        // load in `len`.
        self.glance.store(glance, Ordering::Release);
    }

    /// Finds out how many values are at the exit, for `state`, whose lock is held.
    #[inline]
    pub(super) fn look_ahead(&self, state: &mut State<T>) {
        if state.crowded > 0 {
            state.ahead = self.exit.len();
        }
    }

    /// Takes back what is at the exit, to `state`, whose lock is held: from here on until the
    /// lock is free, all values are in one place (X3).
    #[inline]
    pub(super) fn reunite(&self, state: &mut State<T>) {
        if state.ahead > 0 {
            state.buffer.rejoin(|row| self.exit.take_back(row));
            state.ahead = 0;
        }
    }

    /// Gives `value`, which a receiver has been handed and has not taken, to the next one; it is
    /// older than all that are in the channel.
    pub(super) fn put_back(&self, value: T) {
        let mut state = self.state.lock();
        self.reunite(&mut state);
        let after = state.put_back(value);
        self.note(&state);
        drop(state);
        self.follow(after);
    }

    /// Whether a value is in the channel that is `sought`, which is asked with the lock held.
    pub(super) fn holds(&self, sought: impl Fn(&T) -> bool) -> bool {
        let mut state = self.state.lock();
        self.reunite(&mut state);
        self.note(&state);
        state.buffer.iter().any(sought)
    }

    /// Does what was left until the lock is free.
    #[inline]
    pub(super) fn follow(&self, after: After) {
        if let Some(wake) = after.wake {
            wake.enqueue();
        }
        if let Some(side) = after.tell {
            self.tell(side);
        }
    }

    #[cold]
    pub(super) fn tell(&self, side: Side) {
        self.tell_others(side, None);
    }

    /// Tells all that watch `side` now, but for the party with `ticket`: who is about to wait
    /// makes the channel ready for others only.
    #[cold]
    pub(super) fn tell_others(&self, side: Side, ticket: Option<Ticket>) {
        let mut state = self.state.lock();
        state.told += 1;
        let limit = state.told;
        drop(state);
        wake_all(&self.state, |state| {
            // Who comes after this call has seen `limit`, so it cannot go on for ever.
            state.watchers[side as usize]
                .claim_first_where(|watcher| watcher.is_due(limit, ticket), |_| ())
        });
    }

    /// Ends admission, for `reason`; true for the one call that did it.
    pub(super) fn close(&self, reason: Option<Reason>) -> bool {
        let mut state = self.state.lock();
        if mem::replace(&mut state.closed, true) {
            return false;
        }
        state.reason = reason;
        self.note(&state);
        drop(state);
        closed(Subject::of(&self.state));
        wake_all(&self.state, |state| {
            let wake = state.admit_parked();
            self.note(state);
            wake
        });
        self.tell_all();
        true
    }

    /// Tells everybody who waits to receive, or for readiness, of the end, unless reserved
    /// places are still to be filled. Nobody joins them after that (CH3), so this ends.
    pub(super) fn tell_all(&self) {
        wake_all(&self.state, |state| {
            if state.has_ended() {
                state.receiving.claim_first(|_| ())
            } else {
                None
            }
        });
        self.tell(Side::Send);
        self.tell(Side::Receive);
    }

    pub(super) fn add_sender(&self) {
        self.state.lock().senders += 1;
    }

    /// Adds a sender unless there is none left.
    pub(super) fn revive_sender(&self) -> bool {
        let mut state = self.state.lock();
        let alive = state.senders > 0;
        state.senders += usize::from(alive);
        alive
    }

    pub(super) fn add_receiver(&self) {
        self.state.lock().receivers += 1;
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

    /// With the last receiver go the values that nobody can receive any more; parked senders
    /// get theirs back.
    pub(super) fn remove_receiver(&self) {
        let mut state = self.state.lock();
        state.receivers -= 1;
        if state.receivers > 0 {
            return;
        }
        let was_open = !mem::replace(&mut state.closed, true);
        self.reunite(&mut state);
        let unreceived = mem::replace(&mut state.buffer, Buffer::new(None));
        self.note(&state);
        drop(state);
        if was_open {
            closed(Subject::of(&self.state));
        }
        wake_all(&self.state, |state| state.sending.claim_first(|_| ()));
        self.tell_all();
        drop(unreceived);
    }

    pub(super) fn close_reason(&self) -> Option<Reason> {
        self.state.lock().reason.clone()
    }

    /// Whether somebody waits for a value.
    pub(super) fn is_awaited(&self) -> bool {
        let state = self.state.lock();
        let watchers = &state.watchers[Side::Receive as usize];
        !state.receiving.is_empty() || !watchers.is_empty()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.glance() & 1 != 0
    }

    pub(super) fn len(&self) -> usize {
        let told = self.due().is_some_and(|due| due <= wait::now());
        // ORDERING: pairs with the store in `note`: if that came after values went to the exit,
        // then the exit says that they did.
        let glance = self.glance.load(Ordering::Acquire);
        let len = if self.exit.was_opened() {
            // What moves between buffer and exit would be seen twice, or not at all.
            let state = self.state.lock();
            state.buffer.len() + self.exit.len()
        } else {
            glance >> 1
        };
        len + usize::from(told)
    }

    pub(super) fn is_full(&self) -> bool {
        self.len() >= self.capacity
    }

    #[inline]
    pub(super) fn looks_empty(&self) -> bool {
        self.glance() >> 1 == 0 && self.exit.is_empty()
    }

    /// Whether a quarter of the places is free, at least one: what a thread that finds the
    /// channel full watches for, so that it sends more than one value then.
    pub(super) fn looks_roomy(&self) -> bool {
        let used = (self.glance() >> 1) + self.exit.len();
        used < self.capacity - self.capacity / 4
    }

    /// How many values the buffer can hold; `None` means any number.
    pub(super) fn limit(&self) -> Option<usize> {
        (self.capacity != usize::MAX).then_some(self.capacity)
    }

    #[inline]
    fn glance(&self) -> usize {
        // ORDERING: Relaxed: see `note`.
        self.glance.load(Ordering::Relaxed)
    }
}

impl<T> fmt::Debug for Pipe<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pipe")
            .field("len", &self.len())
            .field("closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}
