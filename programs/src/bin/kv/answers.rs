//! Answers in the protocols RESP2 and RESP3, collected until they are sent together.
//!
//! A large value, or a large part of one, is not copied: it is sent from where it is stored,
//! between the bytes before and behind it. All other answers to one request have a limit.

use std::io::{self, Write};
use std::ops::Range;

use crate::blob::Blob;
use crate::request::Given;
use crate::store::{LARGE, Value};
use crate::{input, integer};

/// Answers that have not been sent.
#[derive(Debug)]
pub(crate) struct Answers {
    bytes: Vec<u8>,
    large: Vec<Shared>,
    protocol: Protocol,
    /// Maximum of `bytes`.
    most: usize,
    /// True if there were more, which have been dropped.
    is_cut: bool,
}

/// A large value, or a part of it.
#[derive(Debug)]
struct Shared {
    /// The number of `bytes` before it.
    at: usize,
    blob: Blob,
    range: Range<usize>,
}

/// The version of the protocol that a client has asked for.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    #[default]
    Resp2,
    Resp3,
}

impl Answers {
    pub(crate) fn new() -> Answers {
        Answers::with_limit(input::MOST)
    }

    pub(crate) fn with_limit(most: usize) -> Answers {
        Answers {
            bytes: Vec::new(),
            large: Vec::new(),
            protocol: Protocol::default(),
            most,
            is_cut: false,
        }
    }

    pub(crate) fn protocol(&self) -> Protocol {
        self.protocol
    }

    pub(crate) fn set_protocol(&mut self, protocol: Protocol) {
        self.protocol = protocol;
    }

