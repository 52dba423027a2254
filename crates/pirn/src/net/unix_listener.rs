//! Listening for connections within the machine.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::net::{self, SocketAddr};
use std::path::Path;
use std::sync::Arc;

use super::case::{Accept, AcceptCase};
use super::socket::{Socket, handle};
use super::unix_stream::UnixStream;

/// A listener for connections within the machine. Its address is a path, or another one by
/// [`bind_addr`](Self::bind_addr). Its calls park the fiber where those of
/// [`std::os::unix::net::UnixListener`] block the thread. The file of a path stays when the
/// listener is dropped.
///
/// # Examples
/// ```
/// use std::io::{Read, Write};
///
/// use pirn::net::{UnixListener, UnixStream};
///
/// let name = format!("pirn-doc-listener-{}", std::process::id());
/// let path = std::env::temp_dir().join(name);
/// let listener = UnixListener::bind(&path)?;
/// let mut client = UnixStream::connect(&path)?;
/// let (mut server, _) = listener.accept()?;
/// client.write_all(b"ping")?;
/// assert_eq!(server.read(&mut [0; 16])?, 4);
/// pirn::fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[doc(alias = "ListenUnix")]
pub struct UnixListener {
    socket: Arc<Socket<net::UnixListener>>,
}

handle!(
    UnixListener,
    net::UnixListener,
    r#"use pirn::net::UnixListener;

let name = format!("pirn-doc-handle-{}", std::process::id());
let path = std::env::temp_dir().join(name);
let socket = UnixListener::bind(&path)?;
pirn::fs::remove_file(&path)?;"#
);

impl UnixListener {
    /// Creates a socket at `path` and listens on it.
    ///
    /// # Errors
    /// The operating system's error: the file exists, for instance.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::UnixListener;
    ///
    /// let name = format!("pirn-doc-bind-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// let listener = UnixListener::bind(&path)?;
    /// assert_eq!(listener.local_addr()?.as_pathname(), Some(path.as_path()));
    /// pirn::fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "listen")]
    pub fn bind<P: AsRef<Path>>(path: P) -> io::Result<UnixListener> {
        UnixListener::try_from(net::UnixListener::bind(path)?)
    }

    /// Creates a socket at an address, which need not be a path, and listens on it.
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
    /// use pirn::net::{UnixListener, UnixStream};
    ///
    /// let name = format!("pirn-doc-listen-addr-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// let listener = UnixListener::bind_addr(&SocketAddr::from_pathname(&path)?)?;
    /// let _client = UnixStream::connect(&path)?;
    /// assert!(listener.accept()?.1.is_unnamed());
    /// pirn::fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
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
    ///
    /// # Examples
    /// ```
    /// use pirn::net::{UnixListener, UnixStream};
    ///
    /// let name = format!("pirn-doc-accept-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// let listener = UnixListener::bind(&path)?;
    /// let _client = UnixStream::connect(&path)?;
    /// let (_stream, from) = listener.accept()?;
    /// assert!(from.is_unnamed());
    /// pirn::fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
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
    ///
    /// # Examples
    /// ```
    /// use pirn::net::{UnixListener, UnixStream};
    ///
    /// let name = format!("pirn-doc-accept-case-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// let listener = UnixListener::bind(&path)?;
    /// let _client = UnixStream::connect(&path)?;
    /// pirn::select! {
    ///     case(listener.accept_case()) -> accepted => assert!(accepted.is_ok()),
    ///     cancelled(interrupt) => panic!("{interrupt}"),
    /// }
    /// pirn::fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "poll_accept")]
    pub fn accept_case(&self) -> AcceptCase<'_, UnixListener> {
        AcceptCase::new(self.socket.source(), self)
    }

    /// Returns the address that the listener is bound to.
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::UnixListener;
    ///
    /// let name = format!("pirn-doc-local-addr-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// let listener = UnixListener::bind(&path)?;
    /// assert_eq!(listener.local_addr()?.as_pathname(), Some(path.as_path()));
    /// pirn::fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "getsockname")]
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.inner().local_addr()
    }
}

impl Accept for UnixListener {
    type Accepted = (UnixStream, SocketAddr);

    fn accept_now(&self) -> io::Result<(UnixStream, SocketAddr)> {
        let (stream, from) = self.socket.inner().accept()?;
        Ok((UnixStream::try_from(stream)?, from))
    }
}
