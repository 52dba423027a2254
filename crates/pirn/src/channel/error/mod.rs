//! Why a channel operation failed.
//!
//! All errors follow the same rules. `Disconnected` means that nothing will ever be sent or
//! received again, by `close` or because the other end is gone. `Interrupted` exists exactly in the
//! errors of operations that are interruption points. A failed send carries its value: `into_inner`
//! takes it out, and `reason` returns the error without it, for reports. No implementation requires
//! `T: Debug`.

mod recv;
mod send;

pub use recv::{RecvError, RecvTimeoutError, TryRecvError};
pub use send::{SendError, SendTimeoutError, TrySendError};
