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

/// Sends and receives UDP datagrams; `std::net::UdpSocket` that parks its fiber.
pub struct UdpSocket {
    socket: Arc<Socket<net::UdpSocket>>,
}

handle!(UdpSocket, net::UdpSocket);
limits!(UdpSocket);

impl UdpSocket {
    /// Opens a socket at the first address that can be bound.
    ///
    /// # Errors
    /// The operating system's error for the last address tried, or for the name lookup.
    ///
    /// # Cancellation
    /// An interruption point only if a name has to be looked up.
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
    #[track_caller]
    pub fn recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.socket
            .read_by(|inner| inner.recv_from(buffer), |_| false)
    }

    /// Like [`recv_from`](Self::recv_from), but the datagram stays in the queue.
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    #[track_caller]
    pub fn peek_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.socket
            .read_by(|inner| inner.peek_from(buffer), |_| false)
    }

    /// Sends a datagram to the first of the addresses; returns the number of bytes sent.
    ///
    /// # Errors
    /// The operating system's error. Kind `InvalidInput`: there is no address.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
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

    /// Receives a datagram from the address that this socket is connected to.
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    #[track_caller]
    pub fn recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.socket.read_by(|inner| inner.recv(buffer), |_| false)
    }

    /// Like [`recv`](Self::recv), but the datagram stays in the queue.
    ///
    /// # Errors
    /// Returns the operating system's error.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    #[track_caller]
    pub fn peek(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.socket.read_by(|inner| inner.peek(buffer), |_| false)
    }

    /// Sends a datagram to the address that this socket is connected to.
    ///
    /// # Errors
    /// The operating system's error: no socket listens there, for instance.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    #[track_caller]
    pub fn send(&self, buffer: &[u8]) -> io::Result<usize> {
        self.socket.write_by(|inner| inner.send(buffer), |_| false)
    }

    /// Returns the address of this socket.
    ///
    /// # Errors
    /// Returns the operating system's error.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.inner().local_addr()
    }

    /// Returns the address that the socket is connected to.
    ///
    /// # Errors
    /// The operating system's error: the socket is not connected, for instance.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.socket.inner().peer_addr()
    }

    /// Sets whether the socket may send to a broadcast address.
    ///
    /// # Errors
    /// Returns the operating system's error.
    pub fn set_broadcast(&self, yes: bool) -> io::Result<()> {
        self.socket.inner().set_broadcast(yes)
    }

    /// Returns true if the socket may send to a broadcast address.
    ///
    /// # Errors
    /// Returns the operating system's error.
    pub fn broadcast(&self) -> io::Result<bool> {
        self.socket.inner().broadcast()
    }

    /// Sets the number of hops that a packet may take.
    ///
    /// # Errors
    /// Returns the operating system's error.
    pub fn set_ttl(&self, hops: u32) -> io::Result<()> {
        self.socket.inner().set_ttl(hops)
    }

    /// Returns the number of hops that a packet may take.
    ///
    /// # Errors
    /// Returns the operating system's error.
    pub fn ttl(&self) -> io::Result<u32> {
        self.socket.inner().ttl()
    }

    /// Joins a multicast group on one interface: the socket receives what is sent to the group.
    ///
    /// # Errors
    /// Returns the operating system's error.
    pub fn join_multicast_v4(
        &self,
        group: &Ipv4Addr,
        interface: &Ipv4Addr,
    ) -> io::Result<()> {
        self.socket.inner().join_multicast_v4(group, interface)
    }

    /// Like [`join_multicast_v4`](Self::join_multicast_v4), for IPv6, with the interface by its
    /// index.
    ///
    /// # Errors
    /// Returns the operating system's error.
    pub fn join_multicast_v6(&self, group: &Ipv6Addr, interface: u32) -> io::Result<()> {
        self.socket.inner().join_multicast_v6(group, interface)
    }

    /// Leaves a group that [`join_multicast_v4`](Self::join_multicast_v4) joined.
    ///
    /// # Errors
    /// Returns the operating system's error.
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
    pub fn leave_multicast_v6(&self, group: &Ipv6Addr, interface: u32) -> io::Result<()> {
        self.socket.inner().leave_multicast_v6(group, interface)
    }

    /// Sets whether packets sent to an IPv4 group come back to this machine.
    ///
    /// # Errors
    /// Returns the operating system's error.
    pub fn set_multicast_loop_v4(&self, yes: bool) -> io::Result<()> {
        self.socket.inner().set_multicast_loop_v4(yes)
    }

    /// Returns true if packets sent to an IPv4 group come back to this machine.
    ///
    /// # Errors
    /// Returns the operating system's error.
    pub fn multicast_loop_v4(&self) -> io::Result<bool> {
        self.socket.inner().multicast_loop_v4()
    }

    /// Sets the number of hops that a packet to an IPv4 group may take.
    ///
    /// # Errors
    /// Returns the operating system's error.
    pub fn set_multicast_ttl_v4(&self, hops: u32) -> io::Result<()> {
        self.socket.inner().set_multicast_ttl_v4(hops)
    }

    /// Returns the number of hops that a packet to an IPv4 group may take.
    ///
    /// # Errors
    /// Returns the operating system's error.
    pub fn multicast_ttl_v4(&self) -> io::Result<u32> {
        self.socket.inner().multicast_ttl_v4()
    }

    /// Sets whether packets sent to an IPv6 group come back to this machine.
    ///
    /// # Errors
    /// Returns the operating system's error.
    pub fn set_multicast_loop_v6(&self, yes: bool) -> io::Result<()> {
        self.socket.inner().set_multicast_loop_v6(yes)
    }

    /// Returns true if packets sent to an IPv6 group come back to this machine.
    ///
    /// # Errors
    /// Returns the operating system's error.
    pub fn multicast_loop_v6(&self) -> io::Result<bool> {
        self.socket.inner().multicast_loop_v6()
    }
}
