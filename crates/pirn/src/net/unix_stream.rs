//! Stream connections within the machine.

#[cfg(target_os = "linux")]
use std::ffi::OsStr;
use std::fmt;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
#[cfg(target_os = "linux")]
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{self, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use socket2::{Domain, SockAddr, Type};

use super::case::ReadyCase;
use super::socket::{Socket, handle, limits, stream, total};
use crate::base::choice::Operation;
use crate::readiness::Interest;
use crate::time::sleep;
use crate::wait::begin;

/// A stream connection within the machine. Its calls park the fiber where those of
/// [`std::os::unix::net::UnixStream`] block the thread.
///
/// # Examples
/// ```
/// use std::io::{Read, Write};
///
/// use pirn::net::UnixStream;
///
/// let (mut one, mut other) = UnixStream::pair()?;
/// one.write_all(b"ping")?;
/// let mut word = [0; 4];
/// other.read_exact(&mut word)?;
/// assert_eq!(&word, b"ping");
/// # Ok::<(), std::io::Error>(())
/// ```
#[doc(alias = "UnixConn")]
pub struct UnixStream {
    pub(super) socket: Arc<Socket<net::UnixStream>>,
}

handle!(
    UnixStream,
    net::UnixStream,
    r#"use pirn::net::UnixStream;

let (socket, _peer) = UnixStream::pair()?;"#
);
limits!(
    UnixStream,
    r#"use pirn::net::UnixStream;

let (socket, _peer) = UnixStream::pair()?;"#
);
// A read ends early behind data that was sent with a descriptor.
stream!(UnixStream, false);

/// The pause between two attempts to connect while the queue of a listener is full. The system does
/// not report when the queue has space. Arbitrary.
const AGAIN: Duration = Duration::from_millis(1);

impl UnixStream {
    /// Connects to the socket at `path`.
    ///
    /// # Errors
    /// The operating system's error: there is no such socket, for instance. Kind `InvalidInput`:
    /// the path has a zero byte.
    ///
    /// # Cancellation
    /// An interruption point. While the listener's queue is full it parks a fiber, or blocks a
    /// plain thread, and tries once a millisecond.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::{UnixListener, UnixStream};
    ///
    /// let name = format!("pirn-doc-stream-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// let listener = UnixListener::bind(&path)?;
    /// let stream = UnixStream::connect(&path)?;
    /// assert_eq!(stream.peer_addr()?.as_pathname(), Some(path.as_path()));
    /// # drop(listener);
    /// pirn::fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "DialUnix")]
    #[track_caller]
    pub fn connect<P: AsRef<Path>>(path: P) -> io::Result<UnixStream> {
        begin(Operation::Io, 0)?;
        // As `std` does: the system would take the name up to a zero byte, or an abstract one.
        let path = path.as_ref();
        if path.as_os_str().as_bytes().contains(&0) {
            let what = "the path of a socket has a zero byte";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        connect(&SockAddr::unix(path)?)
    }

    /// Connects to the socket at an address, which need not be a path.
    ///
    /// # Errors
    /// As for [`connect`](Self::connect). Kind `InvalidInput`: the address is unnamed.
    ///
    /// # Cancellation
    /// As for [`connect`](Self::connect).
    ///
    /// # Examples
    /// ```
    /// use pirn::net::{UnixListener, UnixStream};
    ///
    /// let name = format!("pirn-doc-stream-addr-{}", std::process::id());
    /// let path = std::env::temp_dir().join(name);
    /// let listener = UnixListener::bind(&path)?;
    /// let stream = UnixStream::connect_addr(&listener.local_addr()?)?;
    /// assert_eq!(stream.peer_addr()?.as_pathname(), Some(path.as_path()));
    /// pirn::fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn connect_addr(address: &SocketAddr) -> io::Result<UnixStream> {
        begin(Operation::Io, 0)?;
        connect(&to_system(address)?)
    }

    /// Creates the two ends of a connection.
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use std::io::{Read, Write};
    ///
    /// use pirn::net::UnixStream;
    ///
    /// let (mut one, mut other) = UnixStream::pair()?;
    /// one.write_all(b"ping")?;
    /// assert_eq!(other.read(&mut [0; 16])?, 4);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "socketpair")]
    pub fn pair() -> io::Result<(UnixStream, UnixStream)> {
        let (one, other) = net::UnixStream::pair()?;
        Ok((UnixStream::try_from(one)?, UnixStream::try_from(other)?))
    }

    /// Shuts down one direction or both. Fibers and threads that wait for it resume and find the
    /// end. A peer that waits to write does not learn of the end of this reading side before this
    /// socket is closed: Linux does not report it.
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use std::io::Read;
    ///
    /// use pirn::net::{Shutdown, UnixStream};
    ///
    /// let (one, mut other) = UnixStream::pair()?;
    /// one.shutdown(Shutdown::Write)?;
    /// assert_eq!(other.read(&mut [0; 8])?, 0);
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

    /// Returns the address of this end.
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::UnixStream;
    ///
    /// let (one, _other) = UnixStream::pair()?;
    /// assert!(one.local_addr()?.is_unnamed());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "getsockname")]
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.inner().local_addr()
    }

    /// Returns the address of the other end.
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::UnixStream;
    ///
    /// let (one, _other) = UnixStream::pair()?;
    /// assert!(one.peer_addr()?.is_unnamed());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "RemoteAddr")]
    #[doc(alias = "getpeername")]
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.socket.inner().peer_addr()
    }
}

#[track_caller]
fn connect(address: &SockAddr) -> io::Result<UnixStream> {
    loop {
        let opened = socket2::Socket::new(Domain::UNIX, Type::STREAM, None)?;
        opened.set_nonblocking(true)?;
        match opened.connect(address) {
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

/// Returns `address` as the system has it. `std` does not give its bytes.
fn to_system(address: &SocketAddr) -> io::Result<SockAddr> {
    #[cfg(target_os = "linux")]
    if let Some(name) = address.as_abstract_name() {
        // A name that begins with a zero byte is no path.
        return SockAddr::unix(OsStr::from_bytes(&[b"\0", name].concat()));
    }
    // An empty path stands for the unnamed address.
    SockAddr::unix(address.as_pathname().unwrap_or(Path::new("")))
}