    /// Returns true if there is enough for a write before the last request of a read is answered.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.bytes.len() > MOST || !self.large.is_empty()
    }

    /// Returns true if the answers to a request exceed the limit. They are dropped then, and the
    /// connection must be closed.
    #[inline]
    pub(crate) fn exceed_limit(&mut self) -> bool {
        if self.bytes.len() > self.most {
            // Nothing is freed: the caller may hold locks.
            self.bytes.clear();
            self.is_cut = true;
        }
        self.is_cut
    }

    /// Sends the answers and releases memory that was needed only once.
    ///
    /// # Errors
    /// As for `write`.
    pub(crate) fn send(&mut self, mut to: impl Write) -> io::Result<()> {
        if self.large.is_empty() {
            to.write_all(&self.bytes)?;
        } else {
            self.send_large(to)?;
        }
        self.bytes.clear();
        self.bytes.shrink_to(KEPT);
        Ok(())
    }

    /// Sends bytes and large values in turn. Writes are small, and other fibers run between them:
    /// one system call with a large value would, with a fast receiver, hold the worker until the
    /// end.
    #[cold]
    fn send_large(&mut self, mut to: impl Write) -> io::Result<()> {
        let mut sent = 0;
        for Shared { at, blob, range } in self.large.drain(..) {
            to.write_all(&self.bytes[sent..at])?;
            sent = at;
            for piece in blob[range].chunks(PIECE) {
                to.write_all(piece)?;
                pirn::yield_now();
            }
        }
        to.write_all(&self.bytes[sent..])?;
        self.large.shrink_to(0);
        Ok(())
    }

    /// Appends a word of the protocol, such as `OK`.
    pub(crate) fn word(&mut self, word: &str) {
        self.line(b'+', word.as_bytes());
    }

    /// Appends the reason of a refusal, on one line; the first word is for programs.
    pub(crate) fn error(&mut self, text: &[u8]) {
        self.bytes.push(b'-');
        let end_of_line = |byte: &u8| matches!(byte, b'\r' | b'\n');
        let line = text
            .iter()
            .map(|byte| if end_of_line(byte) { b' ' } else { *byte });
        self.bytes.extend(line);
        self.bytes.extend_from_slice(END);
    }

    pub(crate) fn integer(&mut self, number: i64) {
        self.number(b':', number);
    }

    /// Appends a length or a count.
    pub(crate) fn count(&mut self, count: usize) {
        self.integer(i64::try_from(count).unwrap_or(i64::MAX));
    }

    /// Appends any bytes.
    #[inline]
    pub(crate) fn bulk(&mut self, bytes: &[u8]) {
        self.len(b'$', bytes.len());
        self.bytes.extend_from_slice(bytes);
        self.bytes.extend_from_slice(END);
    }

    /// Appends a value, or null.
    #[inline]
    pub(crate) fn value(&mut self, value: Option<&Value>) {
        match value {
            None => self.null(),
            Some(Value::Small(bytes)) => self.bulk(bytes),
            Some(Value::Large(blob)) => self.shared(blob, 0..blob.len()),
        }
    }

    /// Appends a part of a value.
    pub(crate) fn part(&mut self, value: &Value, range: Range<usize>) {
        match value {
            Value::Large(blob) if range.len() >= LARGE => self.shared(blob, range),
            value => self.bulk(&value.bytes()[range]),
        }
    }

    /// Appends an argument of a request.
    pub(crate) fn given(&mut self, given: Given<'_>) {
        match given {
            Given::Bytes(bytes) => self.bulk(bytes),
            Given::Shared(blob) => self.shared(blob, 0..blob.len()),
        }
    }

    fn shared(&mut self, blob: &Blob, range: Range<usize>) {
        self.len(b'$', range.len());
        self.large.push(Shared {
            at: self.bytes.len(),
            blob: blob.clone(),
            range,
        });
        self.bytes.extend_from_slice(END);
    }

    /// Appends a readable text of several lines.
    pub(crate) fn text(&mut self, text: &str) {
        match self.protocol {
            Protocol::Resp2 => self.bulk(text.as_bytes()),
            Protocol::Resp3 => {
                self.len(b'=', text.len() + 4);
                self.bytes.extend_from_slice(b"txt:");
                self.bytes.extend_from_slice(text.as_bytes());
                self.bytes.extend_from_slice(END);
            }
        }
    }

    /// Appends null.
    pub(crate) fn null(&mut self) {
        self.bytes.extend_from_slice(match self.protocol {
            Protocol::Resp2 => b"$-1\r\n",
            Protocol::Resp3 => b"_\r\n",
        });
    }

    /// Appends a null array.
    pub(crate) fn null_array(&mut self) {
        self.bytes.extend_from_slice(match self.protocol {
            Protocol::Resp2 => b"*-1\r\n",
            Protocol::Resp3 => b"_\r\n",
        });
    }

    /// Appends the start of an array of `len` answers, which follow.
    pub(crate) fn array(&mut self, len: usize) {
        self.len(b'*', len);
    }

    /// Appends the start of a set, an array in RESP2.
    pub(crate) fn set(&mut self, len: usize) {
        match self.protocol {
            Protocol::Resp2 => self.array(len),
            Protocol::Resp3 => self.len(b'~', len),
        }
    }

    /// Appends the start of a map of pairs, an array in RESP2.
    pub(crate) fn map(&mut self, len: usize) {
        match self.protocol {
            Protocol::Resp2 => self.array(2 * len),
            Protocol::Resp3 => self.len(b'%', len),
        }
    }

    fn len(&mut self, mark: u8, len: usize) {
        self.number(mark, i64::try_from(len).unwrap_or(i64::MAX));
    }

    #[inline]
    fn number(&mut self, mark: u8, number: i64) {
        self.bytes.push(mark);
        integer::write(&mut self.bytes, number);
        self.bytes.extend_from_slice(END);
    }

    fn line(&mut self, mark: u8, text: &[u8]) {
        self.bytes.push(mark);
        self.bytes.extend_from_slice(text);
        self.bytes.extend_from_slice(END);
    }
}

const END: &[u8] = b"\r\n";

/// The memory that a connection keeps for its answers. Arbitrary.
const KEPT: usize = 64 << 10;

/// Maximum bytes of answers that wait for the last request of a read. Arbitrary.
const MOST: usize = 256 << 10;

/// Bytes of a large value that are sent at once. Arbitrary.
const PIECE: usize = 128 << 10;
