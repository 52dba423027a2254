//! Why a send failed, with the value that was not sent.

use std::error::Error;
use std::fmt;
use std::io;

use crate::wait::Interrupt;

/// An error returned from a send without a time limit, such as
/// [`send`](crate::channel::Sender::send), with the value that was not sent.
///
/// # Examples
/// ```
/// use pirn::channel::{self, SendError};
///
/// let (tx, rx) = channel::bounded(1);
/// drop(rx);
/// match tx.send(String::from("letter")) {
///     Err(SendError::Disconnected(letter)) => assert_eq!(letter, "letter"),
///     other => panic!("{other:?}"),
/// }
/// ```
#[derive(Copy, Clone, PartialEq, Eq)]
pub enum SendError<T> {
    /// The channel is closed.
    #[doc(alias = "Closed")]
    Disconnected(T),
    /// The caller was interrupted; nothing was sent.
    Interrupted(T, Interrupt),
}

/// An error returned from [`try_send`](crate::channel::Sender::try_send), with the value that was
/// not sent.
///
/// # Examples
/// ```
/// use pirn::channel::{self, TrySendError};
///
/// let (tx, _rx) = channel::bounded(1);
/// tx.try_send(1).unwrap();
/// assert_eq!(tx.try_send(2), Err(TrySendError::Full(2)));
/// tx.close();
/// assert_eq!(tx.try_send(2), Err(TrySendError::Disconnected(2)));
/// ```
#[derive(Copy, Clone, PartialEq, Eq)]
pub enum TrySendError<T> {
    /// The channel is full, and no receiver waits.
    Full(T),
    /// The channel is closed.
    #[doc(alias = "Closed")]
    Disconnected(T),
}

/// An error returned from a send with a time limit, such as
/// [`send_timeout`](crate::channel::Sender::send_timeout), with the value that was not sent.
///
/// # Examples
/// ```
/// use pirn::channel::{self, SendTimeoutError};
/// use std::time::Duration;
///
/// let (tx, rx) = channel::bounded(0);
/// let limit = Duration::from_millis(1);
/// assert_eq!(tx.send_timeout(1, limit), Err(SendTimeoutError::Timeout(1)));
/// drop(rx);
/// assert_eq!(tx.send_timeout(1, limit), Err(SendTimeoutError::Disconnected(1)));
/// ```
#[derive(Copy, Clone, PartialEq, Eq)]
pub enum SendTimeoutError<T> {
    /// The time was up first.
    #[doc(alias = "Elapsed")]
    Timeout(T),
    /// The channel is closed.
    #[doc(alias = "Closed")]
    Disconnected(T),
    /// The caller was interrupted; nothing was sent.
    Interrupted(T, Interrupt),
}

impl<T> SendError<T> {
    /// Returns the value that was not sent.
    ///
    /// # Examples
    /// ```
    /// let (tx, rx) = pirn::channel::bounded(1);
    /// drop(rx);
    /// let error = tx.send("letter").unwrap_err();
    /// assert_eq!(error.into_inner(), "letter");
    /// ```
    pub fn into_inner(self) -> T {
        match self {
            SendError::Disconnected(value) | SendError::Interrupted(value, _) => value,
        }
    }

    /// Returns the error without the value.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::{self, SendError};
    ///
    /// let (tx, rx) = channel::bounded(1);
    /// drop(rx);
    /// let error = tx.send("letter").unwrap_err();
    /// assert_eq!(error.reason(), SendError::Disconnected(()));
    /// ```
    pub fn reason(&self) -> SendError<()> {
        match *self {
            SendError::Disconnected(_) => SendError::Disconnected(()),
            SendError::Interrupted(_, interrupt) => SendError::Interrupted((), interrupt),
        }
    }
}

impl<T> TrySendError<T> {
    /// Returns the value that was not sent.
    ///
    /// # Examples
    /// ```
    /// let (tx, _rx) = pirn::channel::bounded(1);
    /// tx.send("first").unwrap();
    /// let error = tx.try_send("second").unwrap_err();
    /// assert_eq!(error.into_inner(), "second");
    /// ```
    pub fn into_inner(self) -> T {
        match self {
            TrySendError::Full(value) | TrySendError::Disconnected(value) => value,
        }
    }

