//! Where a value goes: the rules of a channel, under its lock.
//!
//! | sender finds | does | | receiver finds | does |
//! |---|---|---|---|---|
//! | closed | gives the value back | | a buffered value | takes it, moves the first parked sender's value in |
//! | a parked receiver | hands it over | | a parked sender (capacity 0) | takes its value |
//! | room | buffers it | | closed | reports it |
//! | neither | parks with it | | neither | parks |
//!
//! A party with a published ticket is about to park on several channels at once. It only checks
//! (`may_send`, `may_receive`), and completes no other party's wait (`wait::choice`).
//!
//! # Invariants
//! * CH1. A receiver waits only while the buffer is empty and no sender waits; a sender waits only
//!   while the buffer is full and no receiver waits. Two kinds of linked waiter are not counted: a
//!   waiter that was ended and is not unlinked yet, and the caller's own other cases in the same
//!   choice. So handing a value to a parked receiver overtakes no other value, and values keep
//!   their order.
//! * CH2. A value is in exactly one place: with its sender, in the sender's waiter, in the buffer,
//!   in a receiver's waiter, or with its receiver. It moves between them under the lock. It moves
//!   into or out of a waiter only by the party that claimed the waiter.
//! * CH3. Once `closed` is set, no sender joins a queue, and the buffer accepts only values that
//!   were parked or reserved before. The lock orders an admission and a close. Once no place is
//!   reserved either, no receiver joins.
//! * CH4. A value is cloned or dropped, and a fiber enqueued, only while the lock is free.
//! * CH5. A party that waits for readiness only (in `watchers`) is notified of every event that
//!   makes the channel ready. It has no claim on the value or the room.
//! * CH6. A party waits for the end (in `closing`) only until `closed` is set (`closing`).

// Owns: every transition of the state that the two ends share. Does not own: the lock, the work
// that remains after unlocking (`shared`), or waiting (`sending`, `receiving`, `case`).

use std::error::Error;
use std::mem;
use std::sync::Arc;

use super::buffer::Buffer;
use super::closing::Closing;
use crate::base::mutant::mutant;
use crate::fiber::Ticket;
use crate::fiber::ticket::Wake;
use crate::fiber::waiter::WaitQueue;
use crate::wait::object::{Describe, ObjectKind};

/// The state under the lock.
pub(super) struct State<T> {
    capacity: usize,
    /// Exceeds the capacity only after a close, by the values of senders parked then, and by values
    /// that were put back.
    pub(super) buffer: Buffer<T>,
    /// An upper bound on the number of values at the exit, which count as buffered.
    pub(super) ahead: usize,
    /// How many more receives move the whole buffer to the exit, because threads contended here
    /// lately. If 0, the exit is empty and `ahead` is 0.
    pub(super) crowded: u8,
    /// Reserved places in the buffer that are not filled yet.
    pub(super) reserved: usize,
    /// Parked senders, each with its value or request.
    pub(super) sending: WaitQueue<Brought<T>>,
    /// Parked receivers, each with the place for a value.
    pub(super) receiving: WaitQueue<Option<T>>,
    /// Parties that wait until sending, or receiving, would not wait (CH5).
    pub(super) watchers: [WaitQueue<Watcher>; 2],
    /// Parties that wait until the channel is closed (CH6).
    pub(super) closing: WaitQueue<()>,
    /// How often watchers have been notified.
    pub(super) notifications: u64,
    /// No more values are admitted.
    pub(super) closed: bool,
    pub(super) reason: Option<Reason>,
    pub(super) senders: usize,
    pub(super) receivers: usize,
}

/// The reason given when the channel was closed.
pub(super) type Reason = Arc<dyn Error + Send + Sync>;

/// The payload of a parked sender, and its state.
pub(super) enum Brought<T> {
    /// A value that has not been taken yet.
    Value(T),
    /// A request for a place in the buffer.
    Request,
    /// The value has been taken, or the place has been granted.
    Done,
}

/// The two sides that can be watched.
#[derive(Debug, Copy, Clone)]
pub(super) enum Side {
    Send,
    Receive,
}

/// A party that waits for readiness.
pub(super) struct Watcher {
    /// The value of `notifications` when the watcher joined.
    pub(super) seen: u64,
    pub(super) ticket: Ticket,
}

/// The result of an attempt to send a value.
pub(super) enum Offer<T> {
    /// A receiver or the buffer has the value.
    Taken(Deferred),
    Full(T),
    Closed(T),
}

