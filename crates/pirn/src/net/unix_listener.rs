//! Listening for connections within the machine.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::net::{self, SocketAddr};
use std::path::Path;
use std::sync::Arc;

use super::case::{Accept, AcceptCase};
use super::incoming::UnixIncoming;
use super::socket::{Socket, handle};
use super::unix_stream::UnixStream;

/// Accepts connections through a socket in the file system; `std::os::unix::net::UnixListener`
/// that parks its fiber. The file stays when the listener is dropped.
pub struct UnixListener {
    socket: Arc<Socket<net::UnixListener>>,
}

handle!(UnixListener, net::UnixListener);

impl UnixListener {
    /// Creates a socket at `path` and listens on it.
    ///
    /// # Errors
    /// The operating system's error: the file exists, for instance.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    pub fn bind<P: AsRef<Path>>(path: P) -> io::Result<UnixListener> {
        UnixListener::try_from(net::UnixListener::bind(path)?)
    }

    /// Like [`bind`](Self::bind), with an address, which need not be a path.
    ///
    /// # Errors
    /// The operating system's error: the address is in use, for instance.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    pub fn bind_addr(address: &SocketAddr) -> io::Result<UnixListener> {
        UnixListener::try_from(net::UnixListener::bind_addr(address)?)
    }

    /// Accepts a connection and returns it with the peer's address.
    ///
    /// # Errors
    /// As for [`TcpListener::accept`](super::TcpListener::accept).
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    #[track_caller]
    pub fn accept(&self) -> io::Result<(UnixStream, SocketAddr)> {
        let accept = |inner: &net::UnixListener| inner.accept();
        let (stream, from) = self.socket.read_by(accept, |_| false)?;
        Ok((UnixStream::try_from(stream)?, from))
    }

    /// Returns a case for a select that accepts a connection.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    pub fn accept_case(&self) -> AcceptCase<'_, UnixListener> {
        AcceptCase::new(self.socket.source(), self)
    }

    /// Returns an iterator over incoming connections, like
    /// [`TcpListener::incoming`](super::TcpListener::incoming).
    ///
    /// # Cancellation
    /// Each step is an interruption point.
    pub fn incoming(&self) -> UnixIncoming<'_> {
        UnixIncoming::new(self)
    }

    /// Returns the address that the listener is bound to.
    ///
    /// # Errors
    /// Returns the operating system's error.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.inner().local_addr()
    }
}

impl<'a> IntoIterator for &'a UnixListener {
    type Item = io::Result<UnixStream>;
    type IntoIter = UnixIncoming<'a>;

    fn into_iter(self) -> UnixIncoming<'a> {
        self.incoming()
    }
}

impl Accept for UnixListener {
    type Accepted = (UnixStream, SocketAddr);

    fn accept_now(&self) -> io::Result<(UnixStream, SocketAddr)> {
        let (stream, from) = self.socket.inner().accept()?;
        Ok((UnixStream::try_from(stream)?, from))
    }
}