    /// Returns the error without the value.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::{self, TrySendError};
    ///
    /// let (tx, _rx) = channel::bounded(1);
    /// tx.send("first").unwrap();
    /// let error = tx.try_send("second").unwrap_err();
    /// assert_eq!(error.reason(), TrySendError::Full(()));
    /// ```
    pub fn reason(&self) -> TrySendError<()> {
        match self {
            TrySendError::Full(_) => TrySendError::Full(()),
            TrySendError::Disconnected(_) => TrySendError::Disconnected(()),
        }
    }

    /// Returns true if a later attempt may succeed.
    ///
    /// # Examples
    /// ```
    /// let (tx, _rx) = pirn::channel::bounded(1);
    /// tx.send(1).unwrap();
    /// assert!(tx.try_send(2).unwrap_err().is_full());
    /// ```
    pub fn is_full(&self) -> bool {
        matches!(self, TrySendError::Full(_))
    }

    /// Returns true if the channel is closed.
    ///
    /// # Examples
    /// ```
    /// let (tx, rx) = pirn::channel::bounded(1);
    /// drop(rx);
    /// assert!(tx.try_send(1).unwrap_err().is_disconnected());
    /// ```
    pub fn is_disconnected(&self) -> bool {
        matches!(self, TrySendError::Disconnected(_))
    }
}

impl<T> SendTimeoutError<T> {
    /// Converts to the error of a send without a time limit.
    pub(in crate::channel) fn unlimited(self) -> SendError<T> {
        match self {
            SendTimeoutError::Disconnected(value) => SendError::Disconnected(value),
            SendTimeoutError::Interrupted(value, interrupt) => {
                SendError::Interrupted(value, interrupt)
            }
            SendTimeoutError::Timeout(_) => unreachable!("a send without a time limit"),
        }
    }

    /// Returns the value that was not sent.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    ///
    /// let (tx, _rx) = pirn::channel::bounded(0);
    /// let error = tx.send_timeout("letter", Duration::from_millis(1)).unwrap_err();
    /// assert_eq!(error.into_inner(), "letter");
    /// ```
    pub fn into_inner(self) -> T {
        match self {
            SendTimeoutError::Timeout(value)
            | SendTimeoutError::Disconnected(value)
            | SendTimeoutError::Interrupted(value, _) => value,
        }
    }

    /// Returns the error without the value.
    ///
    /// # Examples
    /// ```
    /// use pirn::channel::{self, SendTimeoutError};
    /// use std::time::Duration;
    ///
    /// let (tx, _rx) = channel::bounded(0);
    /// let error = tx.send_timeout("letter", Duration::from_millis(1)).unwrap_err();
    /// assert_eq!(error.reason(), SendTimeoutError::Timeout(()));
    /// ```
    pub fn reason(&self) -> SendTimeoutError<()> {
        match *self {
            SendTimeoutError::Timeout(_) => SendTimeoutError::Timeout(()),
            SendTimeoutError::Disconnected(_) => SendTimeoutError::Disconnected(()),
            SendTimeoutError::Interrupted(_, interrupt) => {
                SendTimeoutError::Interrupted((), interrupt)
            }
        }
    }

    /// Returns true if the time was up first.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    ///
    /// let (tx, _rx) = pirn::channel::bounded(0);
    /// let error = tx.send_timeout(1, Duration::from_millis(1)).unwrap_err();
    /// assert!(error.is_timeout());
    /// ```
    pub fn is_timeout(&self) -> bool {
        matches!(self, SendTimeoutError::Timeout(_))
    }

    /// Returns true if the channel is closed.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    ///
    /// let (tx, rx) = pirn::channel::bounded(0);
    /// drop(rx);
    /// let error = tx.send_timeout(1, Duration::from_millis(1)).unwrap_err();
    /// assert!(error.is_disconnected());
    /// ```
    pub fn is_disconnected(&self) -> bool {
        matches!(self, SendTimeoutError::Disconnected(_))
    }
}

impl<T> From<SendError<T>> for SendTimeoutError<T> {
    fn from(error: SendError<T>) -> Self {
        match error {
            SendError::Disconnected(value) => SendTimeoutError::Disconnected(value),
            SendError::Interrupted(value, interrupt) => {
                SendTimeoutError::Interrupted(value, interrupt)
            }
        }
    }
}