/// Work that remains after the lock is released.
#[must_use = "a waiter waits for it"]
#[derive(Default)]
pub(super) struct Deferred {
    pub(super) wake: Option<Wake>,
    /// The side on which watchers must be notified.
    pub(super) notify: Option<Side>,
}

/// Why there is no value to take.
pub(super) enum Dry {
    /// There is none now.
    Empty,
    /// There will never be one.
    Ended,
}

impl<T> Describe for State<T> {
    fn describe(&self) -> ObjectKind {
        ObjectKind::Channel {
            capacity: (self.capacity < usize::MAX).then_some(self.capacity),
            len: self.buffer.len() + self.ahead,
            closed: self.closed,
            sending: self.sending.count(),
            receiving: self.receiving.count(),
        }
    }
}

impl<T> Closing for State<T> {
    fn is_over(&self) -> bool {
        self.closed
    }

    fn closing(&mut self) -> &mut WaitQueue<()> {
        &mut self.closing
    }
}

impl<T> State<T> {
    /// Returns the state of an open channel with one sender and one receiver.
    pub(super) fn new(capacity: Option<usize>) -> Self {
        State {
            capacity: capacity.unwrap_or(usize::MAX),
            buffer: Buffer::new(capacity),
            ahead: 0,
            crowded: 0,
            reserved: 0,
            sending: WaitQueue::new(),
            receiving: WaitQueue::new(),
            watchers: [WaitQueue::new(), WaitQueue::new()],
            closing: WaitQueue::new(),
            notifications: 0,
            closed: false,
            reason: None,
            senders: 1,
            receivers: 1,
        }
    }

    #[inline]
    pub(super) fn has_room(&self) -> bool {
        self.buffer.len() + self.ahead + self.reserved < self.capacity
    }

    /// Returns true if sending a value is a plain push into the buffer.
    #[inline]
    pub(super) fn can_push(&self) -> bool {
        self.has_room()
            && !self.closed
            && self.receiving.is_empty()
            && !self.is_watched(Side::Receive)
    }

    /// Returns true if receiving a value is a plain pop from the buffer.
    #[inline]
    pub(super) fn can_pop(&self) -> bool {
        self.sending.is_empty() && !self.is_watched(Side::Send)
    }

    /// Hands `value` to the first waiting receiver. If there is none, `value` is kept and there is
    /// no wake.
    #[inline]
    pub(super) fn hand_over(&mut self, value: &mut Option<T>) -> Option<Wake> {
        self.receiving.claim_first(|place| *place = value.take())
    }

    /// Hands `value`, which is older than all others, to a waiting receiver. If there is none, it
    /// becomes the next value to be received, even beyond the capacity.
    pub(super) fn put_back(&mut self, value: T) -> Deferred {
        let mut value = Some(value);
        let wake = self.hand_over(&mut value);
        match value {
            None => Deferred { wake, notify: None },
            Some(value) => {
                self.buffer.push_front(value);
                self.changed(Side::Receive)
            }
        }
    }

    /// Returns true if there is nothing to receive now, but there may be later.
    #[inline]
    pub(super) fn is_empty_and_open(&self) -> bool {
        self.buffer.len() == 0 && self.sending.is_empty() && !self.closed
    }

    /// Returns true if a value that is sent goes into the buffer, now or when there is room.
    pub(super) fn may_fill(&self) -> bool {
        self.capacity > 0 && !self.closed && self.receiving.is_empty()
    }

    /// Returns true if no value will ever be added to those in the buffer or parked.
    pub(super) fn has_ended(&self) -> bool {
        self.closed && self.reserved == 0
    }

    #[inline]
    pub(super) fn offer(&mut self, value: T) -> Offer<T> {
        if self.closed {
            return Offer::Closed(value);
        }
        let mut value = Some(value);
        let wake = self.hand_over(&mut value);
        match value {
            None => Offer::Taken(Deferred { wake, notify: None }),
            Some(value) if self.has_room() => {
                self.buffer.push(value);
                Offer::Taken(self.changed(Side::Receive))
            }
            Some(value) => Offer::Full(value),
        }
    }

    /// Stores `value` in a reserved place. If a receiver waits, hands it the value instead, and
    /// grants the place to the first parked sender. Returns the value if no receiver exists.
    pub(super) fn store_reserved(&mut self, value: T) -> Result<[Deferred; 2], T> {
        self.reserved -= 1;
        if self.receivers == 0 {
            return Err(value);
        }
        let mut value = Some(value);
        let wake = self.hand_over(&mut value);
        match value {
            None if mutant!("ordered_place_lost") => {
                Ok([Deferred { wake, notify: None }, Deferred::default()])
            }
            None => Ok([Deferred { wake, notify: None }, self.make_room()]),
            Some(value) => {
                self.buffer.push(value);
                Ok([self.changed(Side::Receive), Deferred::default()])
            }
        }
    }

