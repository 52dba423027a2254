//! The server: sends back what it is sent.

use std::io::{Read as _, Write as _};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use pirn::net::TcpStream;
use pirn_programs::Server;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::identity::Identity;

/// Serves until told to end.
pub(crate) fn run(
    address: &str,
    grace: Duration,
    identity: Identity,
) -> anyhow::Result<()> {
    let config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(identity.certs, identity.key)
        .context("cannot use the certificate and its key")?;
    let config = Arc::new(config);
    let connection = move |stream| connection(stream, Arc::clone(&config));
    Server::new(address, grace)?.run(connection)
}

/// Serves one connection to its end.
fn connection(stream: TcpStream, config: Arc<ServerConfig>) -> anyhow::Result<()> {
    // The time that a client has to show who it is; after that, a connection may be silent.
    stream.set_read_timeout(Some(HANDSHAKE))?;
    let mut stream = StreamOwned::new(ServerConnection::new(config)?, stream);
    while stream.conn.is_handshaking() {
        stream.conn.complete_io(&mut stream.sock)?;
    }
    stream.sock.set_read_timeout(None)?;
    let mut buffer = [0; 16 << 10];
    loop {
        let n = stream.read(&mut buffer)?;
        if n == 0 {
            // The other end has said that this is all; now so does this one.
            stream.conn.send_close_notify();
            stream.flush()?;
            return Ok(());
        }
        stream.write_all(&buffer[..n])?;
    }
}

/// Arbitrary.
const HANDSHAKE: Duration = Duration::from_secs(10);
