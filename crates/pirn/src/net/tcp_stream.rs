//! TCP connections.

use std::fmt;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::net::{self, Shutdown, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use socket2::{Domain, Protocol, SockRef, Type};

use super::address::{ToSocketAddrs, first_of, resolve};
use super::case::ReadyCase;
use super::socket::{Socket, handle, limits, stream, total};
use crate::base::choice::Operation;
use crate::readiness::Interest;
use crate::wait::begin;

/// A TCP connection. Its calls park the fiber where those of [`std::net::TcpStream`] block the
/// thread.
///
/// Reads and writes go through [`Read`] and [`Write`], also of `&TcpStream`. Dropping the last
/// handle closes the connection.
///
/// # Examples
/// ```
/// use std::io::{Read, Write};
///
/// use pirn::net::{TcpListener, TcpStream};
///
/// let listener = TcpListener::bind("127.0.0.1:0")?;
/// let mut client = TcpStream::connect(listener.local_addr()?)?;
/// let (mut server, _) = listener.accept()?;
/// client.write_all(b"ping")?;
/// let mut word = [0; 4];
/// server.read_exact(&mut word)?;
/// assert_eq!(&word, b"ping");
/// # Ok::<(), std::io::Error>(())
/// ```
#[doc(alias = "TCPConn")]
#[doc(alias = "Conn")]
pub struct TcpStream {
    pub(super) socket: Arc<Socket<net::TcpStream>>,
}

handle!(
    TcpStream,
    net::TcpStream,
    r#"use pirn::net::{TcpListener, TcpStream};

let listener = TcpListener::bind("127.0.0.1:0")?;
let socket = TcpStream::connect(listener.local_addr()?)?;"#
);
limits!(
    TcpStream,
    r#"use pirn::net::{TcpListener, TcpStream};

let listener = TcpListener::bind("127.0.0.1:0")?;
let socket = TcpStream::connect(listener.local_addr()?)?;"#
);
// Only urgent bytes end a read early, and events report those.
stream!(TcpStream, true);

impl TcpStream {
    /// Connects to the first address that answers.
    ///
    /// # Errors
    /// The operating system's error for the last address tried, or for the name lookup.
    ///
    /// # Cancellation
    /// An interruption point: the attempt is abandoned. A lookup of a name in progress is not
    /// interrupted: the call returns when it has ended. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::{TcpListener, TcpStream};
    ///
    /// let listener = TcpListener::bind("127.0.0.1:0")?;
    /// let stream = TcpStream::connect(listener.local_addr()?)?;
    /// assert_eq!(stream.peer_addr()?, listener.local_addr()?);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "dial")]
    #[track_caller]
    pub fn connect<A: ToSocketAddrs>(address: A) -> io::Result<TcpStream> {
        let at = Location::caller();
        first_of(&resolve(&address)?, |address| connect(address, None, at))
    }

    /// Connects to one address, within `limit`.
    ///
    /// # Errors
    /// As for `connect`. Kind `TimedOut`: the limit expired. Kind `InvalidInput`: the limit is
    /// zero.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    ///
    /// use pirn::net::{TcpListener, TcpStream};
    ///
    /// let listener = TcpListener::bind("127.0.0.1:0")?;
    /// let address = listener.local_addr()?;
    /// let stream = TcpStream::connect_timeout(&address, Duration::from_secs(5))?;
    /// assert_eq!(stream.peer_addr()?, address);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "DialTimeout")]
    #[track_caller]
    pub fn connect_timeout(
        address: &SocketAddr,
        limit: Duration,
    ) -> io::Result<TcpStream> {
        if limit.is_zero() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "a time limit of zero",
            ));
        }
        connect(*address, Some(limit), Location::caller())
    }

    /// Receives into `buffer` without removing the bytes from the queue; returns their number.
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// use std::io::{Read, Write};
    ///
    /// use pirn::net::{TcpListener, TcpStream};
    ///
    /// let listener = TcpListener::bind("127.0.0.1:0")?;
    /// let mut client = TcpStream::connect(listener.local_addr()?)?;
    /// let (mut server, _) = listener.accept()?;
    /// client.write_all(b"ping")?;
    /// let mut word = [0; 4];
    /// assert_eq!(server.peek(&mut word)?, 4);
    /// assert_eq!(server.read(&mut word)?, 4);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn peek(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.socket.read_by(|inner| inner.peek(buffer), |_| false)
    }

    /// Shuts down one direction or both. Fibers and threads that wait for it resume and find the
    /// end.
    ///
    /// # Errors
    /// The operating system's error: no longer connected, for instance.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use std::io::Read;
    ///
    /// use pirn::net::{Shutdown, TcpListener, TcpStream};
    ///
    /// let listener = TcpListener::bind("127.0.0.1:0")?;
    /// let client = TcpStream::connect(listener.local_addr()?)?;
    /// let (mut server, _) = listener.accept()?;
    /// client.shutdown(Shutdown::Write)?;
    /// assert_eq!(server.read(&mut [0; 8])?, 0);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "CloseWrite")]
    #[doc(alias = "CloseRead")]
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.socket.inner().shutdown(how)
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
    /// use pirn::net::{TcpListener, TcpStream};
    ///
    /// let listener = TcpListener::bind("127.0.0.1:0")?;
    /// let client = TcpStream::connect(listener.local_addr()?)?;
    /// let (_server, from) = listener.accept()?;
    /// assert_eq!(client.local_addr()?, from);
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
    /// use pirn::net::{TcpListener, TcpStream};
    ///
    /// let listener = TcpListener::bind("127.0.0.1:0")?;
    /// let client = TcpStream::connect(listener.local_addr()?)?;
    /// assert_eq!(client.peer_addr()?, listener.local_addr()?);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "RemoteAddr")]
    #[doc(alias = "getpeername")]
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.socket.inner().peer_addr()
    }

    /// Sets whether small writes are sent at once instead of being combined with later ones (the
    /// socket option `TCP_NODELAY`).
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::{TcpListener, TcpStream};
    ///
    /// let listener = TcpListener::bind("127.0.0.1:0")?;
    /// let stream = TcpStream::connect(listener.local_addr()?)?;
    /// stream.set_nodelay(true)?;
    /// assert!(stream.nodelay()?);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "TCP_NODELAY")]
    pub fn set_nodelay(&self, yes: bool) -> io::Result<()> {
        self.socket.inner().set_nodelay(yes)
    }

    /// Returns true if small writes are sent at once.
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::{TcpListener, TcpStream};
    ///
    /// let listener = TcpListener::bind("127.0.0.1:0")?;
    /// let stream = TcpStream::connect(listener.local_addr()?)?;
    /// assert!(!stream.nodelay()?);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn nodelay(&self) -> io::Result<bool> {
        self.socket.inner().nodelay()
    }

    /// Sets the number of hops that a packet may take.
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::{TcpListener, TcpStream};
    ///
    /// let listener = TcpListener::bind("127.0.0.1:0")?;
    /// let stream = TcpStream::connect(listener.local_addr()?)?;
    /// stream.set_ttl(8)?;
    /// assert_eq!(stream.ttl()?, 8);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "IP_TTL")]
    pub fn set_ttl(&self, hops: u32) -> io::Result<()> {
        self.socket.inner().set_ttl(hops)
    }

    /// Returns the number of hops that a packet may take.
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::{TcpListener, TcpStream};
    ///
    /// let listener = TcpListener::bind("127.0.0.1:0")?;
    /// let stream = TcpStream::connect(listener.local_addr()?)?;
    /// assert_ne!(stream.ttl()?, 0);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn ttl(&self) -> io::Result<u32> {
        self.socket.inner().ttl()
    }

    /// Sets how long unsent data is kept when the connection is closed. With `Some` of zero the
    /// data is discarded and the other end sees a reset. `None` leaves it to the system. With any
    /// other limit, dropping the last handle blocks the thread while unsent data is left, for so
    /// long at most: drop it in [`blocking`](crate::blocking()). The system counts seconds: a part
    /// of one is rounded up.
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use std::io::{ErrorKind, Read};
    /// use std::time::Duration;
    ///
    /// use pirn::net::{TcpListener, TcpStream};
    ///
    /// let listener = TcpListener::bind("127.0.0.1:0")?;
    /// let client = TcpStream::connect(listener.local_addr()?)?;
    /// let (mut server, _) = listener.accept()?;
    /// client.set_linger(Some(Duration::ZERO))?;
    /// drop(client);
    /// let error = server.read(&mut [0; 8]).unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "SO_LINGER")]
    pub fn set_linger(&self, linger: Option<Duration>) -> io::Result<()> {
        // A limit that was cut to 0 seconds would discard the data.
        let whole = |limit: Duration| {
            let seconds = limit
                .as_secs()
                .saturating_add(u64::from(limit.subsec_nanos() > 0));
            Duration::from_secs(seconds.min(i32::MAX as u64))
        };
        SockRef::from(self.socket.inner()).set_linger(linger.map(whole))
    }
}

fn connect(
    address: SocketAddr,
    limit: Option<Duration>,
    at: &'static Location<'static>,
) -> io::Result<TcpStream> {
    begin(Operation::Io, 0)?;
    let domain = Domain::for_address(address);
    let opened = socket2::Socket::new(domain, Type::STREAM, Some(Protocol::TCP))?;
    opened.set_nonblocking(true)?;
    let under_way = match opened.connect(&address.into()) {
        Ok(()) => false,
        Err(error) if is_under_way(&error) => true,
        Err(error) => return Err(error),
    };
    let stream = TcpStream {
        socket: Socket::new(opened.into())?,
    };
    if under_way {
        stream
            .socket
            .await_connection(limit, at, |inner| match inner.peer_addr() {
                Ok(_) => Ok(true),
                Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(false),
                Err(error) => Err(error),
            })?;
    }
    Ok(stream)
}

fn is_under_way(error: &io::Error) -> bool {
    // EINPROGRESS; after a signal the same.
    error.raw_os_error() == Some(libc::EINPROGRESS)
        || error.kind() == io::ErrorKind::Interrupted
}