impl<T> fmt::Debug for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SendError::Disconnected(_) => f.write_str("Disconnected(..)"),
            SendError::Interrupted(_, interrupt) => {
                write!(f, "Interrupted(.., {interrupt:?})")
            }
        }
    }
}

impl<T> fmt::Debug for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TrySendError::Full(_) => "Full(..)",
            TrySendError::Disconnected(_) => "Disconnected(..)",
        })
    }
}

impl<T> fmt::Debug for SendTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SendTimeoutError::Timeout(_) => f.write_str("Timeout(..)"),
            SendTimeoutError::Disconnected(_) => f.write_str("Disconnected(..)"),
            SendTimeoutError::Interrupted(_, interrupt) => {
                write!(f, "Interrupted(.., {interrupt:?})")
            }
        }
    }
}

impl<T> fmt::Display for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SendError::Disconnected(_) => f.write_str(CLOSED),
            SendError::Interrupted(_, interrupt) => {
                write!(f, "send interrupted: {interrupt}")
            }
        }
    }
}

impl<T> fmt::Display for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TrySendError::Full(_) => "the channel is full",
            TrySendError::Disconnected(_) => CLOSED,
        })
    }
}

impl<T> fmt::Display for SendTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SendTimeoutError::Timeout(_) => f.write_str("the time to send was up"),
            SendTimeoutError::Disconnected(_) => f.write_str(CLOSED),
            SendTimeoutError::Interrupted(_, interrupt) => {
                write!(f, "send interrupted: {interrupt}")
            }
        }
    }
}

impl<T> Error for SendError<T> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            SendError::Interrupted(_, interrupt) => Some(interrupt),
            SendError::Disconnected(_) => None,
        }
    }
}

impl<T> Error for TrySendError<T> {}

impl<T> Error for SendTimeoutError<T> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            SendTimeoutError::Interrupted(_, interrupt) => Some(interrupt),
            SendTimeoutError::Timeout(_) | SendTimeoutError::Disconnected(_) => None,
        }
    }
}

const CLOSED: &str = "the channel is closed";

/// Kind `BrokenPipe` if the channel is closed, else that of the [`Interrupt`]. The value is
/// dropped.
impl<T> From<SendError<T>> for io::Error {
    fn from(error: SendError<T>) -> io::Error {
        let (kind, error) = match error {
            SendError::Disconnected(_) => {
                (io::ErrorKind::BrokenPipe, SendError::Disconnected(()))
            }
            SendError::Interrupted(_, interrupt) => {
                (interrupt.kind(), SendError::Interrupted((), interrupt))
            }
        };
        io::Error::new(kind, error)
    }
}

/// Kind `WouldBlock` if the channel is full, `BrokenPipe` if it is closed. The value is dropped.
impl<T> From<TrySendError<T>> for io::Error {
    fn from(error: TrySendError<T>) -> io::Error {
        let (kind, error) = match error {
            TrySendError::Full(_) => (io::ErrorKind::WouldBlock, TrySendError::Full(())),
            TrySendError::Disconnected(_) => {
                (io::ErrorKind::BrokenPipe, TrySendError::Disconnected(()))
            }
        };
        io::Error::new(kind, error)
    }
}

/// Kind `TimedOut` after the time, `BrokenPipe` if the channel is closed, else that of the
/// [`Interrupt`]. The value is dropped.
impl<T> From<SendTimeoutError<T>> for io::Error {
    fn from(error: SendTimeoutError<T>) -> io::Error {
        let (kind, error) = match error {
            SendTimeoutError::Timeout(_) => {
                (io::ErrorKind::TimedOut, SendTimeoutError::Timeout(()))
            }
            SendTimeoutError::Disconnected(_) => (
                io::ErrorKind::BrokenPipe,
                SendTimeoutError::Disconnected(()),
            ),
            SendTimeoutError::Interrupted(_, interrupt) => (
                interrupt.kind(),
                SendTimeoutError::Interrupted((), interrupt),
            ),
        };
        io::Error::new(kind, error)
    }
}
