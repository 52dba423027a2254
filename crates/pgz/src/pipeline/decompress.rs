//! The decompressing pipeline.
//!
//! The caller's thread reads chunks. The decode stage turns them into pieces and starts a job for
//! every few marked members. The sink receives the pieces in order, checks their checksums and
//! writes them. So reading, inflating and writing overlap even for an ordinary file, with deflate
//! data that can only be inflated from front to back.
//!
//! The order of the pieces is the order of the file, failures included: the sink reports the first
//! flaw.

use std::io::{Read, Write};
use std::sync::Arc;

use super::decode::{Foreign, Outcome, Stop, decode};
use super::emit::{Emit, Gone, Member};
use super::engine::{Engine, Pools};
use super::executor::{Drain, Executor, Feed};
use super::failure::{Failure, Tally};
use super::stream::{Chunks, pump};
use crate::deflate::Inflater;
use crate::gzip::{Damage, Flaw, Trailer};

impl<E: Executor> Engine<E> {
    /// Decompresses all of `input` into `output`.
    ///
    /// # Errors
    ///
    /// The first failure; `output` then holds a part of the data.
    pub fn decompress(
        &self,
        input: &mut dyn Read,
        foreign: Foreign,
        output: &mut (dyn Write + Send),
    ) -> Result<Tally, Failure> {
        let (chunk_feed, chunk_drain) = self.executor.channel(CHUNKS);
        let (piece_feed, piece_drain) = self.executor.channel(self.window());
        let mut pieces = Pieces {
            executor: self.executor.clone(),
            pools: Arc::clone(&self.pools),
            feed: piece_feed,
            batch: Batch::default(),
        };
        let chunks = Chunks::new(chunk_drain, Arc::clone(&self.pools));
        let stage = self.executor.stage(move || {
            let decoded = decode(chunks, foreign, &mut pieces);
            // The data before a flaw is written; `decoded` records whether the receiver has closed.
            let _ = pieces.start_batch();
            decoded
        });
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
            method,
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
            method,
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
            let mut damage = None;
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
                Piece::End => {
                    sums.end();
                    continue;
                }
                Piece::Members(pending) => {
                    let inflated = self
                        .executor
                        .collect(pending)
                        .map_err(|_lost| Failure::Panicked)?;
                    sums.all.combine(&inflated.crc);
                    sums.plain += inflated.bytes.len() as u64;
                    damage = inflated.damage;
                    inflated.bytes
                }
            };
            output.write_all(&bytes).map_err(Failure::Write)?;
            self.pools.buffers.give(bytes);
            if let Some(damage) = damage {
                return Err(Failure::Damage(damage));
            }
        }
        output.flush().map_err(Failure::Write)?;
        Ok(sums)
    }
}

/// A message from the stage to the sink.
enum Piece<E: Executor> {
    Bytes(Vec<u8>),
    Close(Trailer, u64),
    End,
    Members(E::Pending<Inflated>),
}

/// Marked members that one job inflates.
#[derive(Default)]
struct Batch {
    members: Vec<Member>,
    /// Length of their data, in all.
    plain: usize,
    /// Their weight, at least [`LEAST`] each: lengths in files cannot be trusted.
    weight: usize,
}

/// The data of a batch, up to and in the first damaged member.
struct Inflated {
    bytes: Vec<u8>,
    crc: crc32fast::Hasher,
    damage: Option<Damage>,
}

impl Batch {
    fn inflate(self, pools: &Pools) -> Inflated {
        let mut bytes = pools.buffers.take();
        bytes.clear();
        bytes.reserve(self.plain + Inflater::SLACK);
        let mut crc = crc32fast::Hasher::new();
        let mut inflater = pools.inflaters.take();
        let damage = self.members.into_iter().find_map(|member| {
            let Member {
                body,
                offset,
                plain,
                ..
            } = &member;
            let done = inflater.member(body, *offset, *plain, &mut bytes);
            pools.buffers.give(member.body);
            match done {
                Ok(sum) => {
                    crc.combine(&sum);
                    None
                }
                Err(damage) => Some(damage),
            }
        });
        pools.inflaters.give(inflater);
        Inflated { bytes, crc, damage }
    }
}

/// The stage's end of the channel.
struct Pieces<E: Executor> {
    executor: E,
    pools: Arc<Pools>,
    feed: E::Feed<Piece<E>>,
    batch: Batch,
}

impl<E: Executor> Pieces<E> {
    /// Starts the job for the pending members.
    fn start_batch(&mut self) -> Result<(), Gone> {
        if self.batch.members.is_empty() {
            return Ok(());
        }
        let batch = std::mem::take(&mut self.batch);
        let pools = Arc::clone(&self.pools);
        let pending = self.executor.job(move || batch.inflate(&pools));
        self.send(Piece::Members(pending))
    }

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
        self.start_batch()?;
        self.send(Piece::Bytes(piece))
    }

    fn close(&mut self, trailer: Trailer, offset: u64) -> Result<(), Gone> {
        self.start_batch()?;
        self.send(Piece::Close(trailer, offset))
    }

    fn end(&mut self) -> Result<(), Gone> {
        self.start_batch()?;
        self.send(Piece::End)
    }

    fn member(&mut self, member: Member) -> Result<(), Gone> {
        let batch = &mut self.batch;
        batch.plain += member.plain;
        batch.weight += member.plain.max(member.body.len()).max(LEAST);
        batch.members.push(member);
        if batch.weight < BATCH {
            return Ok(());
        }
        self.start_batch()
    }
}

/// Checksums and lengths of the data.
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
        if self.member.clone().finalize() != trailer.crc {
            return Err(Damage {
                offset,
                flaw: Flaw::Checksum,
            });
        }
        if self.len as u32 != trailer.len {
            return Err(Damage {
                offset: offset + 4,
                flaw: Flaw::Length,
            });
        }
        self.end();
        Ok(())
    }

    fn end(&mut self) {
        self.all.combine(&std::mem::take(&mut self.member));
        self.plain += std::mem::take(&mut self.len);
    }
}

/// Chunks read ahead.
const CHUNKS: usize = 4;
/// Capacity for a piece of inflated data. The decoder copies the last 32 KiB of every piece, so
/// small pieces are expensive.
const PIECE: usize = 256 << 10;
/// The amount of data in a full batch. A block of 128 KiB inflates in 0.15 ms, and waking a waiting
/// thread costs a fifth of that; four of them are worth a wake.
const BATCH: usize = 512 << 10;
/// The minimum weight of a member of a batch: the smallest block size of `-b`.
const LEAST: usize = 32 << 10;
