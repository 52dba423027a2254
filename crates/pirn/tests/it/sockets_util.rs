//! Utilities for tests of sockets: connections over the loopback, and traffic on them.

use std::io::{self, Read, Write};
use std::time::Duration;

use pirn::net::{TcpListener, TcpStream};

/// Returns a listener on any free port.
pub(crate) fn listener() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").expect("a free port")
}

/// Returns both ends of a connection.
pub(crate) fn connection() -> (TcpStream, TcpStream) {
    let listener = listener();
    let address = listener.local_addr().expect("an address");
    // The system connects before the accept.
    let one = TcpStream::connect(address).expect("a connection");
    let (other, _) = listener.accept().expect("the other end");
    at_once(&one);
    at_once(&other);
    (one, other)
}

/// Sends each write at once: otherwise each message may wait 40 ms for the acknowledgement of the
/// last one.
pub(crate) fn at_once(stream: &TcpStream) {
    stream.set_nodelay(true).expect("a connection");
}

/// Echoes all input, until its end.
pub(crate) fn echo(stream: &TcpStream) -> io::Result<u64> {
    let mut stream = stream;
    let mut buffer = [0; 1_024];
    let mut total = 0;
    loop {
        let n = stream.read(&mut buffer)?;
        if n == 0 {
            return Ok(total);
        }
        stream.write_all(&buffer[..n])?;
        total += n as u64;
    }
}

/// Sends `rounds` messages and reads each of them back.
pub(crate) fn converse(stream: &TcpStream, seed: usize, rounds: usize) {
    let mut stream = stream;
    for round in 0..rounds {
        let sent: Vec<u8> = (0..1 + (seed * 31 + round * 7) % 3_000)
            .map(|i| (seed + round + i) as u8)
            .collect();
        let mut back = vec![0; sent.len()];
        stream.write_all(&sent).expect("it takes the message");
        stream.read_exact(&mut back).expect("it sends it back");
        assert!(back == sent, "the message came back changed");
    }
}

/// Closes the connection so that the other end sees a reset.
pub(crate) fn reset(stream: TcpStream) {
    stream.set_linger(Some(Duration::ZERO)).expect("an option");
    drop(stream);
}
