//! Chunks of input, from the thread that reads to the stage that decodes.
//!
//! The reading side sends `Ok(chunk)` … and, if reading fails, one `Err`. The decoding
//! side sees an ordinary [`BufRead`].

use std::io::{self, BufRead, Read};
use std::sync::Arc;

use super::engine::Pools;
use super::executor::{Drain, Feed};

/// Bytes in one chunk. Large enough that inflating a chunk costs far more than sending it.
pub(super) const CHUNK: usize = 128 << 10;

/// Reads `input` to its end, chunk by chunk, or until the receiver has closed.
pub(super) fn pump<F: Feed<io::Result<Vec<u8>>>>(
    input: &mut dyn Read,
    pools: &Pools,
    feed: &F,
) {
    loop {
        let mut chunk = pools.buffers.take();
        chunk.resize(CHUNK, 0);
        let item = match input.read(&mut chunk) {
            Ok(0) => return,
            Ok(n) => {
                chunk.truncate(n);
                Ok(chunk)
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => Err(e),
        };
        let failed = item.is_err();
        if !feed.send(item) || failed {
            return;
        }
    }
}

/// The chunks as one stream of bytes.
pub(super) struct Chunks<D> {
    drain: D,
    pools: Arc<Pools>,
    chunk: Vec<u8>,
    used: usize,
}

impl<D: Drain<io::Result<Vec<u8>>>> Chunks<D> {
    pub(super) fn new(drain: D, pools: Arc<Pools>) -> Self {
        Chunks {
            drain,
            pools,
            chunk: Vec::new(),
            used: 0,
        }
    }
}

impl<D: Drain<io::Result<Vec<u8>>>> Read for Chunks<D> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let ready = self.fill_buf()?;
        let n = ready.len().min(buf.len());
        buf[..n].copy_from_slice(&ready[..n]);
        self.consume(n);
        Ok(n)
    }
}

impl<D: Drain<io::Result<Vec<u8>>>> BufRead for Chunks<D> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.used == self.chunk.len() {
            self.used = 0;
            let next = self.drain.recv().transpose()?.unwrap_or_default();
            let empty = std::mem::replace(&mut self.chunk, next);
            if empty.capacity() > 0 {
                self.pools.buffers.give(empty);
            }
        }
        Ok(&self.chunk[self.used..])
    }

    fn consume(&mut self, n: usize) {
        self.used += n;
    }
}
