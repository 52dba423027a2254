//! Unix: a socket that answers only the same user, or the administrator, with waits that can be
//! ended.
//!
//! Connected clients send their requests at the same time, each within a limit. A client that sends
//! nothing delays none of the others.
//!
//! Every wait is a `poll` of the socket and of one of a pair. The other one of the pair is the
//! [`Alarm`]: dropping that shuts the pair down, which ends all waits, present and later ones. (A
//! close alone would end none while a child of `fork` has a copy.) Sockets do not block.

use std::io::{self, ErrorKind, Read as _, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd as _, AsRawFd, RawFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process;
use std::time::{Duration, Instant};

use super::place::Place;
use crate::shim;
use crate::sys::calls;

/// A socket that listens.
#[derive(Debug)]
pub(crate) struct LocalListener {
    socket: UnixListener,
    /// Clients with incomplete requests, the oldest first.
    asking: Vec<Asking>,
    alarm: UnixStream,
    /// Removes the file when it is dropped.
    _place: Place,
}

/// Ends all waits of a listener and its clients when it is dropped.
#[derive(Debug)]
pub(crate) struct Alarm {
    bell: UnixStream,
    /// The process that has created it. The copy of a child ends no waits.
    process: u32,
}

/// A client that has connected and has not sent its whole request.
#[derive(Debug)]
struct Asking {
    socket: UnixStream,
    /// The deadline for the request.
    until: Instant,
    said: Vec<u8>,
    /// The client will send no more.
    is_done: bool,
}

/// A client that has connected.
#[derive(Debug)]
pub(crate) struct LocalClient<'a> {
    socket: UnixStream,
    alarm: &'a UnixStream,
    /// Reads and writes after this moment fail.
    until: Instant,
}

impl LocalListener {
    /// Listens at `path`, for this user alone.
    ///
    /// # Errors
    /// As [`Place::take`].
    pub(crate) fn bind(path: &Path) -> io::Result<(LocalListener, Alarm)> {
        let (alarm, bell) = UnixStream::pair()?;
        let (socket, place) = Place::take(path)?;
        socket.set_nonblocking(true)?;
        let listener = LocalListener {
            socket,
            asking: Vec::new(),
            alarm,
            _place: place,
        };
        let process = process::id();
        Ok((listener, Alarm { bell, process }))
    }

    /// Returns the next client that has sent a line, or all that it will send, at most `longest`
    /// bytes, with these bytes; a client of another user at once and with no bytes. Drops a client
    /// that has not sent its request after `limit`. Returns `None` when the alarm has been dropped.
    ///
    /// # Errors
    /// The error of the system, for example when no descriptors are left.
    pub(crate) fn accept(
        &mut self,
        limit: Duration,
        longest: usize,
    ) -> io::Result<Option<(LocalClient<'_>, Vec<u8>)>> {
        loop {
            let now = shim::now();
            // Read first: a request that came in time may have waited for another's answer.
            self.asking.retain_mut(|client| {
                client.listen(longest).is_ok() && (client.is_done || client.until > now)
            });
            let done = self.asking.iter().position(|client| client.is_done);
            if let Some(at) = done
                && let Woken::Late = wait(&[], &self.alarm, Some(now))?
            {
                let Asking {
                    socket,
                    until,
                    said,
                    ..
                } = self.asking.remove(at);
                let alarm = &self.alarm;
                let client = LocalClient {
                    socket,
                    alarm,
                    until,
                };
                return Ok(Some((client, said)));
            }
            let sockets = self.asking.iter().map(|client| client.socket.as_raw_fd());
            let sockets = sockets.chain([self.socket.as_raw_fd()]);
            let sockets: Vec<_> = sockets.map(|fd| (fd, libc::POLLIN)).collect();
            let until = self.asking.iter().map(|client| client.until).min();
            if let Woken::Alarm = wait(&sockets, &self.alarm, until)? {
                return Ok(None);
            }
            self.admit(shim::now() + limit, longest)?;
        }
    }

