//! A token that is cancelled by a signal.

use std::fmt;
use std::io;
use std::sync::Arc;

use super::kind::Signal;
use super::watch::{Reaction, Watch, watch};
use crate::cancel::Token;
use crate::fiber::vigil::{self, Hope};

/// Has `token` cancelled when one of `signals` comes, for as long as the result lives. They do
/// nothing else meanwhile, so a second Ctrl-C does not end the process either: drop the guard after
/// the first, and it does. Of several guards for one signal each is told.
///
/// The cancellation is done on a thread that belongs to the signal, and with it the callbacks of
/// [`Token::on_cancel`]: while one of them runs, that signal is not heard again.
///
/// A process in which everybody waits is not taken for deadlocked while somebody waits for such a
/// token itself ([`Token::wait`], [`Token::case`], `on_cancel`). Fibers that merely run under
/// it are: they wait for something else.
///
/// # Errors
/// `InvalidInput` if there are no `signals`, or if one does not exist, or cannot be waited for, like SIGKILL and
/// SIGSEGV; its name is in the message. Otherwise what the system says when it has no pipe, no thread or
/// refuses. Nothing has changed then.
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
/// println!("told to stop");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// A whole runtime: no more fibers are taken, and all are interrupted.
/// ```no_run
/// use pirn::signal::{Signal, cancel_on};
///
/// let runtime = pirn::Runtime::new()?;
/// let _guard = cancel_on(&[Signal::INT, Signal::TERM], &runtime.handle().token())?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn cancel_on(signals: &[Signal], token: &Token) -> io::Result<SignalGuard> {
    if signals.is_empty() {
        let none = "cancel_on: no signals to wait for";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, none));
    }
    let watch = |signal: &Signal| watch(*signal, Reaction::Cancel(token.clone()));
    let watches: Vec<Watch> = signals.iter().map(watch).collect::<io::Result<_>>()?;
    let node = Arc::downgrade(token.node());
    let hope = vigil::hope_for(move || node.upgrade().is_some_and(|it| it.is_awaited()));
    Ok(SignalGuard {
        watches,
        _hope: hope,
    })
}

/// Keeps what [`cancel_on`] has arranged. Dropped, it takes that back: when the last guard for a
/// signal goes, the signal does again what it did before.
#[must_use = "a guard that is dropped takes back what it guards"]
pub struct SignalGuard {
    watches: Vec<Watch>,
    _hope: Hope,
}

impl fmt::Debug for SignalGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignalGuard")
            .field("signals", &self.watches.len())
            .finish_non_exhaustive()
    }
}
