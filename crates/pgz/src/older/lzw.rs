//! LZW as `compress` writes it.
//!
//! ```text
//! 1f 9d  flags: 0x80 block mode, 0x60 unused, 0x1f the widest code      3 bytes
//! codes, least significant bit first, 9 bits wide at first
//! ```
//!
//! A code below 256 stands for that byte, a higher one for an entry of the table: an
//! earlier string and one byte more. Each code adds the entry that consists of the string
//! before it and its own first byte. When the next entry has no code of the present width,
//! codes get a bit wider, up to the widest. In block mode, code 256 empties the table.
//!
//! The writer packs eight codes at a time. Where the width changes, the rest of such a group is
//! padding, and so are the bits behind the last code. The end of the file is the end of the data,
//! so truncation is not detected.

use std::io::BufRead;

use super::{Step, Stop};
use crate::gzip::{Counted, Flaw};

/// Decodes one `.Z` file.
#[derive(Debug)]
pub struct Lzw {
    /// The string of entry `code` is that of `prefix[code]` and then `suffix[code]`.
    prefix: Vec<u16>,
    suffix: Vec<u8>,
    /// Length of the string of each code.
    length: Vec<u32>,
    /// The code before, if any: the next one completes an entry.
    previous: Option<u16>,
    /// The first byte of that code's string.
    first: u8,
    /// True after the first code.
    begun: bool,
    block_mode: bool,
    widest: u32,
    width: u32,
    /// Codes read at the present width, modulo 8.
    in_group: u32,
    bits: u32,
    held: u32,
}

impl Lzw {
    /// The first two bytes of a `.Z` file.
    pub const MAGIC: [u8; 2] = [0x1f, 0x9d];

    /// Starts behind the magic.
    ///
    /// # Errors
    ///
    /// If there is no third byte, or its code width is too large.
    pub fn start<R: BufRead>(input: &mut Counted<R>) -> Result<Lzw, Stop> {
        let offset = input.offset();
        let Some(flags) = input.byte()? else {
            return Err(Stop::damage(offset, Flaw::Truncated));
        };
        let widest = u32::from(flags & WIDEST);
        if !(FIRST_WIDTH..=LAST_WIDTH).contains(&widest) {
            return Err(Stop::damage(offset, Flaw::CodeWidth(widest)));
        }
        let block_mode = flags & BLOCK_MODE != 0;
        let mut suffix: Vec<u8> = (0..=u8::MAX).collect();
        // In block mode, `CLEAR` takes the place of an entry.
        suffix.resize(FIRST_CODES + usize::from(block_mode), 0);
        Ok(Lzw {
            prefix: vec![0; suffix.len()],
            length: vec![1; suffix.len()],
            suffix,
            previous: None,
            first: 0,
            begun: false,
            block_mode,
            widest,
            width: FIRST_WIDTH,
            in_group: 0,
            bits: 0,
            held: 0,
        })
    }

    /// Appends the string of the next code to `out`.
    ///
    /// # Errors
    ///
    /// A code that is not in the table.
    pub fn step<R: BufRead>(
        &mut self,
        input: &mut Counted<R>,
        out: &mut Vec<u8>,
    ) -> Result<Step, Stop> {
        if self.suffix.len() >= 1 << self.width && self.width < self.widest {
            self.pass_group(input)?;
            self.width += 1;
        }
        let offset = input.offset();
        let Some(code) = self.code(input)? else {
            return Ok(Step::End);
        };
        if code == CLEAR && self.block_mode && self.begun {
            self.pass_group(input)?;
            self.width = FIRST_WIDTH;
            self.clear();
            return Ok(Step::More);
        }
        self.begun = true;
        let known = self.suffix.len();
        let begin = out.len();
        match self.previous {
            _ if usize::from(code) < FIRST_CODES => out.push(code as u8),
            Some(_) if usize::from(code) < known => self.string(code, out),
            // This code completes its own entry: the string before it, and the first byte of the
            // whole, which is also the first of that string.
            Some(previous) if usize::from(code) == known && self.has_room() => {
                self.string(previous, out);
                out.push(self.first);
            }
            _ => return Err(Stop::damage(offset, Flaw::UnknownCode(code))),
        }
        self.first = out[begin];
        if let Some(previous) = self.previous.replace(code)
            && self.has_room()
        {
            self.prefix.push(previous);
            self.suffix.push(self.first);
            self.length.push(self.length[usize::from(previous)] + 1);
        }
        Ok(Step::More)
    }

    fn has_room(&self) -> bool {
        self.suffix.len() < 1 << self.widest
    }

    /// Appends the string of a known code, from its end to its start.
    fn string(&self, code: u16, out: &mut Vec<u8>) {
        let begin = out.len();
        out.resize(begin + self.length[usize::from(code)] as usize, 0);
        let mut code = usize::from(code);
        for byte in out[begin..].iter_mut().rev() {
            *byte = self.suffix[code];
            code = usize::from(self.prefix[code]);
        }
    }

    /// Empties the table, which has an entry for `CLEAR`.
    fn clear(&mut self) {
        let kept = FIRST_CODES + 1;
        self.prefix.truncate(kept);
        self.suffix.truncate(kept);
        self.length.truncate(kept);
        self.previous = None;
    }

    /// Reads a code; `None` where fewer bits than that are left.
    fn code<R: BufRead>(&mut self, input: &mut Counted<R>) -> Result<Option<u16>, Stop> {
        while self.held < self.width {
            let Some(byte) = input.byte()? else {
                return Ok(None);
            };
            self.bits |= u32::from(byte) << self.held;
            self.held += 8;
        }
        let code = self.bits & ((1 << self.width) - 1);
        self.bits >>= self.width;
        self.held -= self.width;
        self.in_group = (self.in_group + 1) % GROUP;
        Ok(Some(code as u16))
    }

    /// Skips the rest of the group of codes.
    fn pass_group<R: BufRead>(&mut self, input: &mut Counted<R>) -> Result<(), Stop> {
        while self.in_group != 0 && self.code(input)?.is_some() {}
        self.in_group = 0;
        Ok(())
    }
}

const BLOCK_MODE: u8 = 0x80;
const WIDEST: u8 = 0x1f;
const FIRST_WIDTH: u32 = 9;
const LAST_WIDTH: u32 = 16;
const FIRST_CODES: usize = 256;
const CLEAR: u16 = 256;
const GROUP: u32 = 8;
