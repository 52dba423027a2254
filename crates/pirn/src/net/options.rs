//! Options for opening a listener.

use std::io;
use std::net::{SocketAddr, TcpListener};

use socket2::{Domain, Protocol, Socket, Type};

/// Options for opening a [`TcpListener`](super::TcpListener).
///
/// Each field has a method that sets it.
///
/// # Examples
/// ```
/// use pirn::net::{ListenOptions, TcpListener};
///
/// # fn main() -> std::io::Result<()> {
/// let options = ListenOptions::new().reuse_port(true);
/// let one = TcpListener::bind_with("127.0.0.1:0", &options)?;
/// // A second listener on the same port: the system spreads connections over both.
/// let two = TcpListener::bind_with(one.local_addr()?, &options)?;
/// # drop(two);
/// # Ok(())
/// # }
/// ```
#[doc(alias = "TcpSocket")]
#[doc(alias = "ListenConfig")]
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListenOptions {
    /// The number of connections that may wait to be accepted; the system may have a lower bound.
    /// 1,024 by default, as in Tokio.
    pub backlog: u32,
    /// Whether the address may be bound while connections of an earlier listener still use it. True
    /// by default, as in `std`.
    pub reuse_address: bool,
    /// Whether several listeners may bind the same address, for instance one for each worker. All
    /// of them need this option. The system spreads connections over them.
    pub reuse_port: bool,
    /// For IPv6 addresses: whether to refuse IPv4 connections. `None` leaves it to the system.
    pub only_v6: Option<bool>,
}

impl Default for ListenOptions {
    fn default() -> ListenOptions {
        ListenOptions {
            backlog: 1_024,
            reuse_address: true,
            reuse_port: false,
            only_v6: None,
        }
    }
}

impl ListenOptions {
    /// Returns the default options.
    ///
    /// # Examples
    /// ```
    /// let options = pirn::net::ListenOptions::new();
    /// assert_eq!(options.backlog, 1_024);
    /// assert!(options.reuse_address);
    /// ```
    #[must_use]
    pub fn new() -> ListenOptions {
        ListenOptions::default()
    }

    /// Sets the number of connections that may wait to be accepted; the system may have a lower
    /// bound. 1,024 by default, as in Tokio.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::{ListenOptions, TcpListener};
    ///
    /// let options = ListenOptions::new().backlog(16);
    /// let listener = TcpListener::bind_with("127.0.0.1:0", &options)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn backlog(mut self, connections: u32) -> ListenOptions {
        self.backlog = connections;
        self
    }

    /// Sets whether the address may be bound while connections of an earlier listener still use
    /// it. True by default, as in `std`.
    ///
    /// # Examples
    /// ```
    /// let options = pirn::net::ListenOptions::new().reuse_address(false);
    /// assert!(!options.reuse_address);
    /// ```
    #[doc(alias = "SO_REUSEADDR")]
    #[doc(alias = "set_reuseaddr")]
    #[must_use]
    pub fn reuse_address(mut self, reuse: bool) -> ListenOptions {
        self.reuse_address = reuse;
        self
    }

    /// Sets whether several listeners may bind the same address, for instance one for each worker.
    /// All of them need this option. The system spreads connections over them. False by default.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::{ListenOptions, TcpListener};
    ///
    /// let options = ListenOptions::new().reuse_port(true);
    /// let one = TcpListener::bind_with("127.0.0.1:0", &options)?;
    /// let two = TcpListener::bind_with(one.local_addr()?, &options)?;
    /// assert_eq!(one.local_addr()?, two.local_addr()?);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "SO_REUSEPORT")]
    #[doc(alias = "set_reuseport")]
    #[must_use]
    pub fn reuse_port(mut self, reuse: bool) -> ListenOptions {
        self.reuse_port = reuse;
        self
    }

    /// Sets whether a listener on an IPv6 address refuses IPv4 connections. By default the system
    /// decides.
    ///
    /// # Examples
    /// ```
    /// let options = pirn::net::ListenOptions::new().only_v6(true);
    /// assert_eq!(options.only_v6, Some(true));
    /// ```
    #[doc(alias = "IPV6_V6ONLY")]
    #[must_use]
    pub fn only_v6(mut self, only: bool) -> ListenOptions {
        self.only_v6 = Some(only);
        self
    }

    /// Opens a non-blocking listener.
    pub(super) fn open(&self, address: SocketAddr) -> io::Result<TcpListener> {
        let domain = Domain::for_address(address);
        let socket = Socket::new(domain, Type::STREAM, Some(Protocol::TCP))?;
        socket.set_reuse_address(self.reuse_address)?;
        if self.reuse_port {
            socket.set_reuse_port(true)?;
        }
        if let (Some(only), SocketAddr::V6(_)) = (self.only_v6, address) {
            socket.set_only_v6(only)?;
        }
        socket.set_nonblocking(true)?;
        socket.bind(&address.into())?;
        socket.listen(i32::try_from(self.backlog).unwrap_or(i32::MAX))?;
        Ok(socket.into())
    }
}
