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

/// A datagram socket within the machine, with an address in the file system. Its calls park the
/// fiber where those of [`std::os::unix::net::UnixDatagram`] block the thread. No datagram is lost
/// on the way: a sender waits while the queue is full.
///
/// # Examples
/// ```
/// use pirn::net::UnixDatagram;
///
/// let (one, other) = UnixDatagram::pair()?;
/// one.send(b"ping")?;
/// let mut buffer = [0; 16];
/// let len = other.recv(&mut buffer)?;
/// assert_eq!(&buffer[..len], b"ping");
/// # Ok::<(), std::io::Error>(())
/// ```
#[doc(alias = "UnixConn")]
pub struct UnixDatagram {
    socket: Arc<Socket<net::UnixDatagram>>,
}

handle!(
    UnixDatagram,
    net::UnixDatagram,
    r#"use pirn::net::UnixDatagram;

let (socket, _peer) = UnixDatagram::pair()?;"#
);
limits!(
    UnixDatagram,
    r#"use pirn::net::UnixDatagram;

let (socket, _peer) = UnixDatagram::pair()?;"#
);

/// The longest pause between two attempts to send to an address with a full queue. Linux reports
/// space in the queue of the peer that a socket is connected to, not in others. Arbitrary.
const AGAIN: Duration = Duration::from_millis(1);

impl UnixDatagram {
    /// Creates a socket at `path`.
    ///
    /// # Errors
    /// The operating system's error: the file exists, for instance.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::UnixDatagram;
    ///
    /// let name = format!("pirn-doc-datagram-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// let server = UnixDatagram::bind(&path)?;
    /// UnixDatagram::unbound()?.send_to(b"ping", &path)?;
    /// assert_eq!(server.recv(&mut [0; 16])?, 4);
    /// pirn::fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "ListenUnixgram")]
    pub fn bind<P: AsRef<Path>>(path: P) -> io::Result<UnixDatagram> {
        UnixDatagram::try_from(net::UnixDatagram::bind(path)?)
    }

