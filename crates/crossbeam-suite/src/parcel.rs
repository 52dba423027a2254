//! What travels through pirn's channels: values, and promises of values.
//!
//! A chosen send has taken effect before its value is known. It sends the receiving end of a
//! channel for that one value; whoever gets it waits there, for no longer than the other side
//! takes to go on from `select` to `send`.

use pirn::channel::{Receiver, Sender, bounded};

/// A value, now or in a moment.
#[derive(Debug)]
pub(crate) enum Parcel<T> {
    Now(T),
    Later(Receiver<T>),
}

impl<T> Parcel<T> {
    /// A promise, and the end to keep it through.
    pub(crate) fn promise() -> (Sender<T>, Parcel<T>) {
        let (sender, receiver) = bounded(1);
        (sender, Parcel::Later(receiver))
    }

    /// The value.
    ///
    /// # Panics
    /// If the other side has panicked before it gave the value.
    pub(crate) fn open(self) -> T {
        match self {
            Parcel::Now(value) => value,
            Parcel::Later(value) => value.recv().expect("a promise that is kept"),
        }
    }

    /// The value of a parcel that was just made and has come back.
    pub(crate) fn unsent(self) -> T {
        match self {
            Parcel::Now(value) => value,
            Parcel::Later(_) => unreachable!("promises are sent by selects only"),
        }
    }
}
