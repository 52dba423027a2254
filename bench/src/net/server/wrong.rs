//! A server that changes one byte on each connection, for the tests of the harness.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::thread;

use super::text::BUFFER;
use super::{Settings, start};

/// The read on a connection with the changed byte: the first one after the greeting, which every
/// load reaches.
const TURN: usize = 2;

pub(super) fn echo(settings: &Settings) -> io::Result<()> {
    let listener = start::listen(settings)?;
    for stream in listener.incoming() {
        let stream = stream?;
        // As in the server of plain threads.
        thread::spawn(move || corrupt(stream).ok());
    }
    Ok(())
}

fn corrupt(mut stream: TcpStream) -> io::Result<()> {
    let mut buffer = [0; BUFFER];
    for turn in 1.. {
        let count = stream.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        if turn == TURN {
            buffer[count - 1] ^= 1;
        }
        stream.write_all(&buffer[..count])?;
    }
    Ok(())
}
