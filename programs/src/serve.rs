//! The life of a server, from its listener to its last connection.
//!
//! 1. It listens, and prints `listening on ADDRESS`, so that a caller that requested port 0 gets
//!    the actual port.
//! 2. Each connection is a fiber in a group. An error in one is printed, and ends that one. The
//!    number of connections at once is limited: above the limit the server does not accept, and
//!    connections wait in the system's queue until one of the others has ended. Accepting continues
//!    after errors of one connection, which `incoming` skips, and after a refusal by a policy of
//!    the system, which is printed once a second while it lasts.
//! 3. SIGTERM or Ctrl-C cancels a token. The loop that accepts is under it, and so ends. The
//!    listener is closed, and further connections are refused. The connections are not under the
//!    token: they end by themselves. A handler that waits for its next request does so through
//!    [`Stop::unless`], which returns `None` then.
//! 4. Connections that are left after the grace period are cancelled, and that is a failure.
//!    Another signal meanwhile ends the process at once. A cancelled connection ends at its next
//!    wait. If one computes without any, or keeps all workers busy, a plain thread ends the process
//!    a second later.

use std::error::Error;
use std::io::{self, Write as _};
use std::net::{Shutdown, SocketAddr};
use std::process;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, bail};
use pirn::Interrupt;
use pirn::cancel::Token;
use pirn::channel::{self, Receiver, RecvTimeoutError};
use pirn::net::{TcpListener, TcpStream};
use pirn::scope::TaskGroup;
use pirn::signal::{self, Signal, SignalGuard};
use pirn::sync::Semaphore;

use crate::{CONNECTIONS, log};

/// A server that listens and has not started to serve.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    stop: Stop,
    signals: SignalGuard,
    grace: Duration,
    connections: usize,
}

/// Reports whether the server shuts down. Clones share the state.
#[derive(Debug, Clone)]
pub struct Stop(Token);

impl Server {
    /// Listens on an address, such as `127.0.0.1:0`. At shutdown, connections have the time `grace`
    /// to end.
    ///
    /// # Errors
    /// If the address is not available, or signals cannot be received.
    pub fn new(address: &str, grace: Duration) -> anyhow::Result<Server> {
        let listener = TcpListener::bind(address)
            .with_context(|| format!("cannot listen on {address}"))?;
        let (stop, signals) = Stop::on_signals()?;
        Ok(Server {
            listener,
            stop,
            signals,
            grace,
            connections: CONNECTIONS,
        })
    }

    /// Sets the maximum number of connections at once, [`CONNECTIONS`] by default.
    #[must_use]
    pub fn connections(mut self, most: usize) -> Server {
        self.connections = most;
        self
    }

    /// Returns the handle with which handlers wait for more work.
    #[must_use]
    pub fn stop(&self) -> Stop {
        self.stop.clone()
    }

    /// Returns its address.
    ///
    /// # Errors
    /// The system's error.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves each connection by `handle`, until shutdown, and until all of them have ended.
    ///
    /// # Errors
    /// If accepting fails for good, or connections had to be cut off at the end.
    pub fn run<F>(self, handle: F) -> anyhow::Result<()>
    where
        F: Fn(TcpStream) -> anyhow::Result<()> + Send + Sync + 'static,
    {
        let mut output = io::stdout();
        writeln!(output, "listening on {}", self.address()?)
            .and_then(|()| output.flush())
            .context("cannot write to standard output")?;
        let (running, ended) = channel::bounded(1);
        let grace = self.grace;
        let _overdue = self
            .stop
            .0
            .on_cancel(move || end_by_force(grace.saturating_add(FORCE), ended));
        let connections = TaskGroup::new();
        let accepted = self
            .stop
            .0
            .enter(|| accept(&self.listener, self.connections, &connections, handle));
        // If accepting has failed, no signal has been received yet.
        self.stop.0.cancel();
        drop((self.listener, self.signals));
        let drained = drain(&connections, self.grace);
        drop(running);
        drained.and(accepted)
    }
}

impl Stop {
    /// Shuts down on SIGTERM and Ctrl-C, while the guard lives.
    ///
    /// # Errors
    /// If signals cannot be received.
    pub fn on_signals() -> anyhow::Result<(Stop, SignalGuard)> {
        let stop = Token::new();
        let signals = signal::cancel_on(&[Signal::TERM, Signal::INT], &stop)
            .context("cannot listen to signals")?;
        Ok((Stop(stop), signals))
    }

    /// Calls `wait`, which waits for the next request, or returns `None` if the server shuts down
    /// before one arrives.
    ///
    /// # Errors
    /// The error of `wait`.
    pub fn unless<T, E: Error + 'static>(
        &self,
        wait: impl FnOnce() -> Result<T, E>,
    ) -> Result<Option<T>, E> {
        match self.0.enter(wait) {
            Err(error) if self.0.is_cancelled() && Interrupt::of(&error).is_some() => {
                Ok(None)
            }
            ended => ended.map(Some),
        }
    }
}

