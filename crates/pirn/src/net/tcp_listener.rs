//! Listening for TCP connections.

use std::fmt;
use std::io;
use std::net::{self, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::Arc;

use super::address::{ToSocketAddrs, first_of, resolve};
use super::case::{Accept, AcceptCase};
use super::options::ListenOptions;
use super::socket::{Socket, handle};
use super::tcp_stream::TcpStream;

/// A listener for TCP connections. Its calls park the fiber where those of
/// [`std::net::TcpListener`] block the thread.
///
/// Several fibers and threads may accept from one listener at once. A server is a loop over
/// [`incoming`](Self::incoming) that spawns a fiber for each connection:
///
/// # Examples
/// ```no_run
/// use std::io;
///
/// use pirn::net::TcpListener;
///
/// fn serve() -> io::Result<()> {
///     let listener = TcpListener::bind("127.0.0.1:8000")?;
///     pirn::scope::supervise(|s| {
///         for stream in listener.incoming() {
///             let stream = stream?;
///             // `&TcpStream` reads and writes too: everything comes back to where it came from.
///             drop(s.spawn(move || io::copy(&mut &stream, &mut &stream)));
///         }
///         Ok(())
///     })
/// }
/// ```
#[doc(alias = "TCPListener")]
#[doc(alias = "ListenTCP")]
pub struct TcpListener {
    socket: Arc<Socket<net::TcpListener>>,
}

handle!(
    TcpListener,
    net::TcpListener,
    r#"use pirn::net::TcpListener;

let socket = TcpListener::bind("127.0.0.1:0")?;"#
);

impl TcpListener {
    /// Listens on the first address that can be bound. Port 0 stands for any free port.
    ///
    /// # Errors
    /// The operating system's error for the last address tried, or for the name lookup.
    ///
    /// # Cancellation
    /// An interruption point only if a name has to be looked up.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::TcpListener;
    ///
    /// let listener = TcpListener::bind("127.0.0.1:0")?;
    /// assert_ne!(listener.local_addr()?.port(), 0);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "listen")]
    #[track_caller]
    pub fn bind<A: ToSocketAddrs>(address: A) -> io::Result<TcpListener> {
        TcpListener::bind_with(address, &ListenOptions::default())
    }

    /// Listens on the first address that can be bound, with options.
    ///
    /// # Errors
    /// As for `bind`.
    ///
    /// # Cancellation
    /// An interruption point only if a name has to be looked up.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::{ListenOptions, TcpListener};
    ///
    /// let options = ListenOptions::new().backlog(16);
    /// let listener = TcpListener::bind_with("127.0.0.1:0", &options)?;
    /// assert!(listener.local_addr()?.ip().is_loopback());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "ListenConfig")]
    #[doc(alias = "TcpSocket")]
    #[track_caller]
    pub fn bind_with<A: ToSocketAddrs>(
        address: A,
        options: &ListenOptions,
    ) -> io::Result<TcpListener> {
        let opened = first_of(&resolve(&address)?, |address| options.open(address))?;
        Ok(TcpListener {
            socket: Socket::new(opened)?,
        })
    }

    /// Accepts a connection and returns it with the peer's address.
    ///
    /// # Errors
    /// Every error of the system, as in `std`. Linux also returns errors of the connection that
    /// was next: `ECONNABORTED`, `ECONNRESET`, `EPROTO`, `ENOPROTOOPT`, `ENETDOWN`, `ENETUNREACH`,
    /// `EHOSTDOWN`, `EHOSTUNREACH`, `ENONET`, `EOPNOTSUPP`, `ETIMEDOUT`. A server retries at once
    /// after these. After `EMFILE`, `ENFILE`, `ENOBUFS` and `ENOMEM` it retries after a pause,
    /// because each attempt fails until a descriptor or memory is free.
    /// [`incoming`](Self::incoming) does both. Other errors (`EPERM` among them) concern the
    /// listener, and the next attempt fails in the same way.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::{TcpListener, TcpStream};
    ///
    /// let listener = TcpListener::bind("127.0.0.1:0")?;
    /// let client = TcpStream::connect(listener.local_addr()?)?;
    /// let (stream, from) = listener.accept()?;
    /// assert_eq!(from, client.local_addr()?);
    /// assert_eq!(from, stream.peer_addr()?);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        let accept = |inner: &net::TcpListener| inner.accept();
        let (stream, from) = self.socket.read_by(accept, |_| false)?;
        Ok((TcpStream::try_from(stream)?, from))
    }

    /// Returns a case for a select that accepts a connection.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    ///
    /// use pirn::net::{TcpListener, TcpStream};
    ///
    /// let listener = TcpListener::bind("127.0.0.1:0")?;
    /// let client = TcpStream::connect(listener.local_addr()?)?;
    /// pirn::select! {
    ///     case(listener.accept_case()) -> accepted => {
    ///         assert_eq!(accepted?.1, client.local_addr()?);
    ///     },
    ///     after(Duration::from_secs(60)) => panic!("no connection for a minute"),
    ///     cancelled(interrupt) => panic!("{interrupt}"),
    /// }
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "poll_accept")]
    pub fn accept_case(&self) -> AcceptCase<'_, TcpListener> {
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
    /// use pirn::net::TcpListener;
    ///
    /// let listener = TcpListener::bind("127.0.0.1:0")?;
    /// let address = listener.local_addr()?;
    /// assert!(address.ip().is_loopback());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "getsockname")]
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.inner().local_addr()
    }

    /// Sets the number of hops that a packet of an accepted connection may take.
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::TcpListener;
    ///
    /// let listener = TcpListener::bind("127.0.0.1:0")?;
    /// listener.set_ttl(8)?;
    /// assert_eq!(listener.ttl()?, 8);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "IP_TTL")]
    pub fn set_ttl(&self, hops: u32) -> io::Result<()> {
        self.socket.inner().set_ttl(hops)
    }

    /// Returns the number of hops that a packet of an accepted connection may take.
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::TcpListener;
    ///
    /// let listener = TcpListener::bind("127.0.0.1:0")?;
    /// assert_ne!(listener.ttl()?, 0);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn ttl(&self) -> io::Result<u32> {
        self.socket.inner().ttl()
    }
}

impl Accept for TcpListener {
    type Accepted = (TcpStream, SocketAddr);

    fn accept_now(&self) -> io::Result<(TcpStream, SocketAddr)> {
        let (stream, from) = self.socket.inner().accept()?;
        Ok((TcpStream::try_from(stream)?, from))
    }
}
