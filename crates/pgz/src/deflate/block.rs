//! A block of input together with the bytes before it.
//!
//! ```text
//! | dictionary, ≤ 32 KiB | data, ≤ block size | unused |
//! 0                      start                end      bytes.len()
//! ```
//!
//! Deflate refers back up to 32 KiB. Each block has its own copy of these bytes, so that blocks
//! share nothing: copying 32 KiB takes 3 µs, compressing a block a thousand.

use std::io::{self, Read};

/// Maximum distance of a back-reference in deflate.
pub const DICTIONARY: usize = 32 << 10;

/// A buffer with one block of input.
#[derive(Debug, Default)]
pub struct Block {
    bytes: Box<[u8]>,
    start: usize,
    end: usize,
}

impl Block {
    /// Returns an empty block with capacity for `size` bytes of data.
    pub fn with_room(size: usize) -> Block {
        Block {
            bytes: vec![0; DICTIONARY + size].into_boxed_slice(),
            start: 0,
            end: 0,
        }
    }

    /// Fills the block: `before` becomes its dictionary, then up to `size` bytes are
    /// read. Fewer than `size` are read only at the end of the input.
    ///
    /// # Panics
    ///
    /// If `before` is longer than [`DICTIONARY`] or the block has less capacity.
    pub fn fill(
        &mut self,
        before: &[u8],
        size: usize,
        from: &mut dyn Read,
    ) -> io::Result<()> {
        assert!(before.len() <= DICTIONARY && before.len() + size <= self.bytes.len());
        self.bytes[..before.len()].copy_from_slice(before);
        self.start = before.len();
        self.end = self.start;
        let limit = self.start + size;
        while self.end < limit {
            match from.read(&mut self.bytes[self.end..limit]) {
                Ok(0) => break,
                Ok(n) => self.end += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    /// Keeps the first `len` bytes of the data.
    pub fn truncate(&mut self, len: usize) {
        self.end = self.end.min(self.start + len);
    }

    /// Returns the bytes before the data.
    pub fn dictionary(&self) -> &[u8] {
        &self.bytes[..self.start]
    }

    /// The data.
    pub fn data(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Returns the dictionary of the next block.
    pub fn tail(&self) -> &[u8] {
        &self.bytes[self.end.saturating_sub(DICTIONARY)..self.end]
    }
}
