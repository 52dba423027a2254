//! Datagram sockets within the machine.

use std::fmt;
use std::io;
use std::net::Shutdown;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::net::{self, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::case::ReadyCase;
use super::socket::{Socket, handle, limits};
use crate::readiness::Interest;
use crate::sys::is_read_closed;

/// Sends and receives datagrams through sockets in the file system;
/// `std::os::unix::net::UnixDatagram` that parks its fiber. No datagram is lost on the way: a
/// sender waits while the queue is full.
pub struct UnixDatagram {
    socket: Arc<Socket<net::UnixDatagram>>,
}

handle!(UnixDatagram, net::UnixDatagram);
limits!(UnixDatagram);

impl UnixDatagram {
    /// Creates a socket at `path`.
    ///
    /// # Errors
    /// The operating system's error: the file exists, for instance.
    pub fn bind<P: AsRef<Path>>(path: P) -> io::Result<UnixDatagram> {
        UnixDatagram::try_from(net::UnixDatagram::bind(path)?)
    }

    /// Like [`bind`](Self::bind), with an address, which need not be a path.
    ///
    /// # Errors
    /// The operating system's error: the address is in use, for instance.
    pub fn bind_addr(address: &SocketAddr) -> io::Result<UnixDatagram> {
        UnixDatagram::try_from(net::UnixDatagram::bind_addr(address)?)
    }

    /// Creates a socket without an address.
    ///
    /// # Errors
    /// Returns the operating system's error.
    pub fn unbound() -> io::Result<UnixDatagram> {
        UnixDatagram::try_from(net::UnixDatagram::unbound()?)
    }

    /// Creates two connected sockets.
    ///
    /// # Errors
    /// Returns the operating system's error.
    pub fn pair() -> io::Result<(UnixDatagram, UnixDatagram)> {
        let (one, other) = net::UnixDatagram::pair()?;
        Ok((UnixDatagram::try_from(one)?, UnixDatagram::try_from(other)?))
    }

    /// Sets the socket at `path` as the destination of later sends.
    ///
    /// # Errors
    /// The operating system's error: there is no such socket, for instance.
    pub fn connect<P: AsRef<Path>>(&self, path: P) -> io::Result<()> {
        self.socket.inner().connect(path)
    }

    /// Like [`connect`](Self::connect), with an address, which need not be a path.
    ///
    /// # Errors
    /// The operating system's error: no socket has the address, for instance.
    pub fn connect_addr(&self, address: &SocketAddr) -> io::Result<()> {
        self.socket.inner().connect_addr(address)
    }

    /// Receives a datagram into `buffer`. Returns its length, cut to the buffer's, and the sender's
    /// address.
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    #[track_caller]
    pub fn recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        let receive = |inner: &net::UnixDatagram| {
            let nobody = || Ok((0, SocketAddr::from_pathname("")?));
            or_end(inner, || inner.recv_from(buffer), nobody)
        };
        self.socket.read_by(receive, |_| false)
    }

    /// Receives a datagram. Returns 0 once reading is [shut down](Self::shutdown) and none is left.
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    #[track_caller]
    pub fn recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let receive =
            |inner: &net::UnixDatagram| or_end(inner, || inner.recv(buffer), || Ok(0));
        self.socket.read_by(receive, |_| false)
    }

    /// Sends a datagram to the socket that this one is connected to.
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    #[track_caller]
    pub fn send(&self, buffer: &[u8]) -> io::Result<usize> {
        self.socket.write_by(|inner| inner.send(buffer), |_| false)
    }

    /// Sends a datagram to the socket at `path`.
    ///
    /// # Errors
    /// The operating system's error: there is no such socket, for instance.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    #[track_caller]
    pub fn send_to<P: AsRef<Path>>(&self, buffer: &[u8], path: P) -> io::Result<usize> {
        let path = path.as_ref();
        self.socket
            .write_by(|inner| inner.send_to(buffer, path), |_| false)
    }

    /// Sends a datagram to an address that another datagram came from.
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    #[track_caller]
    pub fn send_to_addr(&self, buffer: &[u8], to: &SocketAddr) -> io::Result<usize> {
        self.socket
            .write_by(|inner| inner.send_to_addr(buffer, to), |_| false)
    }

    /// Shuts down one direction or both.
    ///
    /// # Errors
    /// Returns the operating system's error.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.socket.inner().shutdown(how)
    }

    /// Returns the address of this socket.
    ///
    /// # Errors
    /// Returns the operating system's error.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.inner().local_addr()
    }

    /// Returns the address that the socket is connected to.
    ///
    /// # Errors
    /// The operating system's error: the socket is not connected, for instance.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.socket.inner().peer_addr()
    }
}

/// Returns the result of `receive`, or of `end` if nothing is queued and nothing more will come. On
/// Linux a non-blocking socket then reports that it would have to wait, and a blocking one returns
/// 0 bytes.
fn or_end<R>(
    inner: &net::UnixDatagram,
    mut receive: impl FnMut() -> io::Result<R>,
    end: impl FnOnce() -> io::Result<R>,
) -> io::Result<R> {
    let waits = |error: &io::Error| error.kind() == io::ErrorKind::WouldBlock;
    match receive() {
        Err(error) if waits(&error) && is_read_closed(inner.as_fd()) => match receive() {
            // No datagram has arrived between the attempt and the end.
            Err(error) if waits(&error) => end(),
            received => received,
        },
        received => received,
    }
}
