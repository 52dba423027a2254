//! The header of a member.
//!
//! ```text
//! 1f 8b  method=8  flags  mtime u32  xfl  os        10 bytes
//! [len u16, extra]        FEXTRA   0x04
//! [name, 0]               FNAME    0x08
//! [comment, 0]            FCOMMENT 0x10
//! [crc16]                 FHCRC    0x02   low half of the header's CRC-32
//! ```
//!
//! Reading is total: any bytes give a header, a [`Damage`] or a read error.

use std::io::{self, BufRead};

use super::{Counted, Damage, Flaw, Mark};

/// The first two bytes of a gzip member.
pub const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// The contents of a header: metadata of the original file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Modification time in seconds since 1970; 0 means unknown.
    pub mtime: u32,
    /// Base name of the original file, without the closing zero.
    pub name: Option<Vec<u8>>,
    /// The extra field, verbatim.
    pub extra: Option<Vec<u8>>,
    /// Extra flags: 2 from the slowest compressor, 4 from the fastest.
    pub xfl: u8,
    /// Length in the file; set when read, ignored when encoded.
    pub len: u64,
}

impl Header {
    /// Appends the header.
    ///
    /// # Panics
    ///
    /// If the extra field does not fit its 16-bit length.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut flags = 0;
        if self.extra.is_some() {
            flags |= FEXTRA;
        }
        if self.name.is_some() {
            flags |= FNAME;
        }
        out.extend_from_slice(&[MAGIC[0], MAGIC[1], DEFLATE, flags]);
        out.extend_from_slice(&self.mtime.to_le_bytes());
        out.extend_from_slice(&[self.xfl, OS_UNIX]);
        if let Some(extra) = &self.extra {
            let len = u16::try_from(extra.len()).expect("extra field of at most 64 KiB");
            out.extend_from_slice(&len.to_le_bytes());
            out.extend_from_slice(extra);
        }
        if let Some(name) = &self.name {
            out.extend(name.iter().copied().filter(|&b| b != 0));
            out.push(0);
        }
    }

    /// Reads a header, magic included.
    ///
    /// # Errors
    ///
    /// The outer error is the reader's, the inner one the damage of the file.
    pub fn read<R: BufRead>(from: &mut Counted<R>) -> io::Result<Result<Header, Damage>> {
        let mut parse = Parse::at(from);
        parse.finish(|parse| {
            parse.magic()?;
            parse.header()
        })
    }

    /// Reads a header behind its magic.
    ///
    /// # Errors
    ///
    /// As for [`Header::read`].
    pub fn read_behind_magic<R: BufRead>(
        from: &mut Counted<R>,
    ) -> io::Result<Result<Header, Damage>> {
        let mut parse = Parse::at(from);
        parse.start -= MAGIC.len() as u64;
        parse.crc.update(&MAGIC);
        parse.finish(Parse::header)
    }

    /// Returns the mark of a `-i` member, if this is one.
    pub fn mark(&self) -> Option<Mark> {
        self.extra.as_deref().and_then(Mark::find)
    }
}

/// The reason why reading a header stopped.
enum Stop {
    Read(io::Error),
    Damage(Damage),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Stop::Read(error)
    }
}

/// A header being read. Adds every byte to the checksum for FHCRC.
struct Parse<'a, R> {
    from: &'a mut Counted<R>,
    start: u64,
    crc: crc32fast::Hasher,
}

impl<'a, R: BufRead> Parse<'a, R> {
    fn at(from: &'a mut Counted<R>) -> Self {
        Parse {
            start: from.offset(),
            from,
            crc: crc32fast::Hasher::new(),
        }
    }

    fn finish(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<Header, Stop>,
    ) -> io::Result<Result<Header, Damage>> {
        match read(self) {
            Ok(header) => Ok(Ok(header)),
            Err(Stop::Damage(damage)) => Ok(Err(damage)),
            Err(Stop::Read(error)) => Err(error),
        }
    }

    fn magic(&mut self) -> Result<(), Stop> {
        for expected in MAGIC {
            if self.byte()? != expected {
                return Err(Self::damage(self.start, Flaw::NotGzip));
            }
        }
        Ok(())
    }

    fn header(&mut self) -> Result<Header, Stop> {
        let method = self.byte()?;
        if method != DEFLATE {
            return Err(Self::damage(self.start + 2, Flaw::Method(method)));
        }
        let flags = self.byte()?;
        if flags & RESERVED != 0 {
            return Err(Self::damage(self.start + 3, Flaw::Flags(flags)));
        }
        let mtime = u32::from_le_bytes(self.bytes()?);
        let [xfl, _os] = self.bytes()?;
        let mut header = Header {
            mtime,
            xfl,
            ..Header::default()
        };
        if flags & FEXTRA != 0 {
            let len = u16::from_le_bytes(self.bytes()?);
            let mut extra = Vec::with_capacity(usize::from(len));
            for _ in 0..len {
                extra.push(self.byte()?);
            }
            header.extra = Some(extra);
        }
        if flags & FNAME != 0 {
            header.name = Some(self.text()?);
        }
        if flags & FCOMMENT != 0 {
            self.text()?;
        }
        if flags & FHCRC != 0 {
            let sum = self.crc.clone().finalize() as u16;
            let at = self.from.offset();
            if u16::from_le_bytes(self.bytes()?) != sum {
                return Err(Self::damage(at, Flaw::HeaderChecksum));
            }
        }
        header.len = self.from.offset() - self.start;
        Ok(header)
    }

    fn byte(&mut self) -> Result<u8, Stop> {
        match self.from.byte()? {
            Some(byte) => {
                self.crc.update(&[byte]);
                Ok(byte)
            }
            None => Err(Self::damage(self.from.offset(), Flaw::Truncated)),
        }
    }

    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], Stop> {
        let mut bytes = [0; N];
        for byte in &mut bytes {
            *byte = self.byte()?;
        }
        Ok(bytes)
    }

    /// Reads up to a zero byte. Keeps at most the length of a path, so that a damaged file without
    /// that zero costs no memory.
    fn text(&mut self) -> Result<Vec<u8>, Stop> {
        let mut text = Vec::new();
        loop {
            match self.byte()? {
                0 => return Ok(text),
                byte if text.len() < NAME_KEPT => text.push(byte),
                _ => {}
            }
        }
    }

    fn damage(offset: u64, flaw: Flaw) -> Stop {
        Stop::Damage(Damage { offset, flaw })
    }
}

const DEFLATE: u8 = 8;
const OS_UNIX: u8 = 3;
const FHCRC: u8 = 0x02;
const FEXTRA: u8 = 0x04;
const FNAME: u8 = 0x08;
const FCOMMENT: u8 = 0x10;
/// Undefined flag bits. Bit 0, FTEXT, is defined, but no reader needs it.
const RESERVED: u8 = 0xe0;
/// Linux's PATH_MAX.
const NAME_KEPT: usize = 4096;