    /// Creates a socket at an address, which need not be a path.
    ///
    /// # Errors
    /// The operating system's error: the address is in use, for instance.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use std::os::unix::net::SocketAddr;
    ///
    /// use pirn::net::UnixDatagram;
    ///
    /// let name = format!("pirn-doc-bind-addr-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// let socket = UnixDatagram::bind_addr(&SocketAddr::from_pathname(&path)?)?;
    /// assert_eq!(socket.local_addr()?.as_pathname(), Some(path.as_path()));
    /// pirn::fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn bind_addr(address: &SocketAddr) -> io::Result<UnixDatagram> {
        UnixDatagram::try_from(net::UnixDatagram::bind_addr(address)?)
    }

    /// Creates a socket without an address.
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::UnixDatagram;
    ///
    /// let socket = UnixDatagram::unbound()?;
    /// assert!(socket.local_addr()?.is_unnamed());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn unbound() -> io::Result<UnixDatagram> {
        UnixDatagram::try_from(net::UnixDatagram::unbound()?)
    }

    /// Creates two connected sockets.
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::UnixDatagram;
    ///
    /// let (one, other) = UnixDatagram::pair()?;
    /// one.send(b"ping")?;
    /// assert_eq!(other.recv(&mut [0; 16])?, 4);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "socketpair")]
    pub fn pair() -> io::Result<(UnixDatagram, UnixDatagram)> {
        let (one, other) = net::UnixDatagram::pair()?;
        Ok((UnixDatagram::try_from(one)?, UnixDatagram::try_from(other)?))
    }

    /// Sets the socket at `path` as the destination of later sends.
    ///
    /// # Errors
    /// The operating system's error: there is no such socket, for instance.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::UnixDatagram;
    ///
    /// let name = format!("pirn-doc-connect-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// let server = UnixDatagram::bind(&path)?;
    /// let client = UnixDatagram::unbound()?;
    /// client.connect(&path)?;
    /// client.send(b"ping")?;
    /// assert_eq!(server.recv(&mut [0; 16])?, 4);
    /// pirn::fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "DialUnix")]
    pub fn connect<P: AsRef<Path>>(&self, path: P) -> io::Result<()> {
        self.socket.inner().connect(path)
    }

    /// Sets the socket with this address, which need not be a path, as the destination of later
    /// sends.
    ///
    /// # Errors
    /// The operating system's error: no socket has the address, for instance.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::UnixDatagram;
    ///
    /// let name = format!("pirn-doc-connect-addr-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// let server = UnixDatagram::bind(&path)?;
    /// let client = UnixDatagram::unbound()?;
    /// client.connect_addr(&server.local_addr()?)?;
    /// client.send(b"ping")?;
    /// assert_eq!(server.recv(&mut [0; 16])?, 4);
    /// pirn::fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
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
    ///
    /// # Examples
    /// ```
    /// use pirn::net::UnixDatagram;
    ///
    /// let (one, other) = UnixDatagram::pair()?;
    /// one.send(b"ping")?;
    /// let (len, from) = other.recv_from(&mut [0; 16])?;
    /// assert_eq!(len, 4);
    /// assert!(from.is_unnamed());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "ReadFrom")]
    #[doc(alias = "recvfrom")]
    #[track_caller]
    pub fn recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        let receive = |inner: &net::UnixDatagram| {
            let unnamed = || Ok((0, SocketAddr::from_pathname("")?));
            or_end(inner, || inner.recv_from(buffer), unnamed)
        };
        self.socket.read_by(receive, |_| false)
    }

    /// Receives a datagram into `buffer` and returns its length, cut to the buffer's. Returns 0
    /// once reading is [shut down](Self::shutdown) and none is left.
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::UnixDatagram;
    ///
    /// let (one, other) = UnixDatagram::pair()?;
    /// one.send(b"ping")?;
    /// let mut buffer = [0; 16];
    /// let len = other.recv(&mut buffer)?;
    /// assert_eq!(&buffer[..len], b"ping");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let receive =
            |inner: &net::UnixDatagram| or_end(inner, || inner.recv(buffer), || Ok(0));
        self.socket.read_by(receive, |_| false)
    }

    /// Sends a datagram to the socket that this one is connected to. Returns the number of bytes
    /// sent.
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::UnixDatagram;
    ///
    /// let (one, _other) = UnixDatagram::pair()?;
    /// assert_eq!(one.send(b"ping")?, 4);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn send(&self, buffer: &[u8]) -> io::Result<usize> {
        self.socket.write_by(|inner| inner.send(buffer), |_| false)
    }

    /// Sends a datagram to the socket at `path`. Returns the number of bytes sent.
    ///
    /// # Errors
    /// The operating system's error: there is no such socket, for instance.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread. While the receiver's queue is
    /// full, it tries again after pauses of up to 1 ms.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::UnixDatagram;
    ///
    /// let name = format!("pirn-doc-send-to-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// let server = UnixDatagram::bind(&path)?;
    /// assert_eq!(UnixDatagram::unbound()?.send_to(b"ping", &path)?, 4);
    /// assert_eq!(server.recv(&mut [0; 16])?, 4);
    /// pirn::fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "WriteTo")]
    #[doc(alias = "sendto")]
    #[track_caller]
    pub fn send_to<P: AsRef<Path>>(&self, buffer: &[u8], path: P) -> io::Result<usize> {
        let path = path.as_ref();
        self.socket
            .write_after_pauses(AGAIN, |inner| inner.send_to(buffer, path))
    }

    /// Sends a datagram to an address that another datagram came from. Returns the number of bytes
    /// sent.
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread. While the receiver's queue is
    /// full, it tries again after pauses of up to 1 ms.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::UnixDatagram;
    ///
    /// let name = format!("pirn-doc-send-to-addr-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// let one = UnixDatagram::bind(&path)?;
    /// one.send_to(b"ping", &path)?;
    /// let (len, from) = one.recv_from(&mut [0; 16])?;
    /// assert_eq!(one.send_to_addr(b"pong", &from)?, len);
    /// pirn::fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn send_to_addr(&self, buffer: &[u8], to: &SocketAddr) -> io::Result<usize> {
        self.socket
            .write_after_pauses(AGAIN, |inner| inner.send_to_addr(buffer, to))
    }

    /// Shuts down one direction or both. Fibers and threads that wait for it resume: a receive
    /// finds the end.
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::{Shutdown, UnixDatagram};
    ///
    /// let (one, _other) = UnixDatagram::pair()?;
    /// one.shutdown(Shutdown::Read)?;
    /// assert_eq!(one.recv(&mut [0; 16])?, 0);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "CloseWrite")]
    #[doc(alias = "CloseRead")]
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.socket.inner().shutdown(how)?;
        // The system does not report a writer's end of a socket within the machine.
        self.socket.source().retry_all();
        Ok(())
    }

    /// Returns the address of this socket.
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::UnixDatagram;
    ///
    /// let (one, _other) = UnixDatagram::pair()?;
    /// assert!(one.local_addr()?.is_unnamed());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "getsockname")]
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.inner().local_addr()
    }

    /// Returns the address that the socket is connected to.
    ///
    /// # Errors
    /// The operating system's error: the socket is not connected, for instance.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::UnixDatagram;
    ///
    /// let (one, _other) = UnixDatagram::pair()?;
    /// assert!(one.peer_addr()?.is_unnamed());
    /// assert!(UnixDatagram::unbound()?.peer_addr().is_err());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "RemoteAddr")]
    #[doc(alias = "getpeername")]
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
