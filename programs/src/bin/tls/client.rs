//! The client: sends standard input, and writes received data to standard output.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use pirn::cancel::Token;
use pirn::net::TcpStream;
use pirn::{Interrupt, scope};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;

use crate::duplex::Duplex;
use crate::identity;

/// Connects, and runs until the server has closed its direction.
pub(crate) fn run(
    address: &str,
    name: String,
    ca: &Path,
    handshake: Duration,
) -> anyhow::Result<()> {
    let config = ClientConfig::builder()
        .with_root_certificates(identity::roots(ca)?)
        .with_no_client_auth();
    let name = ServerName::try_from(name).context("no name of a server")?;
    let stream = TcpStream::connect(address)
        .with_context(|| format!("cannot connect to {address}"))?;
    let agree = || Duplex::connect(stream, Arc::new(config), name);
    let duplex = pirn::timeout(handshake, agree)
        .with_context(|| format!("no TLS handshake with {address} in {handshake:?}"))?
        .with_context(|| format!("cannot agree with {address}"))?;
    let unread = Token::new();
    scope(|s| {
        let sender = s.spawn(|| send(&duplex, &unread));
        let received = unread.enter(|| receive(&duplex));
        // When the server sends no more, the client does not wait for further input.
        sender.cancel();
        let sent = sender.join().context("what sends has panicked")?;
        unless_interrupted(received)?;
        unless_interrupted(sent)
    })
}

/// Drops the error of a direction that was interrupted by the other one.
fn unless_interrupted(ended: anyhow::Result<()>) -> anyhow::Result<()> {
    match ended {
        Err(error) if Interrupt::of(error.as_ref()).is_some() => Ok(()),
        ended => ended,
    }
}

/// Sends the input to its end. Cancels `unread` if the input cannot be read: the server cannot
/// detect that, and might wait for the rest. Errors of the socket are detected by the receiver too.
fn send(duplex: &Duplex, unread: &Token) -> anyhow::Result<()> {
    let mut input = pirn::io::stdin();
    let mut buffer = [0; 16 << 10];
    loop {
        let read = input.read(&mut buffer).inspect_err(|_| unread.cancel());
        let n = read.context("cannot read the input")?;
        if n == 0 {
            return duplex.finish().context("cannot send");
        }
        duplex.send(&buffer[..n]).context("cannot send")?;
    }
}

fn receive(duplex: &Duplex) -> anyhow::Result<()> {
    let mut output = pirn::io::stdout();
    let mut buffer = vec![0; 16 << 10];
    loop {
        let n = duplex.receive(&mut buffer).context("cannot receive")?;
        if n == 0 {
            return Ok(());
        }
        output.write_all(&buffer[..n]).context("cannot write")?;
    }
}
