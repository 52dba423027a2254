//! Inflates raw deflate data.
//!
//! An inflater owns one state. [`Inflater::step`] serves a stream of unknown length;
//! [`Inflater::member`] a body with known compressed and uncompressed lengths.

use flate2::{Decompress, FlushDecompress, Status};

use crate::gzip::{Damage, Flaw, Trailer};

/// Inflates one stream after another.
#[derive(Debug)]
pub struct Inflater {
    inflate: Decompress,
}

/// The outcome of one step of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Number of bytes of input that were used; the output may or may not be full.
    Used(usize),
    /// The stream ended after this number of bytes.
    Ended(usize),
    /// No input was used and no output made: the input is truncated.
    Starved,
}

impl Default for Inflater {
    fn default() -> Self {
        Inflater {
            inflate: Decompress::new(false),
        }
    }
}

impl Inflater {
    /// Spare capacity behind a member's data. The decoder's fast loop runs only while at least 258
    /// bytes and a few more are left. A stream that is too long is detected because it uses this
    /// capacity.
    pub const SLACK: usize = 320;

    /// Resets the state for a new stream.
    pub fn start(&mut self) {
        self.inflate.reset(false);
    }

    /// Inflates from `input` into the spare capacity of `out`.
    ///
    /// # Errors
    ///
    /// The flaw, and the number of bytes of `input` before it.
    pub fn step(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Progress, (Flaw, usize)> {
        let (before_in, before_out) = (self.inflate.total_in(), out.len());
        let done = self
            .inflate
            .decompress_vec(input, out, FlushDecompress::None);
        let used = (self.inflate.total_in() - before_in) as usize;
        match done {
            Ok(Status::StreamEnd) => Ok(Progress::Ended(used)),
            Ok(_) if used == 0 && out.len() == before_out => Ok(Progress::Starved),
            Ok(_) => Ok(Progress::Used(used)),
            Err(error) => Err((Self::flaw(&error), used)),
        }
    }

    /// Inflates a member's body, deflate data and trailer, to the end of `out`, and returns
    /// the data's checksum, ready to be combined. `offset` is where the body begins in the
    /// file, for the report; `plain` is the required length of the data.
    ///
    /// # Errors
    ///
    /// The flaw; `out` may then hold a part of the data.
    pub fn member(
        &mut self,
        body: &[u8],
        offset: u64,
        plain: usize,
        out: &mut Vec<u8>,
    ) -> Result<crc32fast::Hasher, Damage> {
        let damage = |at: usize, flaw| Damage {
            offset: offset + at as u64,
            flaw,
        };
        let Some((data, trailer)) = body.split_last_chunk::<{ Trailer::LEN }>() else {
            return Err(damage(0, Flaw::Index("member too short")));
        };
        let trailer = Trailer::decode(*trailer);
        let begin = out.len();
        out.reserve(plain + Inflater::SLACK);
        self.start();
        let done = self
            .inflate
            .decompress_vec(data, out, FlushDecompress::Finish);
        let used = self.inflate.total_in() as usize;
        let bytes = &out[begin..];
        match done {
            Ok(Status::StreamEnd) => {}
            Ok(_) if bytes.len() > plain => {
                return Err(damage(used, Flaw::Index("length differs from the record")));
            }
            Ok(_) => return Err(damage(used, Flaw::Index("stream exceeds its member"))),
            Err(error) => return Err(damage(used, Self::flaw(&error))),
        }
        if used != data.len() {
            return Err(damage(used, Flaw::Index("stream ends before its member")));
        }
        let mut crc = crc32fast::Hasher::new();
        crc.update(bytes);
        if crc.clone().finalize() != trailer.crc {
            return Err(damage(used, Flaw::Checksum));
        }
        if bytes.len() as u32 != trailer.len {
            return Err(damage(used + 4, Flaw::Length));
        }
        if bytes.len() != plain {
            return Err(damage(used, Flaw::Index("length differs from the record")));
        }
        Ok(crc)
    }

    fn flaw(error: &flate2::DecompressError) -> Flaw {
        Flaw::Deflate(error.message().unwrap_or("bad deflate data").to_owned())
    }
}
