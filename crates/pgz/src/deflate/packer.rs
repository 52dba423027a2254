//! Compresses blocks.
//!
//! A packer owns one deflate state, used for one block at a time and reset in between.
//! There are two forms of output:
//!
//! * **a stretch of one stream** ([`Packer::stretch`]): raw deflate that starts from the
//!   block's dictionary and ends on a byte boundary (sync flush), so the stretches of
//!   successive blocks, put one after another, are one deflate stream;
//! * **a member** ([`Packer::member`]): a gzip file of its own, which needs no other
//!   block to be inflated and has a [`Mark`] with its length.
//!
//! The output depends on block and level alone, not on the packer's earlier blocks. So a file is
//! the same on any number of workers. One detail needs care: the library hashes one byte past the
//! end of a dictionary, where the window still holds a byte of an earlier block. [`Packer::forget`]
//! writes a zero there.

use flate2::{Compress, FlushCompress, Status};

use super::{Block, DICTIONARY, Level};
use crate::gzip::{Header, Mark, Trailer};

/// Compresses one block after another.
#[derive(Debug)]
pub struct Packer {
    deflate: Compress,
}

/// The end of a stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// More stretches follow.
    Open,
    /// The stream ends here.
    Last,
}

/// A compressed block.
#[derive(Debug)]
pub struct Packed {
    /// The bytes for the file.
    pub bytes: Vec<u8>,
    /// Checksum of the data, to be combined with those of its neighbours.
    pub crc: crc32fast::Hasher,
    /// Length of the data.
    pub plain: u64,
    /// Number of `bytes` in header and trailer.
    pub framing: u64,
    /// Whether it is the last block.
    pub closing: Closing,
}

impl Packer {
    /// Returns a packer for one level.
    pub fn new(level: Level) -> Packer {
        Packer {
            deflate: Compress::new(level.effort(), false),
        }
    }

    /// Compresses the block as a stretch of a longer stream, into `out`.
    pub fn stretch(&mut self, block: &Block, closing: Closing, out: Vec<u8>) -> Packed {
        let mut bytes = out;
        bytes.clear();
        let flush = match closing {
            Closing::Open => FlushCompress::Sync,
            Closing::Last => FlushCompress::Finish,
        };
        self.deflate(block.dictionary(), block.data(), flush, &mut bytes);
        Packed {
            bytes,
            crc: checksum(block.data()),
            plain: block.data().len() as u64,
            framing: 0,
            closing,
        }
    }

    /// Compresses the block as a member of its own, into `out`. The header is `header`
    /// with the mark as its extra field.
    ///
    /// # Panics
    ///
    /// If the block is longer than 2 GiB; blocks are at most 64 MiB.
    pub fn member(
        &mut self,
        block: &Block,
        header: &Header,
        closing: Closing,
        out: Vec<u8>,
    ) -> Packed {
        let mut bytes = out;
        bytes.clear();
        let plain = u32::try_from(block.data().len()).expect("blocks are below 2 GiB");
        let marked = |member| Header {
            extra: Some(Mark::Block { member, plain }.encode()),
            ..header.clone()
        };
        marked(0).encode(&mut bytes);
        let head = bytes.len();
        self.deflate(&[], block.data(), FlushCompress::Finish, &mut bytes);
        let crc = checksum(block.data());
        Trailer {
            crc: crc.clone().finalize(),
            len: plain,
        }
        .encode(&mut bytes);
        let member = u32::try_from(bytes.len()).expect("blocks are below 2 GiB");
        let mut final_header = Vec::with_capacity(head);
        marked(member).encode(&mut final_header);
        bytes[..head].copy_from_slice(&final_header);
        Packed {
            bytes,
            crc,
            plain: u64::from(plain),
            framing: (head + Trailer::LEN) as u64,
            closing,
        }
    }

    /// Returns the empty member that ends a series of `blocks` members with `plain` bytes in all.
    pub fn end_member(blocks: u64, plain: u64) -> Vec<u8> {
        let mut out = Vec::with_capacity(64);
        Header {
            extra: Some(Mark::End { blocks, plain }.encode()),
            ..Header::default()
        }
        .encode(&mut out);
        out.extend_from_slice(&EMPTY_STREAM);
        Trailer { crc: 0, len: 0 }.encode(&mut out);
        out
    }

    /// Overwrites the window at the end of the next dictionary, at a hundredth of a block's cost.
    /// `out` is scratch space.
    fn forget(&mut self, out: &mut Vec<u8>) {
        out.reserve(SCRATCH);
        let start = out.len();
        self.deflate
            .compress_vec(&BLANK, out, FlushCompress::None)
            .expect("deflate refuses no input");
        out.truncate(start);
        self.deflate.reset();
    }

    fn deflate(
        &mut self,
        dictionary: &[u8],
        data: &[u8],
        flush: FlushCompress,
        out: &mut Vec<u8>,
    ) {
        self.deflate.reset();
        if !dictionary.is_empty() {
            self.forget(out);
            self.deflate
                .set_dictionary(dictionary)
                .expect("a fresh raw stream takes a dictionary");
        }
        // Incompressible data grows by 5 bytes in 16 KiB. With this capacity one call suffices. A
        // second call after a sync flush that just fitted would add a second empty block.
        out.reserve(data.len() + data.len() / 64 + 256);
        let mut rest = data;
        loop {
            let before = self.deflate.total_in();
            let status = self
                .deflate
                .compress_vec(rest, out, flush)
                .expect("deflate refuses no input");
            rest = &rest[(self.deflate.total_in() - before) as usize..];
            let room = out.len() < out.capacity();
            match (flush, status) {
                (FlushCompress::Finish, Status::StreamEnd) => return,
                (FlushCompress::Sync, _) if room && rest.is_empty() => return,
                _ => out.reserve(data.len() / 8 + 4096),
            }
        }
    }
}

fn checksum(data: &[u8]) -> crc32fast::Hasher {
    let mut crc = crc32fast::Hasher::new();
    crc.update(data);
    crc
}

/// An empty final block with fixed codes.
const EMPTY_STREAM: [u8; 2] = [3, 0];

/// The length of a dictionary and of the few bytes after it that are hashed with it.
static BLANK: [u8; DICTIONARY + 8] = [0; DICTIONARY + 8];
/// More than the compressed size of the blank.
const SCRATCH: usize = 1024;
