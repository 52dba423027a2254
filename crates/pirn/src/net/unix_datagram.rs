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
        self.socket
            .read_by(|inner| inner.recv_from(buffer), |_| false)
    }

    /// Receives a datagram.
    ///
    /// # Errors
    /// What the system says.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    #[track_caller]
    pub fn recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.socket.read_by(|inner| inner.recv(buffer), |_| false)
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
