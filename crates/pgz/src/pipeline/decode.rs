//! The decode stage: from compressed bytes to pieces of data, in order.
//!
//! ```text
//!              ┌─────────────────────── next member ◀───────────────────────┐
//!  start ──▶ header ─┬─▶ marked block of usual size: Emit::member, whole ───┤
//!                    ├─▶ any other gzip member: Emit::bytes … Emit::close ──┤
//!                    └─▶ older or unknown format: Emit::bytes … Emit::end ──┤
//!                                      zeros to the end of the file: done ◀─┘
//! ```
//!
//! Rules of the format, as gzip has them: a file has any number of members; zeros may follow the
//! last one; anything else there is garbage. Beyond gzip: a series of marked blocks must end with
//! its end record; without one, the file has been cut between two blocks.
//!
//! All data in front of a flaw is emitted before the flaw is reported.
//!
//! The stage is generic over the source of bytes and the receiver of pieces. The pipeline passes
//! channels, the fuzz target a slice and a sink of its own.

use std::io::{self, BufRead};

use super::Failure;
use super::emit::{Emit, Gone, Member};
use crate::deflate::{Inflater, Progress};
use crate::gzip::{Counted, Damage, Flaw, Header, MAGIC, Mark, Trailer};
use crate::older::{self, Huffman, Lzw, Step};

/// The treatment of data in an unknown format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Foreign {
    /// It is damage.
    #[default]
    Refused,
    /// It is plain data, to the end of the file.
    Copied,
}

/// The encoding of a member's data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Deflate, in a gzip member.
    #[default]
    Deflate,
    /// LZW codes, as `compress` writes them.
    Lzw,
    /// Huffman codes, as `pack` writes them.
    Huffman,
    /// Not compressed, in no known format.
    Stored,
}

/// Properties of the file that the stage has found.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The first member's header.
    pub header: Option<Header>,
    /// Encoding of the last member's data.
    pub method: Method,
    /// Length of the file.
    pub packed: u64,
    /// Bytes of headers and trailers.
    pub framing: u64,
    /// Zeros follow the last member.
    pub padded: bool,
}

/// The reason why the stage ended early.
#[derive(Debug)]
pub enum Stop {
    /// The input is damaged or cannot be read.
    Failure(Failure),
    /// The receiver of the pieces has closed.
    Gone,
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Stop::Failure(Failure::Read(error))
    }
}

impl From<Damage> for Stop {
    fn from(damage: Damage) -> Self {
        Stop::Failure(Failure::Damage(damage))
    }
}

impl From<older::Stop> for Stop {
    fn from(stop: older::Stop) -> Self {
        match stop {
            older::Stop::Read(error) => error.into(),
            older::Stop::Damage(damage) => damage.into(),
        }
    }
}

impl From<Gone> for Stop {
    fn from(_: Gone) -> Self {
        Stop::Gone
    }
}

/// Decodes a whole file.
///
/// # Errors
///
/// * [`Stop::Failure`]: the first flaw of the file that this stage can detect (the emitter detects
///   a damaged marked member), or an error of the reader.
/// * [`Stop::Gone`]: the receiver of the pieces has closed.
pub fn decode<R: BufRead, E: Emit>(
    input: R,
    foreign: Foreign,
    emit: &mut E,
) -> Result<Outcome, Stop> {
    let mut decoder = Decoder {
        input: Counted::new(input),
        foreign,
        begun: false,
        emit,
        inflater: Inflater::default(),
        series: None,
        outcome: Outcome::default(),
    };
    while decoder.another()? {
        decoder.member()?;
    }
    decoder.outcome.packed = decoder.input.offset();
    Ok(decoder.outcome)
}

/// Marked blocks seen since the last end record.
#[derive(Default)]
struct Series {
    blocks: u64,
    plain: u64,
}

struct Decoder<'a, R, E> {
    input: Counted<R>,
    foreign: Foreign,
    begun: bool,
    emit: &'a mut E,
    inflater: Inflater,
    series: Option<Series>,
    outcome: Outcome,
}

