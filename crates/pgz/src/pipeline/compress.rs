//! The compressing pipeline.
//!
//! The caller's thread reads blocks and submits a job for each to an ordered channel. The sink
//! receives the results in the order of the input, writes them and combines the checksums. The
//! channel's capacity bounds the blocks in progress, whichever side is slow.
//!
//! An input shorter than a block is packed and written directly.

use std::io::{self, Read, Write};
use std::sync::Arc;

use super::blocks::Blocks;
use super::engine::{Engine, Pools, Settings};
use super::executor::{Drain, Executor, Line};
use super::failure::{Failure, Tally};
use crate::deflate::{Block, Closing, DICTIONARY, Packed, Packer};
use crate::gzip::{Header, Trailer};

impl<E: Executor> Engine<E> {
    /// Compresses all of `input` into `output`. `header` gives name and time.
    ///
    /// # Errors
    ///
    /// The first failure; `output` then holds an unfinished file.
    pub fn compress(
        &self,
        header: &Header,
        input: &mut dyn Read,
        output: &mut (dyn Write + Send),
    ) -> Result<Tally, Failure> {
        let shape = Arc::new(Shape {
            header: Header {
                xfl: self.settings.level.xfl(),
                ..header.clone()
            },
            independent: self.settings.independent,
        });
        let Settings {
            block_size,
            rsyncable,
            ..
        } = self.settings;
        let mut blocks = Blocks::new(input, block_size, rsyncable);
        let mut first = self.pools.blocks.take();
        let closing = blocks.fill(&mut first, &[]).map_err(Failure::Read)?;
        let mut sink = Sink::new(output, &shape, &self.pools);
        if closing == Closing::Last {
            sink.begin().map_err(Failure::Write)?;
            let packed = shape.pack(&self.pools, first, 0, Closing::Last);
            sink.take(packed).map_err(Failure::Write)?;
            return sink.finish().map_err(Failure::Write);
        }
        let (line, results) = self.executor.line(self.window());
        let (tally, source) = self.executor.beside(
            move || self.drain(sink, results),
            || self.feed(&shape, first, blocks, line),
        );
        // A failed write ends the source early, a failed read the sink. If both failed, the write
        // failed first.
        let tally = tally?;
        source.map_err(Failure::Read)?;
        tally.ok_or(Failure::Panicked)
    }

    /// Reads blocks and starts their jobs, until the end or until the sink has closed.
    fn feed(
        &self,
        shape: &Arc<Shape>,
        first: Block,
        mut blocks: Blocks<'_>,
        line: E::Line<Packed>,
    ) -> io::Result<()> {
        let mut tail = Vec::with_capacity(DICTIONARY);
        let (mut block, mut closing) = (first, Closing::Open);
        for index in 0.. {
            tail.clear();
            if !shape.independent {
                tail.extend_from_slice(block.tail());
            }
            let (shape, pools) = (Arc::clone(shape), Arc::clone(&self.pools));
            let open = line.submit(move || shape.pack(&pools, block, index, closing));
            if closing == Closing::Last || !open {
                break;
            }
            block = self.pools.blocks.take();
            closing = blocks.fill(&mut block, &tail)?;
        }
        Ok(())
    }

    /// Writes the blocks in order. `None`: the source ended before the last block.
    fn drain(
        &self,
        mut sink: Sink<'_>,
        results: E::Results<Packed>,
    ) -> Result<Option<Tally>, Failure> {
        sink.begin().map_err(Failure::Write)?;
        while let Some(packed) = results.recv() {
            let packed = packed.map_err(|_lost| Failure::Panicked)?;
            let last = packed.closing == Closing::Last;
            sink.take(packed).map_err(Failure::Write)?;
            if last {
                return sink.finish().map(Some).map_err(Failure::Write);
            }
        }
        Ok(None)
    }
}

/// Properties of the output besides the data.
#[derive(Debug)]
struct Shape {
    header: Header,
    independent: bool,
}

impl Shape {
    /// The job: compresses one block and returns its buffer.
    fn pack(&self, pools: &Pools, block: Block, index: u64, closing: Closing) -> Packed {
        let out = pools.buffers.take();
        let mut packer = pools.packers.take();
        let packed = if self.independent {
            let plain = Header {
                xfl: self.header.xfl,
                ..Header::default()
            };
            let header = if index == 0 { &self.header } else { &plain };
            packer.member(&block, header, closing, out)
        } else {
            packer.stretch(&block, closing, out)
        };
        pools.packers.give(packer);
        pools.blocks.give(block);
        packed
    }
}

/// The receiver of the blocks, in order.
struct Sink<'a> {
    output: &'a mut (dyn Write + Send),
    shape: &'a Shape,
    pools: &'a Pools,
    crc: crc32fast::Hasher,
    blocks: u64,
    tally: Tally,
}

impl<'a> Sink<'a> {
    fn new(
        output: &'a mut (dyn Write + Send),
        shape: &'a Shape,
        pools: &'a Pools,
    ) -> Sink<'a> {
        Sink {
            output,
            shape,
            pools,
            crc: crc32fast::Hasher::new(),
            blocks: 0,
            tally: Tally::default(),
        }
    }

    fn begin(&mut self) -> io::Result<()> {
        if self.shape.independent {
            return Ok(());
        }
        let mut header = Vec::new();
        self.shape.header.encode(&mut header);
        self.framing(&header)
    }

    fn take(&mut self, packed: Packed) -> io::Result<()> {
        // An empty independent block after a whole number of full ones would be a useless member.
        let idle = self.shape.independent && packed.plain == 0 && self.blocks > 0;
        if !idle {
            self.output.write_all(&packed.bytes)?;
            self.crc.combine(&packed.crc);
            self.blocks += 1;
            self.tally.plain += packed.plain;
            self.tally.packed += packed.bytes.len() as u64;
            self.tally.framing += packed.framing;
        }
        self.pools.buffers.give(packed.bytes);
        Ok(())
    }

    fn finish(mut self) -> io::Result<Tally> {
        self.tally.crc = self.crc.clone().finalize();
        if self.shape.independent {
            let end = Packer::end_member(self.blocks, self.tally.plain);
            self.framing(&end)?;
        } else {
            let mut trailer = Vec::new();
            Trailer {
                crc: self.tally.crc,
                len: self.tally.plain as u32,
            }
            .encode(&mut trailer);
            self.framing(&trailer)?;
        }
        self.output.flush()?;
        Ok(self.tally)
    }

    fn framing(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.output.write_all(bytes)?;
        self.tally.packed += bytes.len() as u64;
        self.tally.framing += bytes.len() as u64;
        Ok(())
    }
}
