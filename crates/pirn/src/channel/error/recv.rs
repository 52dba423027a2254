//! Why a receive failed.

use std::error::Error;
use std::fmt;
use std::io;

use crate::wait::Interrupt;

/// An error returned from a receive without a time limit, such as
/// [`recv`](crate::channel::Receiver::recv).
///
/// # Examples
/// ```
/// use pirn::channel::{self, RecvError};
/// use pirn::{Interrupt, cancel, time};
///
/// let (tx, rx) = channel::bounded::<u32>(1);
/// let received = cancel::with_deadline(time::now(), || rx.recv());
/// assert_eq!(received, Err(RecvError::Interrupted(Interrupt::TimedOut)));
/// drop(tx);
/// assert_eq!(rx.recv(), Err(RecvError::Disconnected));
/// ```
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum RecvError {
    /// The channel is closed, and all its values have been received.
    #[doc(alias = "Closed")]
    Disconnected,
    /// The caller was interrupted; nothing was received.
    Interrupted(Interrupt),
}

/// An error returned from [`try_recv`](crate::channel::Receiver::try_recv).
///
/// # Examples
/// ```
/// use pirn::channel::{self, TryRecvError};
///
/// let (tx, rx) = channel::bounded::<u32>(1);
/// assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
/// drop(tx);
/// assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
/// ```
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum TryRecvError {
    /// There is no value to receive, and no sender waits.
    Empty,
    /// The channel is closed, and all its values have been received.
    #[doc(alias = "Closed")]
    Disconnected,
}

/// An error returned from a receive with a time limit, such as
/// [`recv_timeout`](crate::channel::Receiver::recv_timeout).
///
/// # Examples
/// ```
/// use pirn::channel::{self, RecvTimeoutError};
/// use std::time::Duration;
///
/// let (tx, rx) = channel::bounded::<u32>(1);
/// let limit = Duration::from_millis(1);
/// assert_eq!(rx.recv_timeout(limit), Err(RecvTimeoutError::Timeout));
/// drop(tx);
/// assert_eq!(rx.recv_timeout(limit), Err(RecvTimeoutError::Disconnected));
/// ```
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum RecvTimeoutError {
    /// The time was up first.
    #[doc(alias = "Elapsed")]
    Timeout,
    /// The channel is closed, and all its values have been received.
    #[doc(alias = "Closed")]
    Disconnected,
    /// The caller was interrupted; nothing was received.
    Interrupted(Interrupt),
}

impl TryRecvError {
    /// Returns true if a later attempt may succeed.
    ///
    /// # Examples
    /// ```
    /// let (tx, rx) = pirn::channel::bounded::<u32>(1);
    /// assert!(rx.try_recv().unwrap_err().is_empty());
    /// drop(tx);
    /// assert!(!rx.try_recv().unwrap_err().is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        *self == TryRecvError::Empty
    }

    /// Returns true if the channel is closed and drained.
    ///
    /// # Examples
    /// ```
    /// let (tx, rx) = pirn::channel::bounded::<u32>(1);
    /// assert!(!rx.try_recv().unwrap_err().is_disconnected());
    /// drop(tx);
    /// assert!(rx.try_recv().unwrap_err().is_disconnected());
    /// ```
    pub fn is_disconnected(&self) -> bool {
        *self == TryRecvError::Disconnected
    }
}

impl RecvTimeoutError {
    /// Converts to the error of a receive without a time limit.
    pub(in crate::channel) fn unlimited(self) -> RecvError {
        match self {
            RecvTimeoutError::Disconnected => RecvError::Disconnected,
            RecvTimeoutError::Interrupted(interrupt) => RecvError::Interrupted(interrupt),
            RecvTimeoutError::Timeout => unreachable!("a receive without a time limit"),
        }
    }

    /// Returns true if the time was up first.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    ///
    /// let (_tx, rx) = pirn::channel::bounded::<u32>(1);
    /// let error = rx.recv_timeout(Duration::from_millis(1)).unwrap_err();
    /// assert!(error.is_timeout());
    /// ```
    pub fn is_timeout(&self) -> bool {
        *self == RecvTimeoutError::Timeout
    }

    /// Returns true if the channel is closed and drained.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    ///
    /// let (tx, rx) = pirn::channel::bounded::<u32>(1);
    /// drop(tx);
    /// let error = rx.recv_timeout(Duration::from_millis(1)).unwrap_err();
    /// assert!(error.is_disconnected());
    /// ```
    pub fn is_disconnected(&self) -> bool {
        *self == RecvTimeoutError::Disconnected
    }
}

impl From<RecvError> for RecvTimeoutError {
    fn from(error: RecvError) -> Self {
        match error {
            RecvError::Disconnected => RecvTimeoutError::Disconnected,
            RecvError::Interrupted(interrupt) => RecvTimeoutError::Interrupted(interrupt),
        }
    }
}

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecvError::Disconnected => f.write_str(CLOSED),
            RecvError::Interrupted(interrupt) => {
                write!(f, "receive interrupted: {interrupt}")
            }
        }
    }
}

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TryRecvError::Empty => "the channel is empty",
            TryRecvError::Disconnected => CLOSED,
        })
    }
}

impl fmt::Display for RecvTimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecvTimeoutError::Timeout => f.write_str("the time to receive was up"),
            RecvTimeoutError::Disconnected => f.write_str(CLOSED),
            RecvTimeoutError::Interrupted(interrupt) => {
                write!(f, "receive interrupted: {interrupt}")
            }
        }
    }
}

impl Error for RecvError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            RecvError::Interrupted(interrupt) => Some(interrupt),
            RecvError::Disconnected => None,
        }
    }
}

impl Error for TryRecvError {}

impl Error for RecvTimeoutError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            RecvTimeoutError::Interrupted(interrupt) => Some(interrupt),
            RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected => None,
        }
    }
}

const CLOSED: &str = "the channel is closed and empty";

/// Kind `UnexpectedEof` if the channel is closed, else that of the [`Interrupt`].
impl From<RecvError> for io::Error {
    fn from(error: RecvError) -> io::Error {
        let kind = match error {
            RecvError::Disconnected => io::ErrorKind::UnexpectedEof,
            RecvError::Interrupted(interrupt) => interrupt.kind(),
        };
        io::Error::new(kind, error)
    }
}

/// Kind `WouldBlock` if the channel is empty, `UnexpectedEof` if it is closed.
impl From<TryRecvError> for io::Error {
    fn from(error: TryRecvError) -> io::Error {
        let kind = match error {
            TryRecvError::Empty => io::ErrorKind::WouldBlock,
            TryRecvError::Disconnected => io::ErrorKind::UnexpectedEof,
        };
        io::Error::new(kind, error)
    }
}

/// Kind `TimedOut` after the time, `UnexpectedEof` if the channel is closed, else that of the
/// [`Interrupt`].
impl From<RecvTimeoutError> for io::Error {
    fn from(error: RecvTimeoutError) -> io::Error {
        let kind = match error {
            RecvTimeoutError::Timeout => io::ErrorKind::TimedOut,
            RecvTimeoutError::Disconnected => io::ErrorKind::UnexpectedEof,
            RecvTimeoutError::Interrupted(interrupt) => interrupt.kind(),
        };
        io::Error::new(kind, error)
    }
}
