//! The two ends of a channel as cases of a select.

#[expect(unsafe_code, reason = "the contract of a case")]
mod ready;
#[expect(unsafe_code, reason = "joins a pipe's queue from a waiter slot")]
mod recv;
#[expect(unsafe_code, reason = "joins a pipe's queue from a waiter slot")]
mod send;
#[expect(unsafe_code, reason = "joins a pipe's queue from a waiter slot")]
mod watch;

pub use ready::ReadyCase;
pub use recv::RecvCase;
pub(super) use recv::ValueCase;
pub use send::SendCase;
