//! The source that libraries with blocking sockets share.

use std::io::{self, Read, Write};

use crate::child::compute;

use super::work::{Bill, Manner};

/// Bytes that one connection reads at once.
pub(super) const BUFFER: usize = 4096;

/// The same where the number of idle connections is maximal.
pub(super) const SMALL: usize = 1024;

/// Echoes until the other side has closed.
pub(super) fn echo(stream: impl Read + Write, manner: Manner) -> io::Result<()> {
    match (manner.price, manner.small) {
        (Some(price), _) => work(stream, price.bill()),
        (None, true) => echo_by::<SMALL>(stream),
        (None, false) => echo_by::<BUFFER>(stream),
    }
}

/// Computes for each request before it echoes it.
fn work(mut stream: impl Read + Write, mut bill: Bill) -> io::Result<()> {
    let mut buffer = [0; BUFFER];
    loop {
        match stream.read(&mut buffer)? {
            0 => return Ok(()),
            count => {
                compute(bill.add(count));
                stream.write_all(&buffer[..count])?;
            }
        }
    }
}

// Not inlined: both buffers would be in one frame.
#[inline(never)]
fn echo_by<const SIZE: usize>(mut stream: impl Read + Write) -> io::Result<()> {
    let mut buffer = [0; SIZE];
    loop {
        match stream.read(&mut buffer)? {
            0 => return Ok(()),
            count => stream.write_all(&buffer[..count])?,
        }
    }
}
