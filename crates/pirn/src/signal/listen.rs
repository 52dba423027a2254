//! Signals as values in a channel.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

use super::kind::Signal;
use super::listener::Listener;
use super::watch::{Reaction, Watch, forget_listeners, watch};
use crate::channel::Receiver;

/// Returns a channel that receives each of `signals` when it comes. While the channel exists the
/// signals have no other effect: SIGTERM does not end the process. Several channels for one signal
/// all receive it, and each guard of [`cancel_on`](super::cancel_on) acts on it too.
///
/// The channel holds a signal at most once: one that comes again before it has been received is
/// merged with it. (It is there twice if a [future](Receiver::recv_async) gives it back.) So the
/// channel stays bounded, however slowly it is read. A received signal has come at least once since
/// the last one; how often is unknown. Clones of the receiver share the signals.
///
/// When the last receiver is dropped, or [closes](Receiver::close) the channel, the signal's
/// earlier effect returns, unless other watchers remain. That happens when the signal comes, or at
/// the next call of this function: a process that is started in between does not inherit that a
/// signal is ignored.
///
/// The deadlock detector does not report a process in which every fiber waits while one receives
/// here.
///
/// # Errors
/// `InvalidInput` if there are no `signals`, or if one does not exist or cannot be caught, like
/// SIGKILL and SIGSEGV; the message has its name. Otherwise the operating system's error, for a
/// pipe, a thread or the handler. Nothing has changed then.
///
/// # Cancellation
/// Not an interruption point; never suspends. Receiving is one.
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
#[doc(alias = "Notify")]
#[doc(alias = "ctrl_c")]
#[doc(alias = "sigaction")]
pub fn listen(signals: &[Signal]) -> io::Result<Receiver<Signal>> {
    let different: BTreeSet<Signal> = signals.iter().copied().collect();
    if different.is_empty() {
        let none = "listen: no signals to wait for";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, none));
    }
    forget_listeners();
    let (listener, receiver) = Listener::new();
    let listener = Arc::new(listener);
    let notify = |signal| watch(signal, Reaction::Notify(Arc::clone(&listener)));
    let watches: Vec<Watch> = different
        .into_iter()
        .map(notify)
        .collect::<io::Result<_>>()?;
    watches.into_iter().for_each(Watch::leave);
    Ok(receiver)
}
