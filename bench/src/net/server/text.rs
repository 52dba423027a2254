//! The text that libraries with blocking sockets share.

use std::io::{self, Read, Write};

/// Bytes that one connection reads at once.
pub(super) const BUFFER: usize = 4096;

/// Says back what it hears until the other side is done.
pub(super) fn echo(mut stream: impl Read + Write) -> io::Result<()> {
    let mut buffer = [0; BUFFER];
    loop {
        match stream.read(&mut buffer)? {
            0 => return Ok(()),
            count => stream.write_all(&buffer[..count])?,
        }
    }
}
