//! Stream connections within the machine.

use std::fmt;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::net::{self, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use socket2::{Domain, SockAddr, Type};

use super::case::ReadyCase;
use super::socket::{Socket, handle, limits, stream, total};
use crate::readiness::Interest;
use crate::time::sleep;
use crate::wait::begin;

/// A connection through a socket in the file system; `std::os::unix::net::UnixStream` that parks
/// its fiber.
pub struct UnixStream {
    pub(super) socket: Arc<Socket<net::UnixStream>>,
}

handle!(UnixStream, net::UnixStream);
limits!(UnixStream);
// A read ends early behind data that was sent with a descriptor.
stream!(UnixStream, false);

/// The pause between two attempts to connect while the queue of a listener is full. The system does not
/// report when the queue has space. Arbitrary.
const AGAIN: Duration = Duration::from_millis(1);

impl UnixStream {
    /// Connects to the socket at `path`.
    ///
    /// # Errors
    /// The operating system's error: there is no such socket, for instance.
    ///
    /// # Cancellation
    /// An interruption point. While the listener's queue is full it parks a fiber, or blocks a
    /// plain thread, and tries once a millisecond.
    #[track_caller]
    pub fn connect<P: AsRef<Path>>(path: P) -> io::Result<UnixStream> {
        begin()?;
        let address = SockAddr::unix(path)?;
        loop {
            let opened = socket2::Socket::new(Domain::UNIX, Type::STREAM, None)?;
            opened.set_nonblocking(true)?;
            match opened.connect(&address) {
                Ok(()) => {
                    let socket = Socket::new(opened.into())?;
                    return Ok(UnixStream { socket });
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => sleep(AGAIN)?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Creates the two ends of a connection.
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    pub fn pair() -> io::Result<(UnixStream, UnixStream)> {
        let (one, other) = net::UnixStream::pair()?;
        Ok((UnixStream::try_from(one)?, UnixStream::try_from(other)?))
    }

    /// Shuts down one direction or both. Fibers and threads that wait for it resume and find the
    /// end.
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.socket.inner().shutdown(how)
    }

    /// Returns the address of this end.
    ///
    /// # Errors
    /// Returns the operating system's error.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.inner().local_addr()
    }

    /// Returns the address of the other end.
    ///
    /// # Errors
    /// Returns the operating system's error.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.socket.inner().peer_addr()
    }
}
