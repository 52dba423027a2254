//! Answers in the protocol RESP2, collected until they are sent together.

use std::fmt::Display;
use std::io::Write as _;

use crate::integer;

/// Answers that have not been sent.
#[derive(Debug, Default)]
pub(crate) struct Answers(Vec<u8>);

impl Answers {
    /// What there is to send.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Forgets what has been sent, and gives back memory that was needed only once.
    pub(crate) fn sent(&mut self) {
        self.0.clear();
        self.0.shrink_to(KEPT);
    }

    /// A word of the protocol, such as `OK`.
    pub(crate) fn word(&mut self, word: &str) {
        self.line(b'+', word.as_bytes());
    }

    /// Why a request is refused, on one line; the first word is for programs.
    pub(crate) fn error(&mut self, said: impl Display) {
        self.0.push(b'-');
        let start = self.0.len();
        // Writing to memory does not fail.
        let _ = write!(self.0, "{said}");
        for byte in &mut self.0[start..] {
            if matches!(byte, b'\r' | b'\n') {
                *byte = b' ';
            }
        }
        self.0.extend_from_slice(END);
    }

    pub(crate) fn integer(&mut self, number: i64) {
        self.number(b':', number);
    }

    /// How many there are.
    pub(crate) fn count<T>(&mut self, what: impl Iterator<Item = T>) {
        self.integer(i64::try_from(what.count()).unwrap_or(i64::MAX));
    }

    /// Any bytes.
    pub(crate) fn bulk(&mut self, bytes: &[u8]) {
        self.number(b'$', i64::try_from(bytes.len()).unwrap_or(i64::MAX));
        self.0.extend_from_slice(bytes);
        self.0.extend_from_slice(END);
    }

    /// That there is nothing.
    pub(crate) fn null(&mut self) {
        self.0.extend_from_slice(b"$-1\r\n");
    }

    /// The start of an array of so many answers, which follow.
    pub(crate) fn array(&mut self, len: usize) {
        self.number(b'*', i64::try_from(len).unwrap_or(i64::MAX));
    }

    fn number(&mut self, mark: u8, number: i64) {
        self.0.push(mark);
        integer::write(&mut self.0, number);
        self.0.extend_from_slice(END);
    }

    fn line(&mut self, mark: u8, text: &[u8]) {
        self.0.push(mark);
        self.0.extend_from_slice(text);
        self.0.extend_from_slice(END);
    }
}

const END: &[u8] = b"\r\n";

/// The memory that a connection keeps for its answers. Arbitrary.
const KEPT: usize = 64 << 10;
