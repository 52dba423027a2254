//! The decompressing pipeline.
//!
//! The caller's thread reads chunks; the decode stage turns them into pieces and starts
//! a job for each marked member; the sink takes the pieces in order, sums them, checks
//! the sums and writes. Reading, inflating and writing so overlap even for an ordinary
//! file, whose deflate data can only be inflated from front to back.
//!
//! The order of the pieces is the order of the file, failures included: what the sink
//! reports is the first thing that is wrong.

use std::io::{Read, Write};
use std::sync::Arc;

use super::decode::{Emit, Gone, Member, Outcome, Stop, decode};
use super::engine::{Engine, Pools};
use super::executor::{Drain, Executor, Feed};
use super::failure::{Failure, Tally};
use super::stream::{Chunks, pump};
use crate::deflate::Inflated;
use crate::gzip::{Damage, Flaw, Trailer};

impl<E: Executor> Engine<E> {
    /// Decompresses all of `input` into `output`.
    ///
    /// # Errors
    ///
    /// What stopped it first; `output` then holds a part of the data.
    pub fn decompress(
        &self,
        input: &mut dyn Read,
        output: &mut (dyn Write + Send),
    ) -> Result<Tally, Failure> {
        let (chunk_feed, chunk_drain) = self.executor.channel(CHUNKS);
        let (piece_feed, piece_drain) = self.executor.channel(self.window());
        let mut pieces = Pieces {
            executor: self.executor.clone(),
            pools: Arc::clone(&self.pools),
            feed: piece_feed,
        };
        let chunks = Chunks::new(chunk_drain, Arc::clone(&self.pools));
        let stage = self.executor.stage(move || decode(chunks, &mut pieces));
        let (written, ()) = self.executor.beside(
            || self.write(output, piece_drain),
            move || pump(input, &self.pools, &chunk_feed),
        );
        let decoded = self
            .executor
            .collect(stage)
            .map_err(|_lost| Failure::Panicked)?;
        let sums = written?;
        let Outcome {
            header,
            packed,
            framing,
            padded,
        } = match decoded {
            Ok(outcome) => outcome,
            Err(Stop::Failure(failure)) => return Err(failure),
            Err(Stop::Gone) => return Err(Failure::Panicked),
        };
        Ok(Tally {
            plain: sums.plain,
            crc: sums.all.finalize(),
            packed,
            framing,
            header,
            padded,
        })
    }

    fn write(
        &self,
        output: &mut (dyn Write + Send),
        pieces: E::Drain<Piece<E>>,
    ) -> Result<Sums, Failure> {
        let mut sums = Sums::default();
        while let Some(piece) = pieces.recv() {
            let bytes = match piece {
                Piece::Bytes(bytes) => {
                    sums.member.update(&bytes);
                    sums.len += bytes.len() as u64;
                    bytes
                }
                Piece::Close(trailer, offset) => {
                    sums.close(trailer, offset).map_err(Failure::Damage)?;
                    continue;
                }
                Piece::Member(pending) => {
                    let inflated = self
                        .executor
                        .collect(pending)
                        .map_err(|_lost| Failure::Panicked)?
                        .map_err(Failure::Damage)?;
                    sums.all.combine(&inflated.crc);
                    sums.plain += inflated.bytes.len() as u64;
                    inflated.bytes
                }
            };
            output.write_all(&bytes).map_err(Failure::Write)?;
            self.pools.buffers.give(bytes);
        }
        output.flush().map_err(Failure::Write)?;
        Ok(sums)
    }
}

/// What the stage sends to the sink.
enum Piece<E: Executor> {
    Bytes(Vec<u8>),
    Close(Trailer, u64),
    Member(E::Pending<Result<Inflated, Damage>>),
}

/// The stage's end of the channel.
struct Pieces<E: Executor> {
    executor: E,
    pools: Arc<Pools>,
    feed: E::Feed<Piece<E>>,
}

impl<E: Executor> Pieces<E> {
    fn send(&self, piece: Piece<E>) -> Result<(), Gone> {
        if self.feed.send(piece) {
            Ok(())
        } else {
            Err(Gone)
        }
    }
}

impl<E: Executor> Emit for Pieces<E> {
    fn buffer(&mut self) -> Vec<u8> {
        let mut buffer = self.pools.buffers.take();
        buffer.clear();
        buffer.reserve(PIECE);
        buffer
    }

    fn bytes(&mut self, piece: Vec<u8>) -> Result<(), Gone> {
        self.send(Piece::Bytes(piece))
    }

    fn close(&mut self, trailer: Trailer, offset: u64) -> Result<(), Gone> {
        self.send(Piece::Close(trailer, offset))
    }

    fn member(&mut self, member: Member) -> Result<(), Gone> {
        let pools = Arc::clone(&self.pools);
        let pending = self.executor.job(move || {
            let Member {
                body,
                offset,
                plain,
            } = member;
            let out = pools.buffers.take();
            let mut inflater = pools.inflaters.take();
            let inflated = inflater.member(&body, offset, plain, out);
            pools.inflaters.give(inflater);
            pools.buffers.give(body);
            inflated
        });
        self.send(Piece::Member(pending))
    }
}

/// Sums over the data.
#[derive(Default)]
struct Sums {
    /// The current member's.
    member: crc32fast::Hasher,
    /// Length of the current member's data so far.
    len: u64,
    /// The whole file's, up to the last finished member.
    all: crc32fast::Hasher,
    /// Length of the whole file's data, likewise.
    plain: u64,
}

impl Sums {
    fn close(&mut self, trailer: Trailer, offset: u64) -> Result<(), Damage> {
        let member = std::mem::take(&mut self.member);
        let len = std::mem::take(&mut self.len);
        if member.clone().finalize() != trailer.crc {
            return Err(Damage {
                offset,
                flaw: Flaw::Checksum,
            });
        }
        if len as u32 != trailer.len {
            return Err(Damage {
                offset: offset + 4,
                flaw: Flaw::Length,
            });
        }
        self.all.combine(&member);
        self.plain += len;
        Ok(())
    }
}

/// Chunks read ahead.
const CHUNKS: usize = 4;
/// Room for a piece of inflated data. The decoder copies the last 32 KiB of every piece,
/// so small pieces cost.
const PIECE: usize = 256 << 10;
