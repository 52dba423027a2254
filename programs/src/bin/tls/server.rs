//! The server: sends back what it is sent.

use std::io::{self, Read as _, Write as _};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use pirn::net::TcpStream;
use pirn_programs::{Server, Stop};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::identity::Identity;

/// Serves until the server shuts down. Each client has the time `handshake` for its handshake.
pub(crate) fn run(
    server: Server,
    identity: Identity,
    handshake: Duration,
) -> anyhow::Result<()> {
    let config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(identity.certs, identity.key)
        .context("cannot use the certificate and its key")?;
    let config = Arc::new(config);
    let stop = server.stop();
    server.run(move |stream| connection(stream, Arc::clone(&config), handshake, &stop))
}

/// Serves one connection to its end.
fn connection(
    stream: TcpStream,
    config: Arc<ServerConfig>,
    handshake: Duration,
    stop: &Stop,
) -> anyhow::Result<()> {
    let mut stream = StreamOwned::new(ServerConnection::new(config)?, stream);
    // One limit for all of it: a client that sends a byte now and then has no more time than a
    // silent one. After the handshake, a connection may be silent.
    let agree = || -> io::Result<()> {
        pirn::timeout(handshake, || {
            while stream.conn.is_handshaking() {
                stream.conn.complete_io(&mut stream.sock)?;
            }
            Ok(())
        })?
    };
    if stop.unless(agree)?.is_none() {
        return Ok(());
    }
    let mut buffer = [0; 16 << 10];
    loop {
        let n = stream.read(&mut buffer)?;
        if n == 0 {
            // The other end has closed its direction; now this one does too.
            stream.conn.send_close_notify();
            stream.flush()?;
            return Ok(());
        }
        stream.write_all(&buffer[..n])?;
    }
}
