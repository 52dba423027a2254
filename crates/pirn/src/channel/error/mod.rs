//! Why a channel operation failed.
//!
//! One shape throughout: `Disconnected` means that nothing will ever be sent or received
//! again, whether by `close` or because the other end is gone; `Interrupted` exists exactly
//! in the errors of operations that are interruption points. A failed send carries its
//! value: `into_inner` takes it out, `reason` says the same without it, for reports. No
//! implementation asks for `T: Debug`.

mod recv;
mod send;

pub use recv::{RecvError, RecvTimeoutError, TryRecvError};
pub use send::{SendError, SendTimeoutError, TrySendError};