/// Closes a connection so that the other end receives all written data.
///
/// A connection that is closed with unread input is reset, which discards data in transit. So this
/// shuts down the sending direction, and reads input until the other end has closed too, for at
/// most a second.
///
/// # Errors
/// The system's error.
pub fn hang_up(mut stream: TcpStream) -> io::Result<()> {
    stream.shutdown(Shutdown::Write)?;
    let sunk = pirn::timeout(Duration::from_secs(1), || {
        pirn::io::copy(&mut stream, &mut io::sink())
    });
    match sunk {
        Ok(Err(error)) => Err(error),
        Ok(Ok(_)) | Err(_) => Ok(()),
    }
}

/// Returns true if a later attempt to accept may succeed after this error of `incoming`. accept(2)
/// names firewalls that forbid a connection (`EPERM`); policies change too.
fn may_pass(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied
}

/// Accepts connections until interrupted, and serves each by a fiber of the group.
fn accept<F>(
    listener: &TcpListener,
    most: usize,
    connections: &TaskGroup,
    handle: F,
) -> anyhow::Result<()>
where
    F: Fn(TcpStream) -> anyhow::Result<()> + Send + Sync + 'static,
{
    let handle = Arc::new(handle);
    let places = Arc::new(Semaphore::new(most));
    let mut incoming = listener.incoming();
    // The permit is acquired before the connection is accepted: above the limit none is.
    while let Ok(place) = places.acquire_owned(1) {
        let stream = match incoming.next() {
            Some(Ok(stream)) => stream,
            Some(Err(error)) if Interrupt::of(&error).is_some() => break,
            Some(Err(error)) if may_pass(&error) => {
                log(format_args!("cannot accept: {error}; trying again"));
                match pirn::sleep(PAUSE) {
                    Ok(()) => continue,
                    Err(_) => break,
                }
            }
            Some(Err(error)) => return Err(error).context("cannot accept"),
            None => break,
        };
        let handle = Arc::clone(&handle);
        let connection = move || {
            report(&stream.peer_addr(), handle(stream));
            drop(place);
        };
        if connections.spawn(connection).is_err() {
            break;
        }
    }
    Ok(())
}

/// Waits for the connections that are left; cancels those that take longer than `grace`.
fn drain(connections: &TaskGroup, grace: Duration) -> anyhow::Result<()> {
    if connections.wait_timeout(grace)? {
        return Ok(());
    }
    let left = connections.len();
    connections.cancel();
    connections.wait()?;
    bail!("cut off {left} connections that had not ended after {grace:?}")
}

/// Ends the process after `limit`, unless the other end of the channel is dropped before.
fn end_by_force(limit: Duration, ended: Receiver<()>) {
    let watch = move || {
        if let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(limit) {
            log::end(Some(format_args!(
                "ended by force: connections went on {limit:?} after the signal"
            )));
            process::exit(1);
        }
    };
    // A thread, since workers that compute run no fiber.
    let thread = thread::Builder::new().name("end".to_owned());
    if let Err(error) = thread.spawn(watch) {
        log(format_args!(
            "cannot start the thread that ends the process: {error}"
        ));
    }
}

/// Logs an error of a connection, except that the other end has disconnected or has been cut off.
fn report(peer: &io::Result<SocketAddr>, ended: anyhow::Result<()>) {
    let Err(error) = ended else { return };
    if is_gone(&error) || Interrupt::of(error.as_ref()).is_some() {
        return;
    }
    match peer {
        Ok(peer) => log(format_args!("connection from {peer}: {error:#}")),
        Err(_) => log(format_args!("connection: {error:#}")),
    }
}

fn is_gone(error: &anyhow::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset};
    let error = error.downcast_ref::<io::Error>();
    error.is_some_and(|error| matches!(error.kind(), BrokenPipe | ConnectionReset))
}

/// Time from the end of the grace period to the forced end of the process. Arbitrary.
const FORCE: Duration = Duration::from_secs(1);

/// Interval between two attempts to accept, when the time of success is unknown. Arbitrary.
const PAUSE: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use std::io;

    use super::may_pass;

    /// EPERM and EACCES; and those of a listener that no longer listens.
    #[test]
    fn refusals_may_pass() {
        for code in [1, 13] {
            assert!(may_pass(&io::Error::from_raw_os_error(code)), "{code}");
        }
        // EBADF, EINVAL, ENOTSOCK, EOPNOTSUPP.
        for code in [9, 22, 88, 95] {
            assert!(!may_pass(&io::Error::from_raw_os_error(code)), "{code}");
        }
    }
}