impl<R: BufRead, E: Emit> Decoder<'_, R, E> {
    /// Returns true if another member follows; skips zeros at the end.
    fn another(&mut self) -> Result<bool, Stop> {
        if !std::mem::replace(&mut self.begun, true) {
            return Ok(true);
        }
        let start = self.input.offset();
        if self.foreign == Foreign::Copied && self.series.is_none() {
            return Ok(!self.input.fill_buf()?.is_empty());
        }
        match self.input.fill_buf()?.first() {
            Some(&byte) if byte == MAGIC[0] => return Ok(true),
            None | Some(0) if self.series.is_some() => {
                return Err(self.damage(start, Flaw::Truncated));
            }
            _ => {}
        }
        loop {
            let rest = self.input.fill_buf()?;
            if rest.is_empty() {
                self.outcome.padded = self.input.offset() > start;
                return Ok(false);
            }
            let zeros = rest.iter().take_while(|&&byte| byte == 0).count();
            let garbage = zeros < rest.len();
            self.input.consume(zeros);
            if garbage {
                let offset = self.input.offset();
                return Err(self.damage(offset, Flaw::TrailingGarbage));
            }
        }
    }

    fn member(&mut self) -> Result<(), Stop> {
        let start = self.input.offset();
        let mut magic = [0; MAGIC.len()];
        let mut read = 0;
        while read < magic.len()
            && let Some(byte) = self.input.byte()?
        {
            magic[read] = byte;
            read += 1;
        }
        let begins_well = magic[..read] == MAGIC[..read];
        let alone = self.series.is_none();
        match magic {
            MAGIC => self.gzip(start),
            Lzw::MAGIC if alone => {
                self.outcome.method = Method::Lzw;
                let mut lzw = Lzw::start(&mut self.input)?;
                self.older(|input, out| lzw.step(input, out))
            }
            Huffman::MAGIC if alone => {
                self.outcome.method = Method::Huffman;
                let mut huffman = Huffman::start(&mut self.input)?;
                self.older(|input, out| huffman.step(input, out))
            }
            _ if self.foreign == Foreign::Copied && alone => {
                self.outcome.method = Method::Stored;
                self.copy(&magic[..read])
            }
            _ if begins_well => Err(self.damage(self.input.offset(), Flaw::Truncated)),
            _ if start > 0 => Err(self.damage(start, Flaw::TrailingGarbage)),
            _ => Err(self.damage(start, Flaw::NotGzip)),
        }
    }

    /// Decodes a gzip member behind its magic.
    fn gzip(&mut self, start: u64) -> Result<(), Stop> {
        self.outcome.method = Method::Deflate;
        let header = Header::read_behind_magic(&mut self.input)??;
        self.outcome.framing += header.len + Trailer::LEN as u64;
        let mark = header.mark();
        let head = header.len;
        self.outcome.header.get_or_insert(header);
        match mark {
            Some(Mark::Block { member, plain }) => {
                let series = self.series.get_or_insert_default();
                series.blocks += 1;
                series.plain += u64::from(plain);
                match u64::from(member).checked_sub(head) {
                    Some(body) if body.max(u64::from(plain)) <= WHOLE => {
                        self.whole(body as usize, plain as usize)
                    }
                    _ => {
                        let len = self.stream()?;
                        let end = start + u64::from(member);
                        if len != u64::from(plain) || self.input.offset() != end {
                            let flaw = Flaw::Index("member differs from its record");
                            return Err(self.damage(start, flaw));
                        }
                        Ok(())
                    }
                }
            }
            Some(Mark::End { blocks, plain }) => {
                let series = self.series.take().unwrap_or_default();
                if (blocks, plain) != (series.blocks, series.plain) {
                    let flaw =
                        Flaw::Index("end record differs from the blocks before it");
                    return Err(self.damage(start, flaw));
                }
                self.stream().map(drop)
            }
            None if self.series.is_some() => {
                let flaw = Flaw::Index("blocks end without their end record");
                Err(self.damage(start, flaw))
            }
            None => self.stream().map(drop),
        }
    }

    /// Passes a marked block on without inflating it.
    fn whole(&mut self, len: usize, plain: usize) -> Result<(), Stop> {
        let offset = self.input.offset();
        let mut body = self.emit.buffer();
        if self.input.append(&mut body, len)? < len {
            self.salvage(&body)?;
            let offset = self.input.offset();
            return Err(self.damage(offset, Flaw::Truncated));
        }
        // Deflate compresses at most 1032 to 1. A record with a larger ratio would only make the
        // inflater reserve memory in vain.
        if plain / 1032 > len {
            return Err(self.damage(offset, Flaw::Index("impossible length")));
        }
        let member = Member {
            body,
            offset,
            plain,
        };
        Ok(self.emit.member(member)?)
    }

    /// Inflates a truncated marked block.
    fn salvage(&mut self, body: &[u8]) -> Result<(), Stop> {
        self.inflater.start();
        let mut rest = body;
        loop {
            let mut piece = self.emit.buffer();
            let step = self.inflater.step(rest, &mut piece);
            let empty = piece.is_empty();
            self.emit.bytes(piece)?;
            match step {
                Ok(Progress::Used(used)) if used > 0 || !empty => rest = &rest[used..],
                _ => return Ok(()),
            }
        }
    }

    /// Decodes a member of an older format.
    fn older(
        &mut self,
        mut step: impl FnMut(&mut Counted<R>, &mut Vec<u8>) -> Result<Step, older::Stop>,
    ) -> Result<(), Stop> {
        let mut piece = self.emit.buffer();
        loop {
            let done = step(&mut self.input, &mut piece);
            if piece.len() > piece.capacity() / 2 || !matches!(done, Ok(Step::More)) {
                self.emit.bytes(piece)?;
                piece = self.emit.buffer();
            }
            if done? == Step::End {
                return Ok(self.emit.end()?);
            }
        }
    }

    /// Copies the rest of the file; `start` has been read already.
    fn copy(&mut self, start: &[u8]) -> Result<(), Stop> {
        let mut piece = self.emit.buffer();
        piece.extend_from_slice(start);
        loop {
            let ready = self.input.fill_buf()?;
            let copied = ready.len();
            piece.extend_from_slice(ready);
            self.input.consume(copied);
            self.emit.bytes(piece)?;
            if copied == 0 {
                return Ok(self.emit.end()?);
            }
            piece = self.emit.buffer();
        }
    }

    /// Inflates a member of unknown length; returns the length of its data.
    fn stream(&mut self) -> Result<u64, Stop> {
        self.inflater.start();
        let mut len = 0;
        let mut piece = self.emit.buffer();
        loop {
            let rest = self.input.fill_buf()?;
            let input_ended = rest.is_empty();
            let before = piece.len();
            let step = self.inflater.step(rest, &mut piece);
            len += (piece.len() - before) as u64;
            let ended = match step {
                Ok(Progress::Used(n)) => {
                    self.input.consume(n);
                    false
                }
                Ok(Progress::Ended(n)) => {
                    self.input.consume(n);
                    true
                }
                Ok(Progress::Starved) => {
                    let offset = self.input.offset();
                    let flaw = match input_ended {
                        true => Flaw::Truncated,
                        false => Flaw::Deflate("no progress".to_owned()),
                    };
                    self.emit.bytes(piece)?;
                    return Err(self.damage(offset, flaw));
                }
                Err((flaw, n)) => {
                    let offset = self.input.offset() + n as u64;
                    self.emit.bytes(piece)?;
                    return Err(self.damage(offset, flaw));
                }
            };
            if ended || piece.len() == piece.capacity() {
                self.emit.bytes(piece)?;
                if ended {
                    break;
                }
                piece = self.emit.buffer();
            }
        }
        let offset = self.input.offset();
        match Trailer::read(&mut self.input)? {
            Some(trailer) => self.emit.close(trailer, offset)?,
            None => return Err(self.damage(self.input.offset(), Flaw::Truncated)),
        }
        Ok(len)
    }

    fn damage(&self, offset: u64, flaw: Flaw) -> Stop {
        Damage { offset, flaw }.into()
    }
}

/// The longest marked block that is inflated in one piece: the largest block size, with a margin
/// for incompressible data. Longer ones are read as a stream.
const WHOLE: u64 = (64 << 20) + (1 << 20);
