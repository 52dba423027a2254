//! A partly received large argument.

use std::io::{self, Read};
use std::mem;

use crate::blob::{self, Blob};

#[derive(Debug)]
pub(crate) struct Large {
    /// Received up to `end`; spare capacity behind it.
    bytes: Vec<u8>,
    end: usize,
    len: usize,
}

impl Large {
    pub(crate) fn new(len: usize) -> Large {
        Large {
            bytes: Vec::new(),
            end: 0,
            len,
        }
    }

    /// Returns the number of missing bytes.
    pub(crate) fn missing(&self) -> usize {
        self.len - self.end
    }

    pub(crate) fn memory(&self) -> usize {
        self.bytes.len()
    }

    /// Takes missing bytes from the start of `bytes`; returns their number.
    pub(crate) fn take_from(&mut self, bytes: &[u8]) -> usize {
        let here = bytes.len().min(self.missing());
        if here > 0 {
            self.bytes.truncate(self.end);
            self.bytes.extend_from_slice(&bytes[..here]);
            self.end += here;
        }
        here
    }

    /// Receives a piece. Memory grows with the received bytes, whatever length was announced.
    /// Pieces are small, so that one system call does not hold the worker for long.
    pub(crate) fn fill(&mut self, mut from: impl Read) -> io::Result<usize> {
        if self.end == self.bytes.len() {
            let wanted = self.len.min(self.end + PIECE);
            if self.bytes.capacity() < wanted {
                let doubled = (2 * self.end).clamp(wanted, self.len);
                self.bytes.reserve_exact(doubled - self.end);
            }
            self.bytes.resize(wanted, 0);
        }
        let n = from.read(&mut self.bytes[self.end..])?;
        self.end += n;
        Ok(n)
    }

    /// Returns the argument, when it is complete.
    pub(crate) fn into_blob(mut self) -> Blob {
        let mut bytes = mem::take(&mut self.bytes);
        bytes.shrink_to_fit();
        Blob::new(bytes)
    }
}

impl Drop for Large {
    fn drop(&mut self) {
        blob::free(mem::take(&mut self.bytes));
    }
}

/// Bytes received at once. Arbitrary.
const PIECE: usize = 128 << 10;
