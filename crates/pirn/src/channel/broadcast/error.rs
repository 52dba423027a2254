//! Why a receive from a broadcast channel failed.

use std::error::Error;
use std::fmt;
use std::io;

use crate::wait::Interrupt;

/// An error returned from a receive without a time limit, such as [`recv`](super::Receiver::recv).
///
/// # Examples
/// ```
/// use pirn::channel::broadcast::{self, RecvError};
///
/// let (tx, mut rx) = broadcast::channel(1);
/// tx.send("evicted").unwrap();
/// tx.send("kept").unwrap();
/// match rx.recv() {
///     Err(RecvError::Lagged(missed)) => assert_eq!(missed, 1),
///     other => panic!("{other:?}"),
/// }
/// assert_eq!(rx.recv(), Ok("kept"));
/// ```
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum RecvError {
    /// All senders have been dropped, or the channel is closed, and all values have been received.
    Disconnected,
    /// This receiver missed the given number of values, which were evicted by later ones. The next
    /// receive returns the oldest value that is still kept.
    Lagged(u64),
    /// The caller was interrupted; nothing was received.
    Interrupted(Interrupt),
}

/// An error returned from [`try_recv`](super::Receiver::try_recv).
///
/// # Examples
/// ```
/// use pirn::channel::broadcast::{self, TryRecvError};
///
/// let (tx, mut rx) = broadcast::channel::<u32>(1);
/// assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
/// tx.close();
/// assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
/// ```
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum TryRecvError {
    /// There is nothing to receive.
    Empty,
    /// All senders have been dropped, or the channel is closed, and all values have been received.
    Disconnected,
    /// As [`RecvError::Lagged`].
    Lagged(u64),
}

/// An error returned from [`recv_timeout`](super::Receiver::recv_timeout).
///
/// # Examples
/// ```
/// use pirn::channel::broadcast::{self, RecvTimeoutError};
/// use std::time::Duration;
///
/// let (tx, mut rx) = broadcast::channel::<u32>(1);
/// let limit = Duration::from_millis(1);
/// assert_eq!(rx.recv_timeout(limit), Err(RecvTimeoutError::Timeout));
/// drop(tx);
/// assert_eq!(rx.recv_timeout(limit), Err(RecvTimeoutError::Disconnected));
/// ```
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum RecvTimeoutError {
    /// The time was up first.
    Timeout,
    /// All senders have been dropped, or the channel is closed, and all values have been received.
    Disconnected,
    /// As [`RecvError::Lagged`].
    Lagged(u64),
    /// The caller was interrupted; nothing was received.
    Interrupted(Interrupt),
}

impl RecvTimeoutError {
    /// Converts to the error of a receive without a time limit.
    pub(super) fn unlimited(self) -> RecvError {
        match self {
            RecvTimeoutError::Disconnected => RecvError::Disconnected,
            RecvTimeoutError::Lagged(missed) => RecvError::Lagged(missed),
            RecvTimeoutError::Interrupted(interrupt) => RecvError::Interrupted(interrupt),
            RecvTimeoutError::Timeout => unreachable!("a receive without a time limit"),
        }
    }
}

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecvError::Disconnected => f.write_str(CLOSED),
            RecvError::Lagged(missed) => lagged(*missed, f),
            RecvError::Interrupted(interrupt) => write!(f, "receive: {interrupt}"),
        }
    }
}

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TryRecvError::Empty => f.write_str("receive from an empty broadcast channel"),
            TryRecvError::Disconnected => f.write_str(CLOSED),
            TryRecvError::Lagged(missed) => lagged(*missed, f),
        }
    }
}

impl fmt::Display for RecvTimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecvTimeoutError::Timeout => f.write_str("receive: the time was up"),
            RecvTimeoutError::Disconnected => f.write_str(CLOSED),
            RecvTimeoutError::Lagged(missed) => lagged(*missed, f),
            RecvTimeoutError::Interrupted(interrupt) => write!(f, "receive: {interrupt}"),
        }
    }
}

impl Error for RecvError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            RecvError::Interrupted(interrupt) => Some(interrupt),
            RecvError::Disconnected | RecvError::Lagged(_) => None,
        }
    }
}

impl Error for TryRecvError {}

impl Error for RecvTimeoutError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            RecvTimeoutError::Interrupted(interrupt) => Some(interrupt),
            _ => None,
        }
    }
}

fn lagged(missed: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "the receiver has missed {missed} values")
}

const CLOSED: &str = "receive from a broadcast channel that is closed and drained";

/// Kind `UnexpectedEof` if the channel is closed, `Other` if values were missed, else that of the
/// [`Interrupt`].
impl From<RecvError> for io::Error {
    fn from(error: RecvError) -> io::Error {
        let kind = match error {
            RecvError::Disconnected => io::ErrorKind::UnexpectedEof,
            RecvError::Lagged(_) => io::ErrorKind::Other,
            RecvError::Interrupted(interrupt) => interrupt.kind(),
        };
        io::Error::new(kind, error)
    }
}

/// Kind `WouldBlock` if no value has come, `UnexpectedEof` if the channel is closed, `Other` if
/// values were missed.
impl From<TryRecvError> for io::Error {
    fn from(error: TryRecvError) -> io::Error {
        let kind = match error {
            TryRecvError::Empty => io::ErrorKind::WouldBlock,
            TryRecvError::Disconnected => io::ErrorKind::UnexpectedEof,
            TryRecvError::Lagged(_) => io::ErrorKind::Other,
        };
        io::Error::new(kind, error)
    }
}

/// Kind `TimedOut` after the time, `UnexpectedEof` if the channel is closed, `Other` if values were
/// missed, else that of the [`Interrupt`].
impl From<RecvTimeoutError> for io::Error {
    fn from(error: RecvTimeoutError) -> io::Error {
        let kind = match error {
            RecvTimeoutError::Timeout => io::ErrorKind::TimedOut,
            RecvTimeoutError::Disconnected => io::ErrorKind::UnexpectedEof,
            RecvTimeoutError::Lagged(_) => io::ErrorKind::Other,
            RecvTimeoutError::Interrupted(interrupt) => interrupt.kind(),
        };
        io::Error::new(kind, error)
    }
}
