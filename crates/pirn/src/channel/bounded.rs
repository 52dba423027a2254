//! The bounded channel itself: a buffer, two wait queues and the end, under one short lock.
//!
//! Owns: every rule about where a value goes. Does not own: handles (`sender`, `receiver`)
//! or the shape of errors.
//!
//! | sender finds | does | | receiver finds | does |
//! |---|---|---|---|---|
//! | closed | gives the value back | | a buffered value | takes it, moves the first parked sender's value in |
//! | a parked receiver | hands it over | | a parked sender (capacity 0) | takes its value |
//! | room | buffers it | | closed | reports it |
//! | neither | parks with it | | neither | parks |
//!
//! # Invariants
//! * CH1. A receiver waits only while the buffer is empty and no sender waits; a sender waits
//!   only while the buffer is full and no receiver waits. (A waiter whose wait has ended but
//!   who has not left the queue yet does not wait.) So handing over to a parked receiver
//!   overtakes nobody, and values keep their order.
//! * CH2. A value lies in one place: with its sender, in the sender's waiter, in the buffer,
//!   in a receiver's waiter, or with its receiver. It moves between them under the lock, and
//!   into or out of a waiter only by the party that claimed it.
//! * CH3. Once `closed` is set, nobody joins a queue, and the buffer takes in only what was
//!   parked before: an admission and a close are ordered by the lock.
//! * CH4. A value is dropped and a fiber enqueued only while the lock is free.

use std::collections::VecDeque;
use std::fmt;
use std::mem;
use std::sync::Arc;
use std::time::Instant;

use super::error::{RecvTimeoutError, SendTimeoutError, TryRecvError, TrySendError};
use super::receiver::Receiver;
use super::sender::Sender;
use crate::fiber::ticket::Wake;
use crate::fiber::waiter::WaitQueue;
use crate::shim::Lock;
use crate::wait::{
    Attempt, How, Reason, Spec, Waited, interrupted, spend, wait_in, wake_all,
};

/// Opens a channel that holds up to `capacity` values.
///
/// With capacity 0, a send ends when a receiver has taken the value (a rendezvous). Room for
/// `capacity` values, but for 1024 at most, is allocated at once; a larger buffer grows as it
/// fills.
///
/// # Panics
/// If so many values of `T` do not fit into the address space.
///
/// # Cancellation
/// Not an interruption point; never suspends.
///
/// # Examples
/// ```
/// let (tx, rx) = pirn::channel::bounded(2);
/// tx.send("a").unwrap();
/// tx.send("b").unwrap();
/// assert!(tx.try_send("c").is_err());
/// drop(tx);
/// assert_eq!(rx.iter().collect::<Vec<_>>(), ["a", "b"]);
/// ```
pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let channel = Arc::new(Bounded::new(capacity));
    (Sender::new(Arc::clone(&channel)), Receiver::new(channel))
}

/// What both ends share.
pub(super) struct Bounded<T> {
    capacity: usize,
    state: Lock<State<T>>,
}

struct State<T> {
    /// Beyond the capacity only after a close, by the values of senders parked then.
    buffer: VecDeque<T>,
    /// Parked senders, each with the value it brought.
    sending: WaitQueue<Option<T>>,
    /// Parked receivers, each with the place for a value.
    receiving: WaitQueue<Option<T>>,
    /// Nothing is admitted any more.
    closed: bool,
    senders: usize,
    receivers: usize,
}

/// What became of a value that was offered.
enum Offer<T> {
    /// A receiver has it, or the buffer.
    Taken(Option<Wake>),
    Full(T),
    Closed(T),
}

impl<T> Bounded<T> {
    fn new(capacity: usize) -> Self {
        let state = State {
            buffer: VecDeque::with_capacity(capacity.min(PREALLOCATED)),
            sending: WaitQueue::new(),
            receiving: WaitQueue::new(),
            closed: false,
            senders: 1,
            receivers: 1,
        };
        Bounded {
            capacity,
            state: Lock::new(state),
        }
    }

