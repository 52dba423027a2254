//! The messages in pirn's channels: values, and promises of values.
//!
//! A chosen send has taken effect before its value is known. It sends the receiving end of a
//! channel for that one value. The receiver of the parcel waits there, for no longer than the other
//! side takes from `select` to `send`.

use pirn::channel::{Receiver, Sender, bounded};

/// A value, or the promise of one.
#[derive(Debug)]
pub(crate) enum Parcel<T> {
    Now(T),
    Later(Receiver<T>),
}

impl<T> Parcel<T> {
    /// Returns a promise, and the end to fulfil it.
    pub(crate) fn promise() -> (Sender<T>, Parcel<T>) {
        let (sender, receiver) = bounded(1);
        (sender, Parcel::Later(receiver))
    }

    /// Returns the value.
    ///
    /// # Panics
    /// If the other side has panicked before it sent the value.
    pub(crate) fn open(self) -> T {
        match self {
            Parcel::Now(value) => value,
            Parcel::Later(value) => value.recv().expect("a promise that is kept"),
        }
    }

    /// Returns the value of a parcel that was just created and has been returned.
    pub(crate) fn unsent(self) -> T {
        match self {
            Parcel::Now(value) => value,
            Parcel::Later(_) => unreachable!("promises are sent by selects only"),
        }
    }
}
