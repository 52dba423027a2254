//! A stream from which one fiber reads; another one receives the bytes to be written.
//!
//! A WebSocket writes during reads: it answers pings and close frames. Such answers go through the
//! outbox like all other output, so that one fiber writes, in whole frames.

use std::io::{self, Read, Write};

use pirn::channel::{SendError, Sender};
use pirn::net::TcpStream;
use tungstenite::Bytes;

/// Reads from a connection, and writes to an outbox.
#[derive(Debug)]
pub(crate) struct Inbound {
    stream: TcpStream,
    outbox: Sender<Bytes>,
}

impl Inbound {
    pub(crate) fn new(stream: TcpStream, outbox: Sender<Bytes>) -> Inbound {
        Inbound { stream, outbox }
    }
}

impl Read for Inbound {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.read(buffer)
    }
}

impl Write for Inbound {
    /// Waits for capacity in the outbox: a client that sends pings without reading the answers is
    /// not read further.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let sent = self.outbox.send(Bytes::copy_from_slice(bytes));
        sent.map_err(|error| match error {
            SendError::Disconnected(_) => io::ErrorKind::BrokenPipe.into(),
            SendError::Interrupted(_, interrupt) => io::Error::from(interrupt),
        })?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
