//! Where a value goes: the rules of a channel, under its lock.
//!
//! Owns: every transition of what the two ends share. Does not own: the lock, and what is to be
//! done when it is free (`pipe`), or waiting (`sending`, `receiving`, `case`).
//!
//! | sender finds | does | | receiver finds | does |
//! |---|---|---|---|---|
//! | closed | gives the value back | | a buffered value | takes it, moves the first parked sender's value in |
//! | a parked receiver | hands it over | | a parked sender (capacity 0) | takes its value |
//! | room | buffers it | | closed | reports it |
//! | neither | parks with it | | neither | parks |
//!
//! A party that has a ticket out, because it is about to park on several channels at once,
//! only looks (`may_send`, `may_receive`); it completes nobody (`wait::choice`).
//!
//! # Invariants
//! * CH1. A receiver waits only while the buffer is empty and no sender waits; a sender waits
//!   only while the buffer is full and no receiver waits. (A waiter whose wait has ended but
//!   who has not left the queue yet does not wait; who waits to send and to receive in one
//!   choice does not count against itself.) So handing over to a parked receiver overtakes
//!   nobody, and values keep their order.
//! * CH2. A value lies in one place: with its sender, in the sender's waiter, in the buffer,
//!   in a receiver's waiter, or with its receiver. It moves between them under the lock, and
//!   into or out of a waiter only by the party that claimed it.
//! * CH3. Once `closed` is set, no sender joins a queue, and the buffer takes in only what
//!   was parked or reserved before: an admission and a close are ordered by the lock. Once
//!   nothing is reserved either, no receiver joins.
//! * CH4. A value is dropped and a fiber enqueued only while the lock is free.
//! * CH5. Who waits for readiness only (`watchers`) is told of every event that makes the
//!   channel ready, and has no claim on what it is told of.

use std::error::Error;
use std::mem;
use std::sync::Arc;

use super::buffer::Buffer;
use crate::fiber::Ticket;
use crate::fiber::ticket::Wake;
use crate::fiber::waiter::WaitQueue;
use crate::wait::object::{Describe, ObjectKind};

/// What the lock guards.
pub(super) struct State<T> {
    capacity: usize,
    /// Beyond the capacity only after a close, by the values of senders parked then, and by values
    /// that were put back.
    pub(super) buffer: Buffer<T>,
    /// At least as many values as are at the exit, and count as buffered.
    pub(super) ahead: usize,
    /// Receives that are still to empty the buffer, because threads have met here lately. If
    /// 0, there is nothing at the exit, and `ahead` is 0.
    pub(super) crowded: u8,
    /// Places in the buffer that are promised and not filled yet.
    pub(super) reserved: usize,
    /// Parked senders, each with what it brought.
    pub(super) sending: WaitQueue<Brought<T>>,
    /// Parked receivers, each with the place for a value.
    pub(super) receiving: WaitQueue<Option<T>>,
    /// Who waits until sending, or receiving, would not wait (CH5).
    pub(super) watchers: [WaitQueue<Watcher>; 2],
    /// How often watchers have been told.
    pub(super) told: u64,
    /// Nothing is admitted any more.
    pub(super) closed: bool,
    pub(super) reason: Option<Reason>,
    pub(super) senders: usize,
    pub(super) receivers: usize,
}

/// Why a channel was closed, in the closer's words.
pub(super) type Reason = Arc<dyn Error + Send + Sync>;

/// What a parked sender came with, and what has become of it.
pub(super) enum Brought<T> {
    /// A value, not taken yet.
    Value(T),
    /// The wish for a place in the buffer.
    Wish,
    /// The value has been taken, or the place granted.
    Done,
}

/// The two sides that one can watch.
#[derive(Debug, Copy, Clone)]
pub(super) enum Side {
    Send,
    Receive,
}

/// Who watches.
pub(super) struct Watcher {
    /// The value of `told` when it came.
    pub(super) seen: u64,
    pub(super) ticket: Ticket,
}

/// What became of a value that was offered.
pub(super) enum Offer<T> {
    /// A receiver has it, or the buffer.
    Taken(After),
    Full(T),
    Closed(T),
}

/// What is left to do once the lock is free.
#[must_use = "somebody waits for it"]
#[derive(Default)]
pub(super) struct After {
    pub(super) wake: Option<Wake>,
    /// The side whose watchers are to be told.
    pub(super) tell: Option<Side>,
}

/// Why there is nothing to take.
pub(super) enum Dry {
    /// Nothing now.
    Empty,
    /// Nothing ever.
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

impl<T> State<T> {
    /// The state of an open channel with one sender and one receiver.
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
            told: 0,
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

    /// A value that is sent goes into the buffer, and that is all.
    #[inline]
    pub(super) fn just_takes(&self) -> bool {
        self.has_room()
            && !self.closed
            && self.receiving.is_empty()
            && !self.is_watched(Side::Receive)
    }

    /// A value that is received comes out of the buffer, and that is all.
    #[inline]
    pub(super) fn just_gives(&self) -> bool {
        self.sending.is_empty() && !self.is_watched(Side::Send)
    }