    pub(super) fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        let offer = self.state.lock().offer(value, self.capacity);
        match offer {
            Offer::Taken(wake) => enqueue(wake),
            Offer::Full(value) => return Err(TrySendError::Full(value)),
            Offer::Closed(value) => return Err(TrySendError::Disconnected(value)),
        }
        Ok(())
    }

    /// Sends `value`, waiting for room or for a receiver until `deadline`.
    pub(super) fn send(
        &self,
        value: T,
        deadline: Option<Instant>,
    ) -> Result<(), SendTimeoutError<T>> {
        spend();
        if let Some(interrupt) = interrupted() {
            return Err(SendTimeoutError::Interrupted(value, interrupt));
        }
        let spec = Spec::interruptible(Reason::Send).until(deadline);
        let waited = wait_in(
            &self.state,
            |state| &mut state.sending,
            &spec,
            |state| match state.offer(value, self.capacity) {
                Offer::Taken(wake) => Attempt::Done(Ok(wake)),
                Offer::Closed(value) => Attempt::Done(Err(value)),
                Offer::Full(value) => Attempt::Wait(Some(value)),
            },
        );
        match waited {
            Waited::Done(Ok(wake)) => enqueue(wake),
            Waited::Done(Err(value)) => {
                return Err(SendTimeoutError::Disconnected(value));
            }
            // CH2: whoever took the value has claimed the wait, however it looks from here.
            Waited::Ended(_, None) => {}
            Waited::Ended(how, Some(value)) => {
                return Err(match how {
                    How::TimedOut => SendTimeoutError::Timeout(value),
                    How::Interrupted(interrupt) => {
                        SendTimeoutError::Interrupted(value, interrupt)
                    }
                    How::Woken(_) | How::Token => SendTimeoutError::Disconnected(value),
                });
            }
        }
        Ok(())
    }

    pub(super) fn try_recv(&self) -> Result<T, TryRecvError> {
        let taken = self.state.lock().take();
        let (value, wake) = taken?;
        enqueue(wake);
        Ok(value)
    }

    /// Receives a value, waiting for one until `deadline`.
    pub(super) fn recv(&self, deadline: Option<Instant>) -> Result<T, RecvTimeoutError> {
        spend();
        if let Some(interrupt) = interrupted() {
            return Err(RecvTimeoutError::Interrupted(interrupt));
        }
        let spec = Spec::interruptible(Reason::Recv).until(deadline);
        let waited = wait_in(
            &self.state,
            |state| &mut state.receiving,
            &spec,
            |state| match state.take() {
                Ok(taken) => Attempt::Done(Some(taken)),
                Err(TryRecvError::Disconnected) => Attempt::Done(None),
                Err(TryRecvError::Empty) => Attempt::Wait(None),
            },
        );
        match waited {
            Waited::Done(Some((value, wake))) => {
                enqueue(wake);
                Ok(value)
            }
            Waited::Ended(_, Some(value)) => Ok(value),
            Waited::Done(None) => Err(RecvTimeoutError::Disconnected),
            Waited::Ended(how, None) => Err(match how {
                How::TimedOut => RecvTimeoutError::Timeout,
                How::Interrupted(interrupt) => RecvTimeoutError::Interrupted(interrupt),
                How::Woken(_) | How::Token => RecvTimeoutError::Disconnected,
            }),
        }
    }

    /// Ends admission; true for the one call that did it.
    pub(super) fn close(&self) -> bool {
        if mem::replace(&mut self.state.lock().closed, true) {
            return false;
        }
        wake_all(&self.state, |state| state.admit_parked(self.capacity));
        wake_all(&self.state, |state| state.receiving.claim_first(|_| ()));
        true
    }

    pub(super) fn add_sender(&self) {
        self.state.lock().senders += 1;
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
            self.close();
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
        state.closed = true;
        let unreceived = mem::take(&mut state.buffer);
        drop(state);
        wake_all(&self.state, |state| state.sending.claim_first(|_| ()));
        drop(unreceived);
    }

    pub(super) fn is_closed(&self) -> bool {
        self.state.lock().closed
    }

    pub(super) fn len(&self) -> usize {
        self.state.lock().buffer.len()
    }

    pub(super) fn is_full(&self) -> bool {
        self.len() >= self.capacity
    }

    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }
}

impl<T> State<T> {
    fn offer(&mut self, value: T, capacity: usize) -> Offer<T> {
        if self.closed {
            return Offer::Closed(value);
        }
        let mut value = Some(value);
        let wake = self.receiving.claim_first(|place| *place = value.take());
        match value {
            None => Offer::Taken(wake),
            Some(value) if self.buffer.len() < capacity => {
                self.buffer.push_back(value);
                Offer::Taken(None)
            }
            Some(value) => Offer::Full(value),
        }
    }

    fn take(&mut self) -> Result<(T, Option<Wake>), TryRecvError> {
        let first = self.buffer.pop_front();
        let mut next = None;
        let wake = self.sending.claim_first(|brought| next = brought.take());
        match (first, next) {
            (Some(first), next) => {
                self.buffer.extend(next);
                Ok((first, wake))
            }
            (None, Some(next)) => Ok((next, wake)),
            (None, None) if self.closed => Err(TryRecvError::Disconnected),
            (None, None) => Err(TryRecvError::Empty),
        }
    }

    /// Ends one parked send after a close. On a channel with a buffer the value counts as
    /// admitted and will be received; on a rendezvous channel its sender gets it back.
    fn admit_parked(&mut self, capacity: usize) -> Option<Wake> {
        let admits = capacity > 0 && self.receivers > 0;
        let buffer = &mut self.buffer;
        self.sending.claim_first(|brought| {
            if admits {
                buffer.extend(brought.take());
            }
        })
    }
}

impl<T> fmt::Debug for Bounded<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bounded")
            .field("capacity", &self.capacity)
            .finish_non_exhaustive()
    }
}

fn enqueue(wake: Option<Wake>) {
    if let Some(wake) = wake {
        wake.enqueue();
    }
}

/// A buffer of up to so many values is allocated at once, a larger one as it fills: large
/// capacities are mostly bounds that nobody expects to reach. Arbitrary.
const PREALLOCATED: usize = 1024;
