//! The decode stage: from compressed bytes to pieces of data, in order.
//!
//! ```text
//!          ┌──────────────── next member ◀───────────────┐
//!  start ──▶ header ──▶ marked block, of usual size: Emit::member, whole ──▶┤
//!                  └──▶ anything else: Emit::bytes … Emit::close ───────▶┤
//!                                                    zeros to the end ──▶ done
//! ```
//!
//! Rules of the format, as gzip has them: members may follow each other without end;
//! zeros may follow the last one; anything else there is garbage. Beyond gzip: a series
//! of marked blocks must end with its end record, or the file has been cut between two.
//!
//! The stage is generic over where bytes come from and where pieces go; the pipeline
//! gives it channels, the fuzz target a slice and a sink of its own.

use std::io::{self, BufRead};

use super::Failure;
use crate::deflate::{Inflater, Progress};
use crate::gzip::{Counted, Damage, Flaw, Header, MAGIC, Mark, Trailer};

/// Where the pieces go. Whatever returns [`Gone`] ends the stage.
pub trait Emit {
    /// An empty buffer with room for a piece.
    fn buffer(&mut self) -> Vec<u8>;
    /// A piece of the current member's data.
    fn bytes(&mut self, piece: Vec<u8>) -> Result<(), Gone>;
    /// The current member ends; its trailer stands at `offset`.
    fn close(&mut self, trailer: Trailer, offset: u64) -> Result<(), Gone>;
    /// A whole member, still compressed.
    fn member(&mut self, member: Member) -> Result<(), Gone>;
}

/// Nobody wants more pieces.
#[derive(Debug)]
pub struct Gone;

/// A compressed member whose length on both sides is known.
#[derive(Debug)]
pub struct Member {
    /// Deflate data and trailer.
    pub body: Vec<u8>,
    /// Where the body begins in the file.
    pub offset: u64,
    /// How long the data must be.
    pub plain: usize,
}

/// What the stage learned about the file.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The first member's header.
    pub header: Option<Header>,
    /// Length of the file.
    pub packed: u64,
    /// Bytes of headers and trailers.
    pub framing: u64,
    /// Zeros follow the last member.
    pub padded: bool,
}

/// Why the stage ended early.
#[derive(Debug)]
pub enum Stop {
    /// The input's fault.
    Failure(Failure),
    /// Nobody wants more.
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

impl From<Gone> for Stop {
    fn from(_: Gone) -> Self {
        Stop::Gone
    }
}

/// Decodes a whole file.
///
/// # Errors
///
/// The first flaw of the file that this stage can see; a damaged marked member is the
/// emitter's to find.
pub fn decode<R: BufRead, E: Emit>(input: R, emit: &mut E) -> Result<Outcome, Stop> {
    let mut decoder = Decoder {
        input: Counted::new(input),
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
    emit: &'a mut E,
    inflater: Inflater,
    series: Option<Series>,
    outcome: Outcome,
}

impl<R: BufRead, E: Emit> Decoder<'_, R, E> {
    /// Whether another member follows; passes zeros at the end.
    fn another(&mut self) -> Result<bool, Stop> {
        if self.outcome.header.is_none() {
            return Ok(true);
        }
        let start = self.input.offset();
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
        let header = match Header::read(&mut self.input)? {
            Ok(header) => header,
            Err(Damage {
                flaw: Flaw::NotGzip,
                offset,
            }) if offset > 0 => {
                return Err(self.damage(offset, Flaw::TrailingGarbage));
            }
            Err(damage) => return Err(damage.into()),
        };
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

    /// Hands on a marked block unread.
    fn whole(&mut self, len: usize, plain: usize) -> Result<(), Stop> {
        let offset = self.input.offset();
        let mut body = self.emit.buffer();
        if self.input.append(&mut body, len)? < len {
            let offset = self.input.offset();
            return Err(self.damage(offset, Flaw::Truncated));
        }
        // Deflate gains at most 1032 to 1; a record that promises more would only make
        // the inflater reserve memory for nothing.
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

    /// Inflates a member whose end only its data tells; returns how long the data is.
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
                    return Err(self.damage(offset, flaw));
                }
                Err((flaw, n)) => {
                    let offset = self.input.offset() + n as u64;
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

/// The longest marked block that is inflated in one piece; the same as the largest
/// block size with room for data that does not shrink. Longer ones are read as a stream.
const WHOLE: u64 = (64 << 20) + (1 << 20);
