//! Datagrams between machines.

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
    /// Opens a socket at the first of the addresses that can be had.
    ///
    /// # Errors
    /// What the system says of the last address that was tried, or of the name.
    ///
    /// # Cancellation
    /// An interruption point only if a name has to be looked up.
    #[track_caller]
    pub fn bind<A: ToSocketAddrs>(address: A) -> io::Result<UdpSocket> {
        let opened = first_of(&resolve(&address)?, net::UdpSocket::bind)?;
        UdpSocket::try_from(opened)
    }

    /// Sends to, and receives from, this address only, from now on.
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

    /// As [`recv_from`](Self::recv_from); the datagram stays there to be received again.
    ///
    /// # Errors
    /// What the system says.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    #[track_caller]
    pub fn peek_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.socket
            .read_by(|inner| inner.peek_from(buffer), |_| false)
    }

    /// Sends a datagram to the first of the addresses; returns how many bytes.
    ///
    /// # Errors
    /// What the system says; of kind `InvalidInput`: there is no address.
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

    /// Receives a datagram from where this socket is connected to.
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

    /// As [`recv`](Self::recv); the datagram stays there to be received again.
    ///
    /// # Errors
    /// What the system says.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    #[track_caller]
    pub fn peek(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.socket.read_by(|inner| inner.peek(buffer), |_| false)
    }

    /// Sends a datagram to where this socket is connected to.
    ///
    /// # Errors
    /// What the system says: nobody listens there, for instance.
    ///
    /// # Cancellation
    /// An interruption point. Parks a fiber, blocks a plain thread.
    #[track_caller]
    pub fn send(&self, buffer: &[u8]) -> io::Result<usize> {
        self.socket.write_by(|inner| inner.send(buffer), |_| false)
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

    /// Whether it may send to everybody in a network.
    ///
    /// # Errors
    /// What the system says.
    pub fn set_broadcast(&self, yes: bool) -> io::Result<()> {
        self.socket.inner().set_broadcast(yes)
    }

    /// Whether it may send to everybody in a network.
    ///
    /// # Errors
    /// What the system says.
    pub fn broadcast(&self) -> io::Result<bool> {
        self.socket.inner().broadcast()
    }

    /// Sets how many hops a packet may take.
    ///
    /// # Errors
    /// What the system says.
    pub fn set_ttl(&self, hops: u32) -> io::Result<()> {
        self.socket.inner().set_ttl(hops)
    }

    /// How many hops a packet may take.
    ///
    /// # Errors
    /// What the system says.
    pub fn ttl(&self) -> io::Result<u32> {
        self.socket.inner().ttl()
    }

    /// Receives what is sent to this group, on this interface.
    ///
    /// # Errors
    /// What the system says.
    pub fn join_multicast_v4(
        &self,
        group: &Ipv4Addr,
        interface: &Ipv4Addr,
    ) -> io::Result<()> {
        self.socket.inner().join_multicast_v4(group, interface)
    }

    /// As [`join_multicast_v4`](Self::join_multicast_v4), the interface by its number.
    ///
    /// # Errors
    /// What the system says.
    pub fn join_multicast_v6(&self, group: &Ipv6Addr, interface: u32) -> io::Result<()> {
        self.socket.inner().join_multicast_v6(group, interface)
    }

    /// Undoes [`join_multicast_v4`](Self::join_multicast_v4).
    ///
    /// # Errors
    /// What the system says.
    pub fn leave_multicast_v4(
        &self,
        group: &Ipv4Addr,
        interface: &Ipv4Addr,
    ) -> io::Result<()> {
        self.socket.inner().leave_multicast_v4(group, interface)
    }

    /// Undoes [`join_multicast_v6`](Self::join_multicast_v6).
    ///
    /// # Errors
    /// What the system says.
    pub fn leave_multicast_v6(&self, group: &Ipv6Addr, interface: u32) -> io::Result<()> {
        self.socket.inner().leave_multicast_v6(group, interface)
    }

    /// Whether what is sent to a group by IPv4 comes back to this machine.
    ///
    /// # Errors
    /// What the system says.
    pub fn set_multicast_loop_v4(&self, yes: bool) -> io::Result<()> {
        self.socket.inner().set_multicast_loop_v4(yes)
    }

    /// Whether what is sent to a group by IPv4 comes back to this machine.
    ///
    /// # Errors
    /// What the system says.
    pub fn multicast_loop_v4(&self) -> io::Result<bool> {
        self.socket.inner().multicast_loop_v4()
    }

    /// Sets how many hops a packet to a group may take by IPv4.
    ///
    /// # Errors
    /// What the system says.
    pub fn set_multicast_ttl_v4(&self, hops: u32) -> io::Result<()> {
        self.socket.inner().set_multicast_ttl_v4(hops)
    }

    /// How many hops a packet to a group may take by IPv4.
    ///
    /// # Errors
    /// What the system says.
    pub fn multicast_ttl_v4(&self) -> io::Result<u32> {
        self.socket.inner().multicast_ttl_v4()
    }

    /// Whether what is sent to a group by IPv6 comes back to this machine.
    ///
    /// # Errors
    /// What the system says.
    pub fn set_multicast_loop_v6(&self, yes: bool) -> io::Result<()> {
        self.socket.inner().set_multicast_loop_v6(yes)
    }

    /// Whether what is sent to a group by IPv6 comes back to this machine.
    ///
    /// # Errors
    /// What the system says.
    pub fn multicast_loop_v6(&self) -> io::Result<bool> {
        self.socket.inner().multicast_loop_v6()
    }
}
