//! Errors, in crossbeam's shape, without interrupts.

use std::fmt;

/// The channel is closed; with the value.
#[derive(Copy, Clone, PartialEq, Eq)]
pub struct SendError<T>(pub T);

/// Why a send that does not wait failed; with the value.
#[derive(Copy, Clone, PartialEq, Eq)]
pub enum TrySendError<T> {
    /// The channel is full, and no receiver waits.
    Full(T),
    /// The channel is closed.
    Disconnected(T),
}

/// Why a send with a time limit failed; with the value.
#[derive(Copy, Clone, PartialEq, Eq)]
pub enum SendTimeoutError<T> {
    /// The timeout expired first.
    Timeout(T),
    /// The channel is closed.
    Disconnected(T),
}

/// The channel is closed and drained.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct RecvError;

/// Why a receive that does not wait failed.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum TryRecvError {
    /// There is nothing to receive.
    Empty,
    /// The channel is closed and drained.
    Disconnected,
}

/// Why a receive with a time limit failed.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub enum RecvTimeoutError {
    /// The timeout expired first.
    Timeout,
    /// The channel is closed and drained.
    Disconnected,
}

/// No operation was possible.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct TrySelectError;

/// No operation became possible in time.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct SelectTimeoutError;

/// No operation was ready.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct TryReadyError;

/// No operation became ready in time.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct ReadyTimeoutError;

impl<T> SendError<T> {
    /// Returns the unsent value.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> fmt::Debug for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SendError(..)")
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
        f.write_str(match self {
            SendTimeoutError::Timeout(_) => "Timeout(..)",
            SendTimeoutError::Disconnected(_) => "Disconnected(..)",
        })
    }
}
