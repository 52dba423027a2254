//! HTTP/2 of a hostile client: frame by frame.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Instant;

use crate::peers::{LIMIT, connect};

/// The preface of a client.
pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const PING: u8 = 6;

const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
const ACK: u8 = 1;

/// A connection after its settings have been sent.
#[derive(Debug)]
pub(crate) struct Client {
    stream: TcpStream,
    since: Instant,
}

/// A frame that the server has sent.
#[derive(Debug)]
pub(crate) struct Frame {
    kind: u8,
    flags: u8,
    payload: Vec<u8>,
}

impl Client {
    /// Connects, with the settings in this payload.
    pub(crate) fn connect(address: SocketAddr, settings: &[u8]) -> Client {
        let mut stream = connect(address);
        stream.write_all(PREFACE).unwrap();
        stream.write_all(&frame(SETTINGS, 0, 0, settings)).unwrap();
        Client {
            stream,
            since: Instant::now(),
        }
    }

    pub(crate) fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Requests a page; the client's first request has the number 1, then 3, 5 and so on.
    pub(crate) fn get(&mut self, number: u32, path: &str) {
        // From the table of the standard: GET, http; then a path and a host, written out.
        let mut block = vec![0x82, 0x86];
        for (name, value) in [(4, path), (1, "here")] {
            block.extend([name, u8::try_from(value.len()).unwrap()]);
            block.extend(value.as_bytes());
        }
        let frame = frame(HEADERS, END_STREAM | END_HEADERS, number, &block);
        self.stream.write_all(&frame).unwrap();
    }

    /// Returns the next frame; `None` if the connection has ended. Settings and pings are
    /// acknowledged.
    ///
    /// # Panics
    /// If the connection is open for longer than [`LIMIT`].
    pub(crate) fn next(&mut self) -> Option<Frame> {
        let mut head = [0; 9];
        let read = self.stream.read_exact(&mut head);
        assert!(self.since.elapsed() < LIMIT, "the connection is open");
        read.ok()?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; length as usize];
        self.stream.read_exact(&mut payload).ok()?;
        let (kind, flags) = (head[3], head[4]);
        if flags & ACK == 0 && (kind == SETTINGS || kind == PING) {
            let answer = if kind == PING { &payload[..] } else { &[] };
            self.stream.write_all(&frame(kind, ACK, 0, answer)).ok()?;
        }
        Some(Frame {
            kind,
            flags,
            payload,
        })
    }
}

impl Frame {
    pub(crate) fn is_head(&self) -> bool {
        self.kind == HEADERS
    }

    /// Returns true if it is the head of an answer with the status 200.
    pub(crate) fn is_ok(&self) -> bool {
        self.is_head() && self.payload.first() == Some(&0x88)
    }

    /// Returns true if it answers a ping: all frames before that have been read.
    pub(crate) fn is_pong(&self) -> bool {
        self.kind == PING && self.flags & ACK != 0
    }

    pub(crate) fn ends_stream(&self) -> bool {
        // Frames of data and heads alone have that flag.
        self.kind <= HEADERS && self.flags & END_STREAM != 0
    }
}

/// The bytes of a ping.
pub(crate) fn ping() -> Vec<u8> {
    frame(PING, 0, 0, b"whatever")
}

fn frame(kind: u8, flags: u8, number: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut frame = length[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(number.to_be_bytes());
    frame.extend(payload);
    frame
}
