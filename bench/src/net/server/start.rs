//! How every server begins and ends.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::{process, thread};

use socket2::{Domain, Socket, Type};

use super::Settings;

/// Connections that may wait to be taken in: as many as the system allows.
const BACKLOG: i32 = 4096;

/// A listener where the settings want it; prints its port.
pub(super) fn listen(settings: &Settings) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, settings.port)).into())?;
    socket.listen(BACKLOG)?;
    let listener = TcpListener::from(socket);
    announce(listener.local_addr()?)?;
    Ok(listener)
}

/// Prints where a server listens.
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
