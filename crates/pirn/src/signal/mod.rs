//! Signals from outside. [`cancel_on`] cancels a [`Token`](crate::cancel::Token) when a signal
//! comes; [`listen()`] returns a channel that receives signals.
//! [`diag::dump_on_quit`](crate::diag::dump_on_quit) dumps all fibers on SIGQUIT.
//!
//! A signal that is waited for here has no other effect: SIGTERM does not end the process. When its
//! last [`SignalGuard`] or receiver is dropped, its earlier effect returns. Each signal that is
//! waited for has a thread, which sleeps until the signal comes.
//!
//! # Examples
//! ```no_run
//! use pirn::signal::{Signal, listen};
//!
//! let signals = listen(&[Signal::INT, Signal::TERM])?;
//! let signal = pirn::run(|| signals.recv()).unwrap();
//! println!("received {signal}");
//! # Ok::<(), std::io::Error>(())
//! ```

mod cancel;
mod kind;
mod listen;
mod listener;
mod watch;

pub use cancel::{SignalGuard, cancel_on};
pub use kind::Signal;
pub use listen::listen;
pub(crate) use watch::{Reaction, Watch, watch};
