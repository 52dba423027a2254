//! The requests on a connection, and the correct answers.
//!
//! Echo: each connection sends a stream of bytes of its own, divided into requests, and every byte
//! must come back in its place. All streams are in one table, each with another start. So a byte
//! that is lost, duplicated, changed, or from another connection, is detected. The length of the
//! table is a prime: no size of a buffer divides it.
//!
//! HTTP: one request repeatedly; an answer is a head with the status 200 and the length, and the
//! body common to all servers.

use std::sync::LazyLock;

use crate::base::Random;

/// The largest request of echo, and the largest piece that is read at once.
pub(super) const LARGEST: usize = 1 << 16;

/// The body of every HTTP server's answers.
pub(in crate::net) const BODY: &[u8] = b"Hello, world!";

const ASK: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// Number of bytes before the streams repeat.
const PERIOD: usize = 65_521;

/// Distance between the starts of two neighboring streams; arbitrary.
const APART: usize = 7_919;

/// The streams, with the beginning repeated at the end so that every piece is contiguous.
static STREAM: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let once: Vec<u8> = (0..PERIOD).map(|_| (random.draw() >> 32) as u8).collect();
    once.iter()
        .copied()
        .cycle()
        .take(PERIOD + LARGEST)
        .collect()
});

/// The protocol state of one connection.
#[derive(Debug)]
pub(super) enum Dialect {
    /// Echo.
    Echo {
        /// Start of this connection's stream in the table.
        begin: usize,
        /// Bytes of a request.
        size: usize,
        /// Bytes that have come back.
        back: u64,
    },
    /// HTTP/1.1.
    Http {
        /// The received part of an incomplete answer.
        part: Vec<u8>,
    },
}

impl Dialect {
    pub(super) fn echo(connection: usize, size: usize) -> Dialect {
        Dialect::Echo {
            begin: connection * APART % PERIOD,
            size,
            back: 0,
        }
    }

    pub(super) fn http() -> Dialect {
        Dialect::Http { part: Vec::new() }
    }

    /// Returns the length of a request.
    pub(super) fn size(&self) -> usize {
        match self {
            Dialect::Echo { size, .. } => *size,
            Dialect::Http { .. } => ASK.len(),
        }
    }

    /// Returns some of the next bytes to write, when `said` have been written and `count` more are
    /// due.
    pub(super) fn say(&self, said: u64, count: usize) -> &'static [u8] {
        match self {
            Dialect::Echo { begin, .. } => piece(*begin, said, count.min(LARGEST)),
            Dialect::Http { .. } => {
                let at = (said % ASK.len() as u64) as usize;
                &ASK[at..ASK.len().min(at + count)]
            }
        }
    }

    /// Accepts received bytes, at most [`LARGEST`], and returns the number of answers that they
    /// complete.
    ///
    /// # Errors
    /// When they are wrong; in words.
    pub(super) fn hear(&mut self, heard: &[u8]) -> Result<u64, String> {
        match self {
            Dialect::Echo { begin, size, back } => {
                let right = piece(*begin, *back, heard.len());
                if heard != right {
                    return Err(difference(heard, right, *back, *size));
                }
                let size = *size as u64;
                let before = *back / size;
                *back += heard.len() as u64;
                Ok(*back / size - before)
            }
            Dialect::Http { part } => {
                part.extend_from_slice(heard);
                let mut answers = 0;
                let mut used = 0;
                while let Some(length) = answer(&part[used..])? {
                    used += length;
                    answers += 1;
                }
                part.drain(..used);
                Ok(answers)
            }
        }
    }
}

/// Returns `count` bytes of the stream that begins at `begin`, after the first `from`.
fn piece(begin: usize, from: u64, count: usize) -> &'static [u8] {
    let at = (begin + (from % PERIOD as u64) as usize) % PERIOD;
    &STREAM[at..at + count]
}

fn difference(heard: &[u8], right: &[u8], back: u64, size: usize) -> String {
    let at = heard
        .iter()
        .zip(right)
        .position(|(a, b)| a != b)
        .unwrap_or(0);
    let place = back + at as u64;
    let (request, byte) = (place / size as u64, place % size as u64);
    let (is, should) = (heard[at], right[at]);
    format!("byte {byte} of answer {request} is {is:#04x} and should be {should:#04x}")
}

/// Returns the length of the answer at the front of `heard`, if it is complete.
fn answer(heard: &[u8]) -> Result<Option<usize>, String> {
    let Some(head) = heard.windows(4).position(|four| four == b"\r\n\r\n") else {
        return if heard.len() > LARGEST {
            Err("an answer's head does not end".to_owned())
        } else {
            Ok(None)
        };
    };
    let text = String::from_utf8_lossy(&heard[..head]);
    let mut lines = text.split("\r\n");
    let status = lines.next().unwrap_or_default();
    if !status.starts_with("HTTP/1.1 200") {
        return Err(format!("an answer begins with `{status}`"));
    }
    let length = lines
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .and_then(|(_, value)| value.trim().parse::<usize>().ok());
    if length != Some(BODY.len()) {
        return Err(format!("an answer's content-length is {length:?}"));
    }
    let end = head + 4 + BODY.len();
    match heard.get(head + 4..end) {
        None => Ok(None),
        Some(BODY) => Ok(Some(end)),
        Some(body) => Err(format!(
            "an answer's body is `{}`",
            String::from_utf8_lossy(body)
        )),
    }
}
