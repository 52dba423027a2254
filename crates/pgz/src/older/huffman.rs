//! Huffman codes as `pack` writes them.
//!
//! ```text
//! 1f 1e  length of the data, u32 big-endian     6 bytes
//! depth  1 to 25                                1 byte
//! number of codes of each length, 1 to depth    depth bytes; the last is 2 more than it says
//! the byte for each code, shorter codes first; none for the last code, which ends the data
//! codes, most significant bit first
//! ```
//!
//! Codes of one length are successive numbers, and above them are the prefixes of longer
//! ones: the codes of length `n` begin where those prefixes end.

use std::io::BufRead;

use super::{Step, Stop};
use crate::gzip::{Counted, Flaw};

/// Decodes one packed file.
#[derive(Debug)]
pub struct Huffman {
    /// For each length of codes.
    levels: Vec<Level>,
    /// The byte for each code.
    bytes: Vec<u8>,
    /// Remaining bytes of data.
    left: u32,
    bits: u8,
    held: u32,
}

/// The codes of one length.
#[derive(Clone, Copy, Debug, Default)]
struct Level {
    /// The lowest code.
    lowest: u32,
    /// Number of codes.
    codes: u32,
    /// Index of the lowest code's byte.
    index: u32,
}

impl Huffman {
    /// The first two bytes of a packed file.
    pub const MAGIC: [u8; 2] = [0x1f, 0x1e];

    /// Reads the length and the tree, which follow the magic.
    ///
    /// # Errors
    ///
    /// If the file ends there, or its codes form no complete tree.
    pub fn start<R: BufRead>(input: &mut Counted<R>) -> Result<Huffman, Stop> {
        let mut left = 0;
        for _ in 0..4 {
            left = left << 8 | u32::from(byte(input)?);
        }
        let offset = input.offset();
        let depth = usize::from(byte(input)?);
        if !(1..=DEPTH).contains(&depth) {
            return Err(Stop::damage(offset, Flaw::CodeTree));
        }
        let mut levels = vec![Level::default(); depth];
        for level in &mut levels {
            level.codes = u32::from(byte(input)?);
        }
        levels[depth - 1].codes += 2;
        let mut index = 0;
        let mut room = 1;
        for level in &mut levels {
            room *= 2;
            level.index = index;
            index += level.codes;
            // The unused codes are the prefixes of the next level.
            if level.codes > room {
                return Err(Stop::damage(offset, Flaw::CodeTree));
            }
            room -= level.codes;
            level.lowest = room;
        }
        if room != 0 {
            return Err(Stop::damage(offset, Flaw::CodeTree));
        }
        let mut bytes = Vec::with_capacity(index as usize);
        for _ in 1..index {
            bytes.push(byte(input)?);
        }
        Ok(Huffman {
            levels,
            bytes,
            left,
            bits: 0,
            held: 0,
        })
    }

    /// Appends the next byte of data to `out`.
    ///
    /// # Errors
    ///
    /// If the data ends too early or too late.
    pub fn step<R: BufRead>(
        &mut self,
        input: &mut Counted<R>,
        out: &mut Vec<u8>,
    ) -> Result<Step, Stop> {
        let mut code = 0;
        let mut levels = self.levels.iter();
        let index = loop {
            if self.held == 0 {
                self.bits = byte(input)?;
                self.held = 8;
            }
            self.held -= 1;
            code = code << 1 | u32::from(self.bits >> self.held & 1);
            // The tree is complete, so a code of the last level is never a prefix.
            match levels.next() {
                Some(level) if code < level.lowest => {}
                Some(level) => break level.index + (code - level.lowest),
                None => return Err(Stop::damage(input.offset(), Flaw::CodeTree)),
            }
        };
        match (self.bytes.get(index as usize), self.left.checked_sub(1)) {
            (Some(&byte), Some(left)) => {
                self.left = left;
                out.push(byte);
                Ok(Step::More)
            }
            (None, None) => Ok(Step::End),
            _ => Err(Stop::damage(input.offset(), Flaw::Length)),
        }
    }
}

fn byte<R: BufRead>(input: &mut Counted<R>) -> Result<u8, Stop> {
    match input.byte()? {
        Some(byte) => Ok(byte),
        None => Err(Stop::damage(input.offset(), Flaw::Truncated)),
    }
}

/// The longest codes that `pack` makes.
const DEPTH: usize = 25;
