//! Unix: a socket that only the same user, or the administrator, is heard on, and waits for it
//! that can be ended.
//!
//! Every wait is a `poll` of the socket and of a pipe whose other end is the [`Alarm`]: when that
//! is dropped, all waits end, from then on. Sockets do not block.

use std::io::{self, Error, ErrorKind, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::{Duration, Instant};

use super::peer;
use super::place::Place;
use crate::shim;

/// A socket that listens.
#[derive(Debug)]
pub(crate) struct LocalListener {
    socket: UnixListener,
    alarm: PipeReader,
    /// Dropped, it removes the file.
    _place: Place,
}

/// Ends all waits of a listener and its clients when it is dropped.
#[derive(Debug)]
pub(crate) struct Alarm(#[expect(dead_code, reason = "dropped")] PipeWriter);

/// Somebody who has connected.
#[derive(Debug)]
pub(crate) struct LocalClient<'a> {
    socket: UnixStream,
    alarm: &'a PipeReader,
    /// Reads and writes after this are errors.
    until: Instant,
}

impl LocalListener {
    /// Listens at `path`, for this user alone.
    ///
    /// # Errors
    /// As [`Place::take`].
    pub(crate) fn bind(path: &Path) -> io::Result<(LocalListener, Alarm)> {
        let (alarm, bell) = io::pipe()?;
        let (socket, place) = Place::take(path)?;
        socket.set_nonblocking(true)?;
        let listener = LocalListener {
            socket,
            alarm,
            _place: place,
        };
        Ok((listener, Alarm(bell)))
    }

    /// The next one who connects, with whom talking after `limit` is an error; `None` when the
    /// alarm has been dropped.
    ///
    /// # Errors
    /// What the system says, when it has no descriptors to give for instance.
    pub(crate) fn accept(&self, limit: Duration) -> io::Result<Option<LocalClient<'_>>> {
        loop {
            match wait(
                Some((self.socket.as_raw_fd(), libc::POLLIN)),
                &self.alarm,
                None,
            )? {
                Woken::Alarm => return Ok(None),
                Woken::Ready | Woken::Late => {}
            }
            match self.socket.accept() {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
                Err(error) => return Err(error),
                Ok((socket, _)) => {
                    socket.set_nonblocking(true)?;
                    let until = shim::now() + limit;
                    let alarm = &self.alarm;
                    return Ok(Some(LocalClient {
                        socket,
                        alarm,
                        until,
                    }));
                }
            }
        }
    }

    /// Waits for so long; false if the alarm has been dropped.
    pub(crate) fn pause(&self, length: Duration) -> bool {
        let until = shim::now() + length;
        matches!(wait(None, &self.alarm, Some(until)), Ok(Woken::Late))
    }
}

impl LocalClient<'_> {
    /// Whether the client belongs to this process's user, or to the administrator.
    ///
    /// # Errors
    /// If the system does not say.
    pub(crate) fn is_friend(&self) -> io::Result<bool> {
        let user = peer::user(&self.socket)?;
        // SAFETY: no arguments, cannot fail.
        Ok(user == 0 || user == unsafe { libc::geteuid() })
    }

    /// From now on, reads and writes after so long are errors.
    pub(crate) fn limit(&mut self, limit: Duration) {
        self.until = shim::now() + limit;
    }

    fn wait(&self, events: libc::c_short) -> io::Result<()> {
        let socket = Some((self.socket.as_raw_fd(), events));
        match wait(socket, self.alarm, Some(self.until))? {
            Woken::Ready => Ok(()),
            Woken::Late => Err(ErrorKind::TimedOut.into()),
            Woken::Alarm => Err(ErrorKind::ConnectionAborted.into()),
        }
    }
}

impl Read for LocalClient<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            self.wait(libc::POLLIN)?;
            match (&self.socket).read(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                done => return done,
            }
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

/// Why a wait has ended.
enum Woken {
    Ready,
    Alarm,
    Late,
}

/// Waits until the socket is ready, the alarm is dropped or the time has come.
fn wait(
    socket: Option<(RawFd, libc::c_short)>,
    alarm: &PipeReader,
    until: Option<Instant>,
) -> io::Result<Woken> {
    // A negative descriptor is left out.
    let (fd, events) = socket.unwrap_or((-1, 0));
    let polled = |fd, events| libc::pollfd {
        fd,
        events,
        revents: 0,
    };
    loop {
        let mut both = [polled(alarm.as_raw_fd(), libc::POLLIN), polled(fd, events)];
        let timeout = match until {
            None => -1,
            Some(until) => {
                let left = until.saturating_duration_since(shim::now());
                // Rounded up, so that it is over when the wait is.
                i32::try_from(left.as_nanos().div_ceil(1_000_000)).unwrap_or(i32::MAX)
            }
        };
        // SAFETY: the array is valid, and has two elements.
        let ready = unsafe { libc::poll(both.as_mut_ptr(), 2, timeout) };
        let error = Error::last_os_error();
        match ready {
            _ if ready < 0 && error.kind() == ErrorKind::Interrupted => {}
            _ if ready < 0 => return Err(error),
            _ if both[0].revents != 0 => return Ok(Woken::Alarm),
            _ if both[1].revents != 0 => return Ok(Woken::Ready),
            _ if until.is_some_and(|until| until <= shim::now()) => {
                return Ok(Woken::Late);
            }
            _ => {}
        }
    }
}
