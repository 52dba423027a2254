//! Signals from outside: a [`Token`](crate::cancel::Token) that is cancelled when one comes
//! ([`cancel_on`]), or a channel that receives them ([`listen()`]). A dump of all fibers on SIGQUIT is
//! [`diag::dump_on_quit`](crate::diag::dump_on_quit).
//!
//! While a signal is waited for here it does nothing else: SIGTERM does not end the process. When
//! the last [`SignalGuard`] or receiver for it is dropped it does again what it did before. For each
//! signal that is waited for there is a thread; it sleeps until the signal comes.

mod cancel;
mod kind;
mod listen;
mod listener;
mod watch;

pub use cancel::{SignalGuard, cancel_on};
pub use kind::Signal;
pub use listen::listen;
pub(crate) use watch::{Reaction, Watch, watch};
