//! The sending end of a channel.

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::time::{Duration, Instant};

use pirn::channel::{self as pirn_channel, ReadyCase, SendCase};
use pirn::select::Case;

use crate::error::{SendError, SendTimeoutError, TrySendError};
use crate::fibers::polled;
use crate::kept::{Id, Kept};
use crate::parcel::Parcel;
use crate::select::{Operation, SelectHandle};

/// The sending end of a channel.
pub struct Sender<T> {
    sender: pirn_channel::Sender<Parcel<T>>,
    /// The ends of promises that chosen sends have made; none if the channel is closed.
    kept: Kept<Option<pirn_channel::Sender<T>>>,
}

impl<T> Sender<T> {
    pub(crate) fn new(sender: pirn_channel::Sender<Parcel<T>>) -> Self {
        Sender {
            sender,
            kept: Kept::new(),
        }
    }

    /// Sends `value`, waiting for room or for a receiver.
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        let sent = self.sender.send(Parcel::Now(value));
        sent.map_err(|error| SendError(error.into_inner().unsent()))
    }

    /// Sends `value` if that is possible without waiting.
    pub fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        let sent = self.sender.try_send(Parcel::Now(value));
        sent.map_err(|error| match error {
            pirn_channel::TrySendError::Full(value) => {
                polled();
                TrySendError::Full(value.unsent())
            }
            pirn_channel::TrySendError::Disconnected(value) => {
                TrySendError::Disconnected(value.unsent())
            }
        })
    }

    /// Sends `value`, waiting no longer than `timeout`.
    pub fn send_timeout(
        &self,
        value: T,
        timeout: Duration,
    ) -> Result<(), SendTimeoutError<T>> {
        timed(self.sender.send_timeout(Parcel::Now(value), timeout))
    }

    /// Sends `value`, waiting no longer than until `deadline`.
    pub fn send_deadline(
        &self,
        value: T,
        deadline: Instant,
    ) -> Result<(), SendTimeoutError<T>> {
        timed(self.sender.send_deadline(Parcel::Now(value), deadline))
    }

    /// Supplies the value of the chosen send `id`.
    pub(crate) fn finish(&self, id: Id, value: T) -> Result<(), SendError<T>> {
        match self.kept.take(id) {
            // If the receivers have been dropped meanwhile, the value is not needed.
            Some(promise) => promise.try_send(value).or(Ok(())),
            None => Err(SendError(value)),
        }
    }

    /// Returns true if the channel is empty.
    pub fn is_empty(&self) -> bool {
        self.sender.is_empty()
    }

    /// Returns true if the channel is full.
    pub fn is_full(&self) -> bool {
        self.sender.is_full()
    }

    /// Returns how many values the channel holds.
    pub fn len(&self) -> usize {
        self.sender.len()
    }

    /// Returns how many values the channel can hold.
    pub fn capacity(&self) -> Option<usize> {
        self.sender.capacity()
    }

    /// Returns true if `other` sends to the same channel.
    pub fn same_channel(&self, other: &Sender<T>) -> bool {
        self.sender.same_channel(&other.sender)
    }
}

impl<T> SelectHandle for Sender<T> {
    fn operation(&self) -> Box<dyn Operation + '_> {
        let (promise, parcel) = Parcel::promise();
        Box::new(Sending {
            case: self.sender.send_case(parcel),
            promise,
            kept: &self.kept,
        })
    }

    fn ready_case(&self) -> ReadyCase<'_> {
        self.sender.ready_case()
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Sender::new(self.sender.clone())
    }
}

impl<T> UnwindSafe for Sender<T> {}
impl<T> RefUnwindSafe for Sender<T> {}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Sender { .. }")
    }
}

/// A send that may be chosen.
struct Sending<'a, T> {
    case: SendCase<'a, Parcel<T>>,
    promise: pirn_channel::Sender<T>,
    kept: &'a Kept<Option<pirn_channel::Sender<T>>>,
}

impl<T> Operation for Sending<'_, T> {
    fn case(&mut self) -> &mut dyn Case {
        &mut self.case
    }

    fn keep(mut self: Box<Self>, id: Id) {
        let sent = self.case.take().is_ok();
        self.kept.put(id, sent.then_some(self.promise));
    }
}

fn timed<T>(
    sent: Result<(), pirn_channel::SendTimeoutError<Parcel<T>>>,
) -> Result<(), SendTimeoutError<T>> {
    sent.map_err(|error| match error {
        pirn_channel::SendTimeoutError::Timeout(value) => {
            SendTimeoutError::Timeout(value.unsent())
        }
        error => SendTimeoutError::Disconnected(error.into_inner().unsent()),
    })
}
