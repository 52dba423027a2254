//! How a listener is opened.

use std::io;
use std::net::{SocketAddr, TcpListener};

use socket2::{Domain, Protocol, Socket, Type};

/// How a [`TcpListener`](super::TcpListener) is opened, other than by default.
///
/// ```
/// use pirn::net::{ListenOptions, TcpListener};
///
/// # fn main() -> std::io::Result<()> {
/// let options = ListenOptions {
///     reuse_port: true,
///     ..ListenOptions::default()
/// };
/// let one = TcpListener::bind_with("127.0.0.1:0", &options)?;
/// // A second one on the same port: the system spreads connections over both.
/// let two = TcpListener::bind_with(one.local_addr()?, &options)?;
/// # drop(two);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListenOptions {
    /// How many connections may wait to be accepted; the system may have a lower bound. 1,024 by
    /// default, as Tokio has it.
    pub backlog: u32,
    /// Whether an address may be taken that connections of an earlier listener still use. True by
    /// default, as for `std`.
    pub reuse_address: bool,
    /// Whether several listeners may have the same address, all of them with this option: one for
    /// each worker, for instance. The system spreads connections over them.
    pub reuse_port: bool,
    /// For IPv6 addresses: whether to refuse connections by IPv4. `None` leaves it to the system.
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
    /// Opens a listener that does not block.
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
