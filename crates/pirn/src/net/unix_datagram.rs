//! Datagrams within the machine.

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
/// `std::os::unix::net::UnixDatagram` that parks its fiber. Nothing is lost on the way: a sender
/// waits until there is room.
pub struct UnixDatagram {
    socket: Arc<Socket<net::UnixDatagram>>,
}

handle!(UnixDatagram, net::UnixDatagram);
limits!(UnixDatagram);

impl UnixDatagram {
    /// Makes a socket at `path`.
    ///
    /// # Errors
    /// What the system says: there is a file already, for instance.
    pub fn bind<P: AsRef<Path>>(path: P) -> io::Result<UnixDatagram> {
        UnixDatagram::try_from(net::UnixDatagram::bind(path)?)
    }

    /// As [`bind`](Self::bind), at an address, which need not be a path.
    ///
    /// # Errors
    /// What the system says: it is taken, for instance.
    pub fn bind_addr(address: &SocketAddr) -> io::Result<UnixDatagram> {
        UnixDatagram::try_from(net::UnixDatagram::bind_addr(address)?)
    }

    /// Makes a socket without an address.
    ///
    /// # Errors
    /// What the system says.
    pub fn unbound() -> io::Result<UnixDatagram> {
        UnixDatagram::try_from(net::UnixDatagram::unbound()?)
    }

    /// Makes two sockets that are connected to each other.
    ///
    /// # Errors
    /// What the system says.
    pub fn pair() -> io::Result<(UnixDatagram, UnixDatagram)> {
        let (one, other) = net::UnixDatagram::pair()?;
        Ok((UnixDatagram::try_from(one)?, UnixDatagram::try_from(other)?))
    }

    /// Sends to the socket at `path` from now on.
    ///
    /// # Errors
    /// What the system says: there is none, for instance.
    pub fn connect<P: AsRef<Path>>(&self, path: P) -> io::Result<()> {
        self.socket.inner().connect(path)
    }

    /// As [`connect`](Self::connect), to an address, which need not be a path.
    ///
    /// # Errors
    /// What the system says: nobody is there, for instance.
    pub fn connect_addr(&self, address: &SocketAddr) -> io::Result<()> {
        self.socket.inner().connect_addr(address)
    }

    /// Receives a datagram into `buffer`; returns its length, cut to the buffer's, and where it
    /// comes from.
    ///
    /// # Errors
    /// What the system says.
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

    /// Receives a datagram. Once reading is [shut down](Self::shutdown) and none is left, it returns 0.
    ///
    /// # Errors
    /// What the system says.
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
    /// What the system says.
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
    /// What the system says: there is none, for instance.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    #[track_caller]
    pub fn send_to<P: AsRef<Path>>(&self, buffer: &[u8], path: P) -> io::Result<usize> {
        let path = path.as_ref();
        self.socket
            .write_by(|inner| inner.send_to(buffer, path), |_| false)
    }

    /// Sends a datagram to where another one has come from.
    ///
    /// # Errors
    /// What the system says.
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
    /// What the system says.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.socket.inner().shutdown(how)
    }

    /// The address of this socket.
    ///
    /// # Errors
    /// What the system says.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.inner().local_addr()
    }

    /// The address that it is connected to.
    ///
    /// # Errors
    /// What the system says: it is not.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.socket.inner().peer_addr()
    }
}

/// What `receive` comes to; `end`, if there is nothing and nothing more will come. On Linux a socket
/// that does not block says then that it would have to wait, and one that blocks comes back with
/// nothing.
fn or_end<R>(
    inner: &net::UnixDatagram,
    mut receive: impl FnMut() -> io::Result<R>,
    end: impl FnOnce() -> io::Result<R>,
) -> io::Result<R> {
    let waits = |error: &io::Error| error.kind() == io::ErrorKind::WouldBlock;
    match receive() {
        Err(error) if waits(&error) && is_read_closed(inner.as_fd()) => match receive() {
            // Nothing has come between the attempt and the end.
            Err(error) if waits(&error) => end(),
            received => received,
        },
        received => received,
    }
}
