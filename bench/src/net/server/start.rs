//! The start and the end of every server.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::{process, thread};

use socket2::{Domain, Socket, Type};

use super::Settings;

/// Bytes that one connection reads at once.
pub(super) const BUFFER: usize = 4096;

/// The same where the number of idle connections is maximal.
pub(super) const SMALL: usize = 1024;

/// The backlog of the listener: as large as the system permits.
const BACKLOG: i32 = 4096;

/// Returns the listener of the options; prints its port.
pub(super) fn listen(settings: &Settings) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, settings.port)).into())?;
    socket.listen(BACKLOG)?;
    let listener = TcpListener::from(socket);
    announce(listener.local_addr()?)?;
    Ok(listener)
}

/// Prints the port of a server.
pub(super) fn announce(address: SocketAddr) -> io::Result<()> {
    println!("port {}", address.port());
    io::stdout().flush()
}

/// Ends the process as soon as standard input ends: no server outlives its parent.
pub(super) fn end_with_input() {
    thread::spawn(|| {
        // An input that cannot be read has ended, too.
        let _ = io::stdin().read_to_end(&mut Vec::new());
        process::exit(0);
    });
}
