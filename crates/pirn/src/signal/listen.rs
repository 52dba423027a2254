//! Signals as values in a channel.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

use super::kind::Signal;
use super::listener::Listener;
use super::watch::{Reaction, Watch, forget_listeners, watch};
use crate::channel::Receiver;

/// Returns a channel that receives each of `signals` when it comes. They do nothing else
/// meanwhile: SIGTERM does not end the process. Of several channels for one signal each
/// receives it, and each guard of [`cancel_on`](super::cancel_on) acts on it too.
///
/// A signal is in the channel once at most: one that comes again before it has been received is
/// the same one. (Twice, if a [future](Receiver::recv_async) gives it back.) So nothing piles up, however slowly one receives, and whoever
/// receives a signal knows that it has come since the last time, but not how often. Clones of the
/// receiver share what comes.
///
/// When the last receiver has been dropped, or has [closed](Receiver::close) the channel, the signal does
/// again what it did before, unless others wait for it too.
///
/// A process in which everybody waits is not taken for deadlocked while somebody receives here.
///
/// # Errors
/// `InvalidInput` if there are no `signals`, or if one does not exist, or cannot be waited for,
/// like SIGKILL and SIGSEGV; its name is in the message. Otherwise what the system says when it
/// has no pipe, no thread or refuses. Nothing has changed then.
///
/// # Cancellation
/// Not an interruption point; never suspends. To receive is one.
///
/// # Examples
/// ```no_run
/// use pirn::signal::{Signal, listen};
///
/// let signals = listen(&[Signal::HUP, Signal::TERM])?;
/// let (_work, jobs) = pirn::channel::unbounded::<String>();
/// loop {
///     pirn::select! {
///         recv(jobs) -> job => println!("{}", job.unwrap()),
///         recv(signals) -> signal => match signal.unwrap() {
///             Signal::HUP => println!("reading the configuration again"),
///             _ => break,
///         },
///     }
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn listen(signals: &[Signal]) -> io::Result<Receiver<Signal>> {
    let different: BTreeSet<Signal> = signals.iter().copied().collect();
    if different.is_empty() {
        let none = "listen: no signals to wait for";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, none));
    }
    forget_listeners();
    let (listener, receiver) = Listener::new();
    let listener = Arc::new(listener);
    let tell = |signal| watch(signal, Reaction::Tell(Arc::clone(&listener)));
    let watches: Vec<Watch> =
        different.into_iter().map(tell).collect::<io::Result<_>>()?;
    watches.into_iter().for_each(Watch::leave);
    Ok(receiver)
}
