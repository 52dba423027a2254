//! The receiving end of a channel.

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::time::{Duration, Instant};

use pirn::channel::{self as pirn_channel, ReadyCase, RecvCase};
use pirn::select::Case;

use crate::error::{RecvError, RecvTimeoutError, TryRecvError};
use crate::fibers::polled;
use crate::iter::{IntoIter, Iter, TryIter};
use crate::kept::{Id, Kept};
use crate::parcel::Parcel;
use crate::select::{Operation, SelectHandle};

/// The receiving end of a channel.
pub struct Receiver<T> {
    source: Source<T>,
    /// The values of chosen receives.
    kept: Kept<Result<Parcel<T>, RecvError>>,
}

/// The source of values. Timer channels send no parcels.
enum Source<T> {
    Senders(pirn_channel::Receiver<Parcel<T>>),
    Clock(pirn_channel::Receiver<Instant>, fn(Instant) -> T),
    Never(pirn_channel::Receiver<Parcel<T>>),
}

impl<T> Receiver<T> {
    pub(crate) fn new(receiver: pirn_channel::Receiver<Parcel<T>>) -> Self {
        Receiver::of(Source::Senders(receiver))
    }

    pub(crate) fn never() -> Self {
        Receiver::of(Source::Never(pirn_channel::never()))
    }

    fn of(source: Source<T>) -> Self {
        Receiver {
            source,
            kept: Kept::new(),
        }
    }

    /// Receives the next value, waiting for it.
    pub fn recv(&self) -> Result<T, RecvError> {
        let received = match &self.source {
            Source::Senders(rx) | Source::Never(rx) => rx.recv().map(Parcel::open),
            Source::Clock(rx, value) => rx.recv().map(value),
        };
        received.map_err(|_| RecvError)
    }

    /// Receives the next value if there is one.
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        let received = match &self.source {
            Source::Senders(rx) | Source::Never(rx) => rx.try_recv().map(Parcel::open),
            Source::Clock(rx, value) => rx.try_recv().map(value),
        };
        received.map_err(|error| match error {
            pirn_channel::TryRecvError::Empty => {
                polled();
                TryRecvError::Empty
            }
            pirn_channel::TryRecvError::Disconnected => TryRecvError::Disconnected,
        })
    }

    /// Receives the next value, waiting no longer than `timeout`.
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        let received = match &self.source {
            Source::Senders(rx) | Source::Never(rx) => {
                rx.recv_timeout(timeout).map(Parcel::open)
            }
            Source::Clock(rx, value) => rx.recv_timeout(timeout).map(value),
        };
        received.map_err(timed)
    }

    /// Receives the next value, waiting no longer than until `deadline`.
    pub fn recv_deadline(&self, deadline: Instant) -> Result<T, RecvTimeoutError> {
        let received = match &self.source {
            Source::Senders(rx) | Source::Never(rx) => {
                rx.recv_deadline(deadline).map(Parcel::open)
            }
            Source::Clock(rx, value) => rx.recv_deadline(deadline).map(value),
        };
        received.map_err(timed)
    }

    /// Takes the value of the chosen receive `id`.
    pub(crate) fn finish(&self, id: Id) -> Result<T, RecvError> {
        self.kept.take(id).map(Parcel::open)
    }

    /// Receives until the channel is closed and drained.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter::new(self)
    }

    /// Receives while the channel is not empty.
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter::new(self)
    }

    /// Returns true if the channel is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns true if the channel is full.
    pub fn is_full(&self) -> bool {
        match &self.source {
            Source::Senders(rx) | Source::Never(rx) => rx.is_full(),
            Source::Clock(rx, _) => rx.is_full(),
        }
    }

    /// Returns how many values the channel holds.
    pub fn len(&self) -> usize {
        match &self.source {
            Source::Senders(rx) | Source::Never(rx) => rx.len(),
            Source::Clock(rx, _) => rx.len(),
        }
    }

    /// Returns how many values the channel can hold.
    pub fn capacity(&self) -> Option<usize> {
        match &self.source {
            Source::Senders(rx) | Source::Never(rx) => rx.capacity(),
            Source::Clock(rx, _) => rx.capacity(),
        }
    }

    /// Returns true if `other` receives from the same channel. All channels on which nothing
    /// arrives count as the same.
    pub fn same_channel(&self, other: &Receiver<T>) -> bool {
        match (&self.source, &other.source) {
            (Source::Senders(one), Source::Senders(other)) => one.same_channel(other),
            (Source::Clock(one, _), Source::Clock(other, _)) => one.same_channel(other),
            (Source::Never(_), Source::Never(_)) => true,
            _ => false,
        }
    }
}

impl Receiver<Instant> {
    pub(crate) fn clock(receiver: pirn_channel::Receiver<Instant>) -> Self {
        Receiver::of(Source::Clock(receiver, |instant| instant))
    }
}

impl<T> SelectHandle for Receiver<T> {
    fn operation(&self) -> Box<dyn Operation + '_> {
        let kept = &self.kept;
        match &self.source {
            Source::Senders(rx) | Source::Never(rx) => Box::new(Receiving {
                case: rx.recv_case(),
                value: |parcel| parcel,
                kept,
            }),
            Source::Clock(rx, value) => Box::new(Receiving {
                case: rx.recv_case(),
                value: |instant| Parcel::Now(value(instant)),
                kept,
            }),
        }
    }

    fn ready_case(&self) -> ReadyCase<'_> {
        match &self.source {
            Source::Senders(rx) | Source::Never(rx) => rx.ready_case(),
            Source::Clock(rx, _) => rx.ready_case(),
        }
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        Receiver::of(match &self.source {
            Source::Senders(rx) => Source::Senders(rx.clone()),
            Source::Clock(rx, value) => Source::Clock(rx.clone(), *value),
            Source::Never(rx) => Source::Never(rx.clone()),
        })
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter::new(self)
    }
}

impl<'a, T> IntoIterator for &'a Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T> UnwindSafe for Receiver<T> {}
impl<T> RefUnwindSafe for Receiver<T> {}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Receiver { .. }")
    }
}

/// A receive that may be chosen.
struct Receiving<'a, T, S, V> {
    case: RecvCase<'a, S>,
    /// Converts the received value to a parcel.
    value: V,
    kept: &'a Kept<Result<Parcel<T>, RecvError>>,
}

impl<T, S, V: Fn(S) -> Parcel<T>> Operation for Receiving<'_, T, S, V> {
    fn case(&mut self) -> &mut dyn Case {
        &mut self.case
    }

    fn keep(mut self: Box<Self>, id: Id) {
        let received = self.case.take().map(self.value);
        self.kept.put(id, received.map_err(|_| RecvError));
    }
}

fn timed(error: pirn_channel::RecvTimeoutError) -> RecvTimeoutError {
    if error.is_timeout() {
        RecvTimeoutError::Timeout
    } else {
        RecvTimeoutError::Disconnected
    }
}
