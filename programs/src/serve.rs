//! The life of a server, from its listener to its last connection.
//!
//! 1. It listens, and prints `listening on ADDRESS`, so that whoever asked for port 0 learns
//!    which port that is.
//! 2. Each connection is a fiber in a group. What goes wrong in one is printed, and ends that one.
//! 3. SIGTERM or Ctrl-C cancels a token. The loop that accepts is under it, and so ends; the
//!    listener is closed, and who comes now is refused. The connections are not under the token:
//!    they end by themselves. A handler that waits for its next request does so through
//!    [`Stop::unless`], and learns there that none will be taken.
//! 4. Connections that are left when the time is up are cancelled, and that is a failure.
//!    Another signal meanwhile ends the process at once.

use std::error::Error;
use std::io;
use std::net::{Shutdown, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use pirn::Interrupt;
use pirn::cancel::Token;
use pirn::net::{TcpListener, TcpStream};
use pirn::scope::TaskGroup;
use pirn::signal::{self, Signal, SignalGuard};

/// A server that has a port and has not started to serve.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    stop: Stop,
    signals: SignalGuard,
    grace: Duration,
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
        })
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
        let handle = Arc::new(handle);
        let connections = TaskGroup::new();
        let accepted = self.stop.0.enter(|| {
            for stream in self.listener.incoming() {
                let stream = match stream {
                    Ok(stream) => stream,
                    Err(error) if Interrupt::of(&error).is_some() => break,
                    Err(error) => return Err(error).context("cannot accept"),
                };
                let handle = Arc::clone(&handle);
                let connection = move || report(&stream.peer_addr(), handle(stream));
                if connections.spawn(connection).is_err() {
                    break;
                }
            }
            Ok(())
        });
        // If accepting has failed, nobody has said so yet.
        self.stop.0.cancel();
        drop((self.listener, self.signals));
        drain(&connections, self.grace)?;
        accepted
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

/// Prints what went wrong in a connection. That the other end is gone is no news, nor that it has
/// been cut off.
fn report(peer: &io::Result<SocketAddr>, ended: anyhow::Result<()>) {
    let Err(error) = ended else { return };
    let is_news = error.downcast_ref::<io::Error>().is_none_or(|error| {
        use io::ErrorKind::{BrokenPipe, ConnectionReset};
        let is_gone = matches!(error.kind(), BrokenPipe | ConnectionReset);
        !is_gone && Interrupt::of(error).is_none()
    });
    match peer {
        _ if !is_news => {}
        Ok(peer) => eprintln!("connection from {peer}: {error:#}"),
        Err(_) => eprintln!("connection: {error:#}"),
    }
}
