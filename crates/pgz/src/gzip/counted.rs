//! A buffered reader that knows how far it is in the file.

use std::io::{self, BufRead, Read};

/// Counts the bytes consumed, so that damage can be reported with its offset.
#[derive(Debug)]
pub struct Counted<R> {
    from: R,
    offset: u64,
}

impl<R: BufRead> Counted<R> {
    /// Starts to count at offset 0.
    pub fn new(from: R) -> Self {
        Counted { from, offset: 0 }
    }

    /// Bytes consumed so far.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Consumes one byte; `None` at the end of the file.
    pub fn byte(&mut self) -> io::Result<Option<u8>> {
        let first = self.fill_buf()?.first().copied();
        if first.is_some() {
            self.consume(1);
        }
        Ok(first)
    }

    /// Appends up to `wanted` bytes to `out`; fewer only at the end of the file.
    /// Returns how many there were.
    pub fn append(&mut self, out: &mut Vec<u8>, wanted: usize) -> io::Result<usize> {
        let mut left = wanted;
        while left > 0 {
            let ready = self.fill_buf()?;
            let n = ready.len().min(left);
            if n == 0 {
                break;
            }
            out.extend_from_slice(&ready[..n]);
            self.consume(n);
            left -= n;
        }
        Ok(wanted - left)
    }
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.from.read(buf)?;
        self.offset += n as u64;
        Ok(n)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.from.fill_buf()
    }

    fn consume(&mut self, n: usize) {
        self.from.consume(n);
        self.offset += n as u64;
    }
}
