//! The two ends of a channel as cases of a select.

mod ready;
mod recv;
mod send;
mod watch;

pub use ready::ReadyCase;
pub use recv::RecvCase;
pub(super) use recv::ValueCase;
pub use send::SendCase;