    /// Called after a value left: admits the first parked sender, or returns the watchers to
    /// notify. If a value has been put back, there may be no room.
    fn make_room(&mut self) -> Deferred {
        let wake = if self.sending.is_empty() || !self.has_room() {
            None
        } else {
            self.admit()
        };
        if wake.is_some() {
            return Deferred { wake, notify: None };
        }
        let mut after = self.changed(Side::Send);
        if after.notify.is_some() && !self.has_room() {
            after.notify = None;
        }
        after
    }

    /// Takes the next value; `Err` says whether there will ever be one.
    #[inline]
    pub(super) fn take(&mut self) -> Result<(T, Deferred), Dry> {
        match self.buffer.pop() {
            Some(value) => Ok((value, self.make_room())),
            None => self.take_parked(),
        }
    }

    /// Takes the value of a parked sender; the buffer is empty.
    #[inline]
    pub(super) fn take_parked(&mut self) -> Result<(T, Deferred), Dry> {
        let mut next = None;
        let wake = self.sending.claim_first_if(Brought::is_value, |brought| {
            next = brought.take();
        });
        match next {
            Some(value) => Ok((value, Deferred { wake, notify: None })),
            None if self.has_ended() => Err(Dry::Ended),
            None => Err(Dry::Empty),
        }
    }

    /// Admits the first parked sender into the free place.
    fn admit(&mut self) -> Option<Wake> {
        let (mut value, mut granted) = (None, 0);
        let wake = self.sending.claim_first(|brought| match brought.take() {
            None => granted = 1,
            some => value = some,
        });
        self.reserved += granted;
        if let Some(value) = value {
            self.buffer.push(value);
        }
        wake
    }

    /// Ends one parked send after a close. With a buffer the value counts as admitted and will be
    /// received. On a rendezvous channel its sender gets it back. A request for a place is refused.
    pub(super) fn admit_parked(&mut self) -> Option<Wake> {
        let admits = self.capacity > 0 && self.receivers > 0;
        let mut value = None;
        let wake = self.sending.claim_first(|brought| {
            if admits && brought.is_value() {
                value = brought.take();
            }
        });
        if let Some(value) = value {
            self.buffer.push(value);
        }
        wake
    }

    /// Returns the notification owed to watchers of `side`, on which an operation has just become
    /// possible.
    #[inline]
    pub(super) fn changed(&self, side: Side) -> Deferred {
        Deferred {
            wake: None,
            notify: self.is_watched(side).then_some(side),
        }
    }

    #[inline]
    pub(super) fn is_watched(&self, side: Side) -> bool {
        !self.watchers[side as usize].is_empty()
    }

    /// Returns whether another party than that of `ticket` watches `side`.
    pub(super) fn is_watched_by_other(&self, side: Side, ticket: Ticket) -> bool {
        self.watchers[side as usize].has_other(Some(ticket), |_| true)
    }

    /// Returns whether a send by the party of `ticket` would not wait.
    pub(super) fn may_send(&self, ticket: Option<Ticket>) -> bool {
        self.closed || self.has_room() || self.receiving.has_other(ticket, |_| true)
    }

    /// Returns whether a receive by the party of `ticket` would not wait.
    pub(super) fn may_receive(&self, ticket: Option<Ticket>) -> bool {
        self.buffer.len() + self.ahead > 0
            || self.has_ended()
            || self.sending.has_other(ticket, Brought::is_value)
    }
}

impl Watcher {
    /// Returns whether this watcher must be notified by the call that counted `notifications` up to
    /// `limit`. The party of `ticket` itself is excluded.
    pub(super) fn is_due(&self, limit: u64, ticket: Option<Ticket>) -> bool {
        let own = ticket.is_some_and(|own| own.fiber() == self.ticket.fiber());
        self.seen < limit && !own
    }
}

impl<T> Brought<T> {
    pub(super) fn is_value(&self) -> bool {
        matches!(self, Brought::Value(_))
    }

    pub(super) fn into_value(mut self) -> Option<T> {
        self.take()
    }

    /// Takes the value if there is one, and marks the request as done.
    pub(super) fn take(&mut self) -> Option<T> {
        match mem::replace(self, Brought::Done) {
            Brought::Value(value) => Some(value),
            Brought::Request | Brought::Done => None,
        }
    }
}
