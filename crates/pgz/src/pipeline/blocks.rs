//! Boundaries between blocks of input.
//!
//! Usually blocks have a fixed length. With `--rsyncable` the data decides: a block ends where a
//! hash over the last 64 bytes has a given number of zero bits. Such a place is found again after
//! it has moved. So a change of the input moves the boundaries around it and leaves the others. A
//! block's output depends only on its data and the 32 KiB before it.

use std::io::{self, Read};

use crate::deflate::{Block, Closing};

/// Reads an input block by block.
pub(super) struct Blocks<'a> {
    input: &'a mut dyn Read,
    size: usize,
    /// For `--rsyncable`.
    cutter: Option<Cutter>,
}

impl<'a> Blocks<'a> {
    /// Reads blocks of at most `size` bytes.
    pub(super) fn new(input: &'a mut dyn Read, size: usize, rsyncable: bool) -> Self {
        Blocks {
            input,
            size,
            cutter: rsyncable.then(|| Cutter::new(size)),
        }
    }

    /// Fills a block with `before` as its dictionary. Returns true if it is the last one.
    pub(super) fn fill(
        &mut self,
        block: &mut Block,
        before: &[u8],
    ) -> io::Result<Closing> {
        let Some(cutter) = &mut self.cutter else {
            block.fill(before, self.size, self.input)?;
            return Ok(self.closing(block));
        };
        // There are fewer carried bytes than a block holds, so all of them are read.
        let mut input = cutter.carried.chain(&mut *self.input);
        block.fill(before, self.size, &mut input)?;
        cutter.carried.clear();
        if let Some(at) = cutter.find(block.data()) {
            cutter.carried.extend_from_slice(&block.data()[at..]);
            block.truncate(at);
            return Ok(Closing::Open);
        }
        Ok(self.closing(block))
    }

    fn closing(&self, block: &Block) -> Closing {
        match block.data().len() < self.size {
            true => Closing::Last,
            false => Closing::Open,
        }
    }
}

/// Finds boundaries that depend on the data.
struct Cutter {
    /// Bytes that were read behind the last boundary.
    carried: Vec<u8>,
    least: usize,
    shift: u32,
}

impl Cutter {
    /// Returns a splitter for blocks of at most `size` bytes: at least a sixteenth of that, and a
    /// quarter more on average.
    fn new(size: usize) -> Cutter {
        Cutter {
            carried: Vec::new(),
            least: size / 16,
            shift: u64::BITS - (size / 4).ilog2(),
        }
    }

    /// Returns the end of the block that starts with `data`, if it is before the end of `data`.
    fn find(&self, data: &[u8]) -> Option<usize> {
        let mut hash: u64 = 0;
        let found = data.iter().enumerate().position(|(at, &byte)| {
            // A byte is shifted out of the hash after 64 more.
            hash = (hash << 1).wrapping_add(SCATTER[usize::from(byte)]);
            at >= self.least && hash >> self.shift == 0
        });
        found.map(|at| at + 1).filter(|&at| at < data.len())
    }
}

/// A number with evenly mixed bits for each byte (the finalizer of splitmix64).
const SCATTER: [u64; 256] = {
    let mut table = [0; 256];
    let mut at = 0;
    while at < table.len() {
        let mut mixed = (at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        table[at] = mixed ^ (mixed >> 31);
        at += 1;
    }
    table
};