    /// Accepts the clients that have connected. If there are too many, the oldest one without its
    /// whole request is dropped; if there is none, the rest stays connected without being accepted.
    fn admit(&mut self, until: Instant, longest: usize) -> io::Result<()> {
        loop {
            let is_full = self.asking.len() >= MOST;
            if is_full {
                self.asking
                    .retain_mut(|client| client.listen(longest).is_ok());
                if self.asking.iter().all(|client| client.is_done) {
                    return Ok(());
                }
            }
            match self.socket.accept() {
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
                Err(error) => return Err(error),
                Ok((socket, _)) => {
                    socket.set_nonblocking(true)?;
                    let incomplete =
                        self.asking.iter().position(|client| !client.is_done);
                    if let Some(at) = incomplete.filter(|_| is_full) {
                        self.asking.remove(at);
                    }
                    let is_done = !is_friend(&socket)?;
                    self.asking.push(Asking {
                        socket,
                        until,
                        said: Vec::new(),
                        is_done,
                    });
                }
            }
        }
    }

    /// Blocks for this duration; false if the alarm has been dropped.
    pub(crate) fn pause(&self, length: Duration) -> bool {
        let until = shim::now() + length;
        matches!(wait(&[], &self.alarm, Some(until)), Ok(Woken::Late))
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        if self.process == process::id() {
            // Fails if the other one is closed: then there are no waits.
            let _ = self.bell.shutdown(Shutdown::Both);
        }
    }
}

impl Asking {
    /// Reads the bytes that are available.
    fn listen(&mut self, longest: usize) -> io::Result<()> {
        while !self.is_done {
            let mut bytes = [0; 128];
            let room = bytes.len().min(longest - self.said.len());
            match (&self.socket).read(&mut bytes[..room]) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(n) => {
                    self.said.extend_from_slice(&bytes[..n]);
                    let is_full = self.said.len() == longest;
                    self.is_done = n == 0 || is_full || self.said.contains(&b'\n');
                }
            }
        }
        Ok(())
    }
}

/// Returns whether a client belongs to this process's user, or to the administrator.
fn is_friend(socket: &UnixStream) -> io::Result<bool> {
    let user = calls::peer_user(socket.as_fd())?;
    Ok(user == 0 || user == calls::geteuid())
}

impl LocalClient<'_> {
    /// Returns whether the client belongs to this process's user, or to the administrator.
    ///
    /// # Errors
    /// The error of the system.
    pub(crate) fn is_friend(&self) -> io::Result<bool> {
        is_friend(&self.socket)
    }

    /// Makes reads and writes fail after this duration.
    pub(crate) fn limit(&mut self, limit: Duration) {
        self.until = shim::now() + limit;
    }

    fn wait(&self, events: libc::c_short) -> io::Result<()> {
        let socket = [(self.socket.as_raw_fd(), events)];
        match wait(&socket, self.alarm, Some(self.until))? {
            Woken::Ready => Ok(()),
            Woken::Late => Err(ErrorKind::TimedOut.into()),
            Woken::Alarm => Err(ErrorKind::ConnectionAborted.into()),
        }
    }
}

impl Write for LocalClient<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            self.wait(libc::POLLOUT)?;
            match (&self.socket).write(bytes) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                done => return done,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The reason for the end of a wait.
enum Woken {
    Ready,
    Alarm,
    Late,
}

/// Blocks until a socket is ready, the alarm is dropped or the deadline has passed.
fn wait(
    sockets: &[(RawFd, libc::c_short)],
    alarm: &UnixStream,
    until: Option<Instant>,
) -> io::Result<Woken> {
    let polled = |(fd, events)| libc::pollfd {
        fd,
        events,
        revents: 0,
    };
    loop {
        let alarm = (alarm.as_raw_fd(), libc::POLLIN);
        let all = [alarm].into_iter().chain(sockets.iter().copied());
        let mut all: Vec<_> = all.map(polled).collect();
        let timeout = match until {
            None => -1,
            Some(until) => {
                let left = until.saturating_duration_since(shim::now());
                // Rounded up, so that the deadline has passed when the wait ends.
                i32::try_from(left.as_nanos().div_ceil(1_000_000)).unwrap_or(i32::MAX)
            }
        };
        match calls::poll(&mut all, timeout) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
            Ok(_) if all[0].revents != 0 => return Ok(Woken::Alarm),
            Ok(1..) => return Ok(Woken::Ready),
            Ok(_) if until.is_some_and(|until| until <= shim::now()) => {
                return Ok(Woken::Late);
            }
            Ok(_) => {}
        }
    }
}

/// The most clients that are accepted and not answered. Arbitrary; each has a descriptor.
const MOST: usize = 64;
