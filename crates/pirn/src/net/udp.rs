//! UDP sockets.

use std::fmt;
use std::io;
use std::net::{self, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::time::Duration;

use super::address::{ToSocketAddrs, first_of, resolve};
use super::case::ReadyCase;
use super::socket::{Socket, handle, limits};
use crate::readiness::Interest;

/// A UDP socket. Its calls park the fiber where those of [`std::net::UdpSocket`] block the thread.
///
/// # Examples
/// ```
/// use pirn::net::UdpSocket;
///
/// let server = UdpSocket::bind("127.0.0.1:0")?;
/// let client = UdpSocket::bind("127.0.0.1:0")?;
/// client.send_to(b"ping", server.local_addr()?)?;
/// let mut buffer = [0; 16];
/// let (len, from) = server.recv_from(&mut buffer)?;
/// assert_eq!(&buffer[..len], b"ping");
/// assert_eq!(from, client.local_addr()?);
/// # Ok::<(), std::io::Error>(())
/// ```
#[doc(alias = "UDPConn")]
#[doc(alias = "PacketConn")]
pub struct UdpSocket {
    socket: Arc<Socket<net::UdpSocket>>,
}

handle!(
    UdpSocket,
    net::UdpSocket,
    r#"use pirn::net::UdpSocket;

let socket = UdpSocket::bind("127.0.0.1:0")?;"#
);
limits!(
    UdpSocket,
    r#"use pirn::net::UdpSocket;

let socket = UdpSocket::bind("127.0.0.1:0")?;"#
);

impl UdpSocket {
    /// Opens a socket at the first address that can be bound.
    ///
    /// # Errors
    /// The operating system's error for the last address tried, or for the name lookup.
    ///
    /// # Cancellation
    /// An interruption point only if a name has to be looked up.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::UdpSocket;
    ///
    /// let socket = UdpSocket::bind("127.0.0.1:0")?;
    /// assert_ne!(socket.local_addr()?.port(), 0);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "ListenUDP")]
    #[doc(alias = "ListenPacket")]
    #[track_caller]
    pub fn bind<A: ToSocketAddrs>(address: A) -> io::Result<UdpSocket> {
        let opened = first_of(&resolve(&address)?, net::UdpSocket::bind)?;
        UdpSocket::try_from(opened)
    }

    /// Restricts the socket to one peer: later sends go to this address, and only its datagrams are
    /// received.
    ///
    /// # Errors
    /// As for [`bind`](Self::bind).
    ///
    /// # Cancellation
    /// An interruption point only if a name has to be looked up.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::UdpSocket;
    ///
    /// let server = UdpSocket::bind("127.0.0.1:0")?;
    /// let client = UdpSocket::bind("127.0.0.1:0")?;
    /// client.connect(server.local_addr()?)?;
    /// assert_eq!(client.peer_addr()?, server.local_addr()?);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "DialUDP")]
    #[track_caller]
    pub fn connect<A: ToSocketAddrs>(&self, address: A) -> io::Result<()> {
        let inner = self.socket.inner();
        first_of(&resolve(&address)?, |address| inner.connect(address))
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
    /// use pirn::net::UdpSocket;
    ///
    /// let server = UdpSocket::bind("127.0.0.1:0")?;
    /// let client = UdpSocket::bind("127.0.0.1:0")?;
    /// client.send_to(b"ping", server.local_addr()?)?;
    /// let mut buffer = [0; 16];
    /// assert_eq!(server.recv_from(&mut buffer)?, (4, client.local_addr()?));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "ReadFrom")]
    #[doc(alias = "recvfrom")]
    #[track_caller]
    pub fn recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.socket
            .read_by(|inner| inner.recv_from(buffer), |_| false)
    }

    /// Receives a datagram without removing it from the queue. Returns its length, cut to the
    /// buffer's, and the sender's address.
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::UdpSocket;
    ///
    /// let server = UdpSocket::bind("127.0.0.1:0")?;
    /// let client = UdpSocket::bind("127.0.0.1:0")?;
    /// client.send_to(b"ping", server.local_addr()?)?;
    /// let mut buffer = [0; 16];
    /// let peeked = server.peek_from(&mut buffer)?;
    /// assert_eq!(server.recv_from(&mut buffer)?, peeked);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn peek_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.socket
            .read_by(|inner| inner.peek_from(buffer), |_| false)
    }

    /// Sends a datagram to the first of the addresses. Returns the number of bytes sent.
    ///
    /// # Errors
    /// The operating system's error. Kind `InvalidInput`: there is no address.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::UdpSocket;
    ///
    /// let server = UdpSocket::bind("127.0.0.1:0")?;
    /// let client = UdpSocket::bind("127.0.0.1:0")?;
    /// assert_eq!(client.send_to(b"ping", server.local_addr()?)?, 4);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "WriteTo")]
    #[doc(alias = "sendto")]
    #[track_caller]
    pub fn send_to<A: ToSocketAddrs>(
        &self,
        buffer: &[u8],
        address: A,
    ) -> io::Result<usize> {
        let to = resolve(&address)?.first().copied();
        let to = to.ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidInput, "no address to send to")
        })?;
        self.socket
            .write_by(|inner| inner.send_to(buffer, to), |_| false)
    }

    /// Receives a datagram from the address that this socket is connected to. Returns its length,
    /// cut to the buffer's.
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::UdpSocket;
    ///
    /// let one = UdpSocket::bind("127.0.0.1:0")?;
    /// let other = UdpSocket::bind("127.0.0.1:0")?;
    /// one.connect(other.local_addr()?)?;
    /// other.connect(one.local_addr()?)?;
    /// one.send(b"ping")?;
    /// assert_eq!(other.recv(&mut [0; 16])?, 4);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.socket.read_by(|inner| inner.recv(buffer), |_| false)
    }

    /// Receives a datagram from the address that this socket is connected to, without removing it
    /// from the queue. Returns its length, cut to the buffer's.
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::UdpSocket;
    ///
    /// let one = UdpSocket::bind("127.0.0.1:0")?;
    /// let other = UdpSocket::bind("127.0.0.1:0")?;
    /// one.connect(other.local_addr()?)?;
    /// other.connect(one.local_addr()?)?;
    /// one.send(b"ping")?;
    /// assert_eq!(other.peek(&mut [0; 16])?, 4);
    /// assert_eq!(other.recv(&mut [0; 16])?, 4);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn peek(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.socket.read_by(|inner| inner.peek(buffer), |_| false)
    }

    /// Sends a datagram to the address that this socket is connected to. Returns the number of
    /// bytes sent.
    ///
    /// # Errors
    /// The operating system's error: no socket listens there, for instance.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::UdpSocket;
    ///
    /// let server = UdpSocket::bind("127.0.0.1:0")?;
    /// let client = UdpSocket::bind("127.0.0.1:0")?;
    /// client.connect(server.local_addr()?)?;
    /// assert_eq!(client.send(b"ping")?, 4);
    /// assert_eq!(server.recv(&mut [0; 16])?, 4);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn send(&self, buffer: &[u8]) -> io::Result<usize> {
        self.socket.write_by(|inner| inner.send(buffer), |_| false)
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
    /// use pirn::net::UdpSocket;
    ///
    /// let socket = UdpSocket::bind("127.0.0.1:0")?;
    /// assert!(socket.local_addr()?.ip().is_loopback());
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
    /// use std::io::ErrorKind;
    ///
    /// use pirn::net::UdpSocket;
    ///
    /// let socket = UdpSocket::bind("127.0.0.1:0")?;
    /// assert_eq!(socket.peer_addr().unwrap_err().kind(), ErrorKind::NotConnected);
    /// socket.connect("127.0.0.1:9")?;
    /// assert_eq!(socket.peer_addr()?.port(), 9);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "RemoteAddr")]
    #[doc(alias = "getpeername")]
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.socket.inner().peer_addr()
    }

    /// Sets whether the socket may send to a broadcast address.
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::UdpSocket;
    ///
    /// let socket = UdpSocket::bind("127.0.0.1:0")?;
    /// socket.set_broadcast(true)?;
    /// assert!(socket.broadcast()?);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "SO_BROADCAST")]
    pub fn set_broadcast(&self, yes: bool) -> io::Result<()> {
        self.socket.inner().set_broadcast(yes)
    }

    /// Returns true if the socket may send to a broadcast address.
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::UdpSocket;
    ///
    /// let socket = UdpSocket::bind("127.0.0.1:0")?;
    /// assert!(!socket.broadcast()?);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn broadcast(&self) -> io::Result<bool> {
        self.socket.inner().broadcast()
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
    /// use pirn::net::UdpSocket;
    ///
    /// let socket = UdpSocket::bind("127.0.0.1:0")?;
    /// socket.set_ttl(8)?;
    /// assert_eq!(socket.ttl()?, 8);
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
    /// use pirn::net::UdpSocket;
    ///
    /// let socket = UdpSocket::bind("127.0.0.1:0")?;
    /// assert_ne!(socket.ttl()?, 0);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn ttl(&self) -> io::Result<u32> {
        self.socket.inner().ttl()
    }

    /// Joins a multicast group on one interface: the socket receives what is sent to the group.
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```no_run
    /// use std::net::Ipv4Addr;
    ///
    /// use pirn::net::UdpSocket;
    ///
    /// let socket = UdpSocket::bind("0.0.0.0:5353")?;
    /// socket.join_multicast_v4(&Ipv4Addr::new(224, 0, 0, 251), &Ipv4Addr::UNSPECIFIED)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "IP_ADD_MEMBERSHIP")]
    pub fn join_multicast_v4(
        &self,
        group: &Ipv4Addr,
        interface: &Ipv4Addr,
    ) -> io::Result<()> {
        self.socket.inner().join_multicast_v4(group, interface)
    }

    /// Joins an IPv6 multicast group on the interface with this index; 0 leaves the choice to the
    /// system. The socket receives what is sent to the group.
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```no_run
    /// use std::net::Ipv6Addr;
    ///
    /// use pirn::net::UdpSocket;
    ///
    /// let socket = UdpSocket::bind("[::]:5353")?;
    /// let group = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 0xfb);
    /// socket.join_multicast_v6(&group, 0)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "IPV6_ADD_MEMBERSHIP")]
    pub fn join_multicast_v6(&self, group: &Ipv6Addr, interface: u32) -> io::Result<()> {
        self.socket.inner().join_multicast_v6(group, interface)
    }

    /// Leaves a group that [`join_multicast_v4`](Self::join_multicast_v4) joined.
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```no_run
    /// use std::net::Ipv4Addr;
    ///
    /// use pirn::net::UdpSocket;
    ///
    /// let socket = UdpSocket::bind("0.0.0.0:5353")?;
    /// let group = Ipv4Addr::new(224, 0, 0, 251);
    /// socket.join_multicast_v4(&group, &Ipv4Addr::UNSPECIFIED)?;
    /// socket.leave_multicast_v4(&group, &Ipv4Addr::UNSPECIFIED)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "IP_DROP_MEMBERSHIP")]
    pub fn leave_multicast_v4(
        &self,
        group: &Ipv4Addr,
        interface: &Ipv4Addr,
    ) -> io::Result<()> {
        self.socket.inner().leave_multicast_v4(group, interface)
    }

    /// Leaves a group that [`join_multicast_v6`](Self::join_multicast_v6) joined.
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```no_run
    /// use std::net::Ipv6Addr;
    ///
    /// use pirn::net::UdpSocket;
    ///
    /// let socket = UdpSocket::bind("[::]:5353")?;
    /// let group = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 0xfb);
    /// socket.join_multicast_v6(&group, 0)?;
    /// socket.leave_multicast_v6(&group, 0)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "IPV6_DROP_MEMBERSHIP")]
    pub fn leave_multicast_v6(&self, group: &Ipv6Addr, interface: u32) -> io::Result<()> {
        self.socket.inner().leave_multicast_v6(group, interface)
    }

    /// Sets whether packets sent to an IPv4 group come back to this machine.
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::UdpSocket;
    ///
    /// let socket = UdpSocket::bind("127.0.0.1:0")?;
    /// socket.set_multicast_loop_v4(false)?;
    /// assert!(!socket.multicast_loop_v4()?);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "IP_MULTICAST_LOOP")]
    pub fn set_multicast_loop_v4(&self, yes: bool) -> io::Result<()> {
        self.socket.inner().set_multicast_loop_v4(yes)
    }

    /// Returns true if packets sent to an IPv4 group come back to this machine.
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::UdpSocket;
    ///
    /// let socket = UdpSocket::bind("127.0.0.1:0")?;
    /// assert!(socket.multicast_loop_v4()?);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn multicast_loop_v4(&self) -> io::Result<bool> {
        self.socket.inner().multicast_loop_v4()
    }

    /// Sets the number of hops that a packet to an IPv4 group may take.
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::UdpSocket;
    ///
    /// let socket = UdpSocket::bind("127.0.0.1:0")?;
    /// socket.set_multicast_ttl_v4(4)?;
    /// assert_eq!(socket.multicast_ttl_v4()?, 4);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "IP_MULTICAST_TTL")]
    pub fn set_multicast_ttl_v4(&self, hops: u32) -> io::Result<()> {
        self.socket.inner().set_multicast_ttl_v4(hops)
    }

    /// Returns the number of hops that a packet to an IPv4 group may take.
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```
    /// use pirn::net::UdpSocket;
    ///
    /// let socket = UdpSocket::bind("127.0.0.1:0")?;
    /// assert_eq!(socket.multicast_ttl_v4()?, 1);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn multicast_ttl_v4(&self) -> io::Result<u32> {
        self.socket.inner().multicast_ttl_v4()
    }

    /// Sets whether packets sent to an IPv6 group come back to this machine.
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```no_run
    /// use pirn::net::UdpSocket;
    ///
    /// let socket = UdpSocket::bind("[::1]:0")?;
    /// socket.set_multicast_loop_v6(false)?;
    /// assert!(!socket.multicast_loop_v6()?);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[doc(alias = "IPV6_MULTICAST_LOOP")]
    pub fn set_multicast_loop_v6(&self, yes: bool) -> io::Result<()> {
        self.socket.inner().set_multicast_loop_v6(yes)
    }

    /// Returns true if packets sent to an IPv6 group come back to this machine.
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// Not an interruption point; never suspends.
    ///
    /// # Examples
    /// ```no_run
    /// use pirn::net::UdpSocket;
    ///
    /// let socket = UdpSocket::bind("[::1]:0")?;
    /// assert!(socket.multicast_loop_v6()?);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn multicast_loop_v6(&self) -> io::Result<bool> {
        self.socket.inner().multicast_loop_v6()
    }
}
