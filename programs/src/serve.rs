//! The life of a server, from its listener to its last connection.
//!
//! 1. It listens, and prints `listening on ADDRESS`, so that whoever asked for port 0 learns
//!    which port that is.
//! 2. Each connection is a fiber in a group. What goes wrong in one is printed, and ends that one.
//!    There are so many connections at once and no more: above the limit the server does not accept,
//!    and connections wait in the system's queue until one of the others has ended.
//!    Accepting goes on after errors of one connection, which `incoming` passes over, and after a
//!    refusal by a policy of the system, which is printed once a second while it lasts.
//! 3. SIGTERM or Ctrl-C cancels a token. The loop that accepts is under it, and so ends; the
//!    listener is closed, and who comes now is refused. The connections are not under the token:
//!    they end by themselves. A handler that waits for its next request does so through
//!    [`Stop::unless`], and learns there that none will be taken.
//! 4. Connections that are left when the time is up are cancelled, and that is a failure.
//!    Another signal meanwhile ends the process at once. A connection that is cancelled ends at its
//!    next wait. If one computes without any, or keeps all workers busy, the process ends all the same:
//!    a plain thread sees to that, a second later.

use std::error::Error;
use std::io;
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

/// A server that has a port and has not started to serve.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    stop: Stop,
    signals: SignalGuard,
    grace: Duration,
    connections: usize,
}

/// Knows whether the server has been told to end. Clones know the same.
#[derive(Debug, Clone)]
pub struct Stop(Token);

impl Server {
    /// Listens on an address, such as `127.0.0.1:0`. Once told to end, the server will leave its
    /// connections `grace` to end too.
    ///
    /// # Errors
    /// If the address cannot be had, or signals cannot be listened to.
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

    /// Has at most so many connections at once, in place of [`CONNECTIONS`].
    #[must_use]
    pub fn connections(mut self, most: usize) -> Server {
        self.connections = most;
        self
    }

    /// What handlers ask before they wait for more work.
    #[must_use]
    pub fn stop(&self) -> Stop {
        self.stop.clone()
    }

    /// Where it listens.
    ///
    /// # Errors
    /// What the system says.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves each connection by `handle`, until told to end and all of them have ended.
    ///
    /// # Errors
    /// If accepting fails for good, or connections had to be cut off at the end.
    pub fn run<F>(self, handle: F) -> anyhow::Result<()>
    where
        F: Fn(TcpStream) -> anyhow::Result<()> + Send + Sync + 'static,
    {
        println!("listening on {}", self.address()?);
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
        // If accepting has failed, no signal has come yet.
        self.stop.0.cancel();
        drop((self.listener, self.signals));
        let drained = drain(&connections, self.grace);
        drop(running);
        drained.and(accepted)
    }
}

impl Stop {
    /// Is told to end by SIGTERM and Ctrl-C, for as long as the guard lives.
    ///
    /// # Errors
    /// If signals cannot be listened to.
    pub fn on_signals() -> anyhow::Result<(Stop, SignalGuard)> {
        let stop = Token::new();
        let signals = signal::cancel_on(&[Signal::TERM, Signal::INT], &stop)
            .context("cannot listen to signals")?;
        Ok((Stop(stop), signals))
    }

    /// Does what waits for the next request, or returns `None` when the server has been told to
    /// end before one came.
    ///
    /// # Errors
    /// What `wait` returns.
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

/// Closes a connection so that the other end receives all that has been written to it.
///
/// A connection that is closed while there is something to be read is reset, and what is under way
/// is thrown away. So the other end is told that this is the end, and what it sends until it has
/// closed too is read, for a second at most.
///
/// # Errors
/// What the system says.
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

/// Whether a later attempt to accept may succeed, of the errors that `incoming` yields. accept(2) names
/// firewalls that forbid a connection (`EPERM`); policies change too.
fn may_pass(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied
}

/// Accepts connections until interrupted, and has each served by a fiber of the group.
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
    // The place is taken before the connection is: above the limit nothing is accepted.
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

/// Logs what went wrong in a connection. That the other end is gone is no news, nor that it has
/// been cut off.
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

/// How long after the end of the grace the process ends by force. Arbitrary.
const FORCE: Duration = Duration::from_secs(1);

/// Between two attempts to accept, when there is no way to know when one may succeed. Arbitrary.
const PAUSE: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use std::io;

    use super::may_pass;

    /// EPERM and EACCES; and those of a listener that is none any more.
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
