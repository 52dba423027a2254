//! A TLS connection on which one fiber sends and another one receives.
//!
//! Both directions change one state, which is behind a lock. No fiber holds the lock while it waits
//! for the socket: a sender that waited with it, because the other end does not read, would prevent
//! the receiver from reading, and the other end might wait for exactly that.
//!
//! * The receiver reads bytes from the socket, and decrypts them under the lock.
//! * The sender encrypts bytes under the lock, and writes them after releasing it. There is one
//!   sender, so the records stay in order. Later messages of the protocol itself are sent with the
//!   next data.

use std::collections::VecDeque;
use std::io::{self, Read as _, Write as _};
use std::net::Shutdown;
use std::sync::Arc;

use pirn::net::TcpStream;
use pirn::sync::Mutex;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection};

/// A connection after its handshake.
#[derive(Debug)]
pub(crate) struct Duplex {
    connection: Mutex<ClientConnection>,
    socket: TcpStream,
    /// Bytes from the socket that are not decrypted yet. Only the receiver locks it.
    encrypted: Mutex<VecDeque<u8>>,
}

impl Duplex {
    /// Does the handshake with the connected server, which must have a certificate for `name`.
    pub(crate) fn connect(
        mut socket: TcpStream,
        config: Arc<ClientConfig>,
        name: ServerName<'static>,
    ) -> io::Result<Duplex> {
        let mut connection =
            ClientConnection::new(config, name).map_err(io::Error::other)?;
        while connection.is_handshaking() {
            connection.complete_io(&mut socket)?;
        }
        Ok(Duplex {
            connection: Mutex::new(connection),
            socket,
            encrypted: Mutex::default(),
        })
    }

    /// Receives some bytes; 0 when the other end has closed its direction.
    pub(crate) fn receive(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut encrypted = self.encrypted.lock();
        let mut part = [0; 16 << 10];
        loop {
            // Decrypted bytes are read first: the connection refuses more while it has too many.
            // After the close notification it takes no more bytes, and this read returns 0.
            match self.connection.lock().reader().read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                received => return received,
            }
            if encrypted.is_empty() {
                let n = (&self.socket).read(&mut part)?;
                encrypted.extend(&part[..n]);
            }
            let mut connection = self.connection.lock();
            // No bytes signal the end of the stream.
            connection.read_tls(&mut *encrypted)?;
            connection
                .process_new_packets()
                .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        }
    }

    /// Sends some bytes.
    pub(crate) fn send(&self, bytes: &[u8]) -> io::Result<()> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let mut connection = self.connection.lock();
            let n = connection.writer().write(rest)?;
            rest = &rest[n..];
            let encrypted = take(&mut connection)?;
            drop(connection);
            (&self.socket).write_all(&encrypted)?;
        }
        Ok(())
    }

    /// Closes the sending direction.
    pub(crate) fn finish(&self) -> io::Result<()> {
        let mut connection = self.connection.lock();
        connection.send_close_notify();
        let encrypted = take(&mut connection)?;
        drop(connection);
        (&self.socket).write_all(&encrypted)?;
        self.socket.shutdown(Shutdown::Write)
    }
}

/// Takes the bytes to be written to the socket.
fn take(connection: &mut ClientConnection) -> io::Result<Vec<u8>> {
    let mut encrypted = Vec::new();
    while connection.wants_write() {
        connection.write_tls(&mut encrypted)?;
    }
    Ok(encrypted)
}
