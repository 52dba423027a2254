//! A token that is cancelled by a signal.

use std::fmt;
use std::io;
use std::sync::Arc;

use super::kind::Signal;
use super::watch::{Reaction, Watch, watch};
use crate::cancel::Token;
use crate::fiber::thread_registry::{self, ExternalWaker};

/// Cancels `token` when one of `signals` comes, as long as the returned guard exists. The signals
/// have no other effect meanwhile, so a second Ctrl-C does not end the process either. It does if
/// the guard is dropped after the first. If one signal has several guards, each acts.
///
/// The cancellation runs on a thread that belongs to the signal, and so do the callbacks of
/// [`Token::on_cancel`]. While one of them runs, that signal is not handled again.
///
/// The deadlock detector does not report a process in which every fiber waits while one waits for
/// such a token itself ([`Token::wait`], [`Token::case`], `on_cancel`). Fibers that merely run
/// under the token are reported: they wait for something else.
///
/// # Errors
/// `InvalidInput` if there are no `signals`, or if one does not exist or cannot be caught, like
/// SIGKILL and SIGSEGV; the message has its name. Otherwise the operating system's error, for a
/// pipe, a thread or the handler. Nothing has changed then.
///
/// # Cancellation
/// Not an interruption point; never suspends.
///
/// # Examples
/// ```no_run
/// use pirn::cancel::Token;
/// use pirn::signal::{Signal, cancel_on};
///
/// let stop = Token::new();
/// let _guard = cancel_on(&[Signal::INT, Signal::TERM], &stop)?;
/// stop.enter(|| {
///     while pirn::sleep(std::time::Duration::from_secs(1)).is_ok() {
///         println!("still here");
///     }
/// });
/// println!("stopped");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// For a whole runtime: no more fibers are accepted, and all are interrupted.
/// ```no_run
/// use pirn::signal::{Signal, cancel_on};
///
/// let runtime = pirn::Runtime::new()?;
/// let _guard = cancel_on(&[Signal::INT, Signal::TERM], &runtime.handle().token())?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[doc(alias = "NotifyContext")]
#[doc(alias = "ctrl_c")]
pub fn cancel_on(signals: &[Signal], token: &Token) -> io::Result<SignalGuard> {
    if signals.is_empty() {
        let none = "cancel_on: no signals to wait for";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, none));
    }
    let watch = |signal: &Signal| watch(*signal, Reaction::Cancel(token.clone()));
    let watches: Vec<Watch> = signals.iter().map(watch).collect::<io::Result<_>>()?;
    let node = Arc::downgrade(token.node());
    let external_waker = thread_registry::register_external_waker(move || {
        node.upgrade().is_some_and(|it| it.is_awaited())
    });
    Ok(SignalGuard {
        watches,
        _external_waker: external_waker,
    })
}

/// The guard of [`cancel_on`]. Dropping it undoes the call. When the last guard for a signal is
/// dropped, the signal's earlier effect returns.
///
/// # Examples
/// ```no_run
/// use pirn::cancel::Token;
/// use pirn::signal::{Signal, cancel_on};
///
/// let stop = Token::new();
/// let guard = cancel_on(&[Signal::INT], &stop)?;
/// let done = stop.enter(|| pirn::sleep(std::time::Duration::from_secs(1)).is_ok());
/// drop(guard); // Ctrl-C ends the process again.
/// assert_eq!(done, !stop.is_cancelled());
/// # Ok::<(), std::io::Error>(())
/// ```
#[must_use = "a guard that is dropped takes back what it guards"]
pub struct SignalGuard {
    watches: Vec<Watch>,
    _external_waker: ExternalWaker,
}

impl fmt::Debug for SignalGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignalGuard")
            .field("signals", &self.watches.len())
            .finish_non_exhaustive()
    }
}