    /// Hands `value` to the first receiver that waits; else it stays, and there is no wake.
    #[inline]
    pub(super) fn hand_over(&mut self, value: &mut Option<T>) -> Option<Wake> {
        self.receiving.claim_first(|place| *place = value.take())
    }

    /// Hands `value`, which is older than all others, to a receiver that waits; else it is the
    /// next to be received, though there be no room.
    pub(super) fn put_back(&mut self, value: T) -> After {
        let mut value = Some(value);
        let wake = self.hand_over(&mut value);
        match value {
            None => After { wake, tell: None },
            Some(value) => {
                self.buffer.push_front(value);
                self.changed(Side::Receive)
            }
        }
    }

    /// There is nothing to receive, and there may be something later.
    #[inline]
    pub(super) fn is_dry(&self) -> bool {
        self.buffer.len() == 0 && self.sending.is_empty() && !self.closed
    }

    /// What is sent goes into the buffer, now or when there is room.
    pub(super) fn may_fill(&self) -> bool {
        self.capacity > 0 && !self.closed && self.receiving.is_empty()
    }

    /// Nothing will ever be added to what is in the buffer or parked.
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
            None => Offer::Taken(After { wake, tell: None }),
            Some(value) if self.has_room() => {
                self.buffer.push(value);
                Offer::Taken(self.changed(Side::Receive))
            }
            Some(value) => Offer::Full(value),
        }
    }

    /// Puts `value` into a place that was reserved, or hands it to a receiver that waits, and
    /// lets the first parked sender have the place then. Comes back if nobody can receive it.
    pub(super) fn fulfil(&mut self, value: T) -> Result<[After; 2], T> {
        self.reserved -= 1;
        if self.receivers == 0 {
            return Err(value);
        }
        let mut value = Some(value);
        let wake = self.hand_over(&mut value);
        match value {
            None => Ok([After { wake, tell: None }, self.make_room()]),
            Some(value) => {
                self.buffer.push(value);
                Ok([self.changed(Side::Receive), After::default()])
            }
        }
    }

    /// There is one value less: lets the first parked sender have its room, or tells of it. If a
    /// value has been put back there may be none.
    fn make_room(&mut self) -> After {
        let wake = if self.sending.is_empty() || !self.has_room() {
            None
        } else {
            self.admit()
        };
        if wake.is_some() {
            return After { wake, tell: None };
        }
        self.changed(Side::Send)
    }

    /// Takes the next value; `Err` says whether there will ever be one.
    #[inline]
    pub(super) fn take(&mut self) -> Result<(T, After), Dry> {
        match self.buffer.pop() {
            Some(value) => Ok((value, self.make_room())),
            None => self.take_parked(),
        }
    }

    /// Takes the value of a parked sender; the buffer is empty.
    #[inline]
    pub(super) fn take_parked(&mut self) -> Result<(T, After), Dry> {
        let mut next = None;
        let wake = self.sending.claim_first_if(Brought::is_value, |brought| {
            next = brought.take();
        });
        match next {
            Some(value) => Ok((value, After { wake, tell: None })),
            None if self.has_ended() => Err(Dry::Ended),
            None => Err(Dry::Empty),
        }
    }

    /// Lets the first parked sender have the room that has come up.
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

    /// Ends one parked send after a close. On a channel with a buffer the value counts as
    /// admitted and will be received; on a rendezvous channel its sender gets it back, as
    /// does who has wished for a place.
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

    /// What is owed to those who watch `side`, which something has just become possible on.
    #[inline]
    pub(super) fn changed(&self, side: Side) -> After {
        After {
            wake: None,
            tell: self.is_watched(side).then_some(side),
        }
    }

    #[inline]
    pub(super) fn is_watched(&self, side: Side) -> bool {
        !self.watchers[side as usize].is_empty()
    }

    /// Whether anybody but the party with `ticket` watches `side`.
    pub(super) fn is_watched_by_other(&self, side: Side, ticket: Ticket) -> bool {
        self.watchers[side as usize].has_other(Some(ticket), |_| true)
    }

    /// Whether a send would not wait, as far as the party with `ticket` is concerned.
    pub(super) fn may_send(&self, ticket: Option<Ticket>) -> bool {
        self.closed || self.has_room() || self.receiving.has_other(ticket, |_| true)
    }

    /// Whether a receive would not wait, as far as the party with `ticket` is concerned.
    pub(super) fn may_receive(&self, ticket: Option<Ticket>) -> bool {
        self.buffer.len() + self.ahead > 0
            || self.has_ended()
            || self.sending.has_other(ticket, Brought::is_value)
    }
}

impl Watcher {
    /// Whether it is to be told by the call that has counted `told` up to `limit`; not, if it
    /// is the party with `ticket`.
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

    /// The value, if it was one; what was brought is done with.
    pub(super) fn take(&mut self) -> Option<T> {
        match mem::replace(self, Brought::Done) {
            Brought::Value(value) => Some(value),
            Brought::Wish | Brought::Done => None,
        }
    }
}
