//! An executor with its settings and pools, which are kept from file to file.

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::Executor;
use crate::deflate::{Block, Inflater, Level, Packer, Pool};

/// The block sizes that `-b` accepts, in bytes.
pub const BLOCK_SIZES: RangeInclusive<usize> = (32 << 10)..=(64 << 20);

/// Settings of the compression.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Compression level.
    pub level: Level,
    /// Bytes of input in one block.
    pub block_size: usize,
    /// Independent blocks, each a member with its own mark (`-i`).
    pub independent: bool,
    /// The data decides where blocks end; they are at most `block_size` long.
    pub rsyncable: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            level: Level::default(),
            block_size: 128 << 10,
            independent: false,
            rsyncable: false,
        }
    }
}

/// Runs pipelines, one after another.
#[derive(Debug)]
pub struct Engine<E> {
    pub(super) executor: E,
    pub(super) settings: Settings,
    pub(super) pools: Arc<Pools>,
}

/// Reusable states and buffers.
#[derive(Debug)]
pub(super) struct Pools {
    pub(super) packers: Pool<Packer>,
    pub(super) inflaters: Pool<Inflater>,
    pub(super) blocks: Pool<Block>,
    pub(super) buffers: Pool<Vec<u8>>,
}

impl<E: Executor> Engine<E> {
    /// Returns an engine that compresses with `settings`, and decompresses.
    ///
    /// # Panics
    ///
    /// If the block size is not one of [`BLOCK_SIZES`].
    pub fn new(executor: E, settings: Settings) -> Engine<E> {
        let Settings {
            level, block_size, ..
        } = settings;
        assert!(
            BLOCK_SIZES.contains(&block_size),
            "a block of {block_size} bytes: {} to {} are possible",
            BLOCK_SIZES.start(),
            BLOCK_SIZES.end()
        );
        let workers = executor.workers();
        let idle = window(workers) + 2;
        let pools = Arc::new(Pools {
            packers: Pool::new(workers, move || Packer::new(level)),
            inflaters: Pool::new(workers + 1, Inflater::default),
            blocks: Pool::new(idle, move || Block::with_room(block_size)),
            buffers: Pool::new(BUFFERS * idle, Vec::new),
        });
        Engine {
            executor,
            settings,
            pools,
        }
    }

    /// Returns the maximum number of blocks in progress.
    pub(super) fn window(&self) -> usize {
        window(self.executor.workers())
    }
}

/// Idle buffers for each job in progress: the packed members of a batch of usual size, and their
/// data.
const BUFFERS: usize = 5;

/// Two blocks for each worker, so that none idles while the oldest is written, and six more. With
/// two more, `-1` of 256 MB on two workers leaves the processors idle for 6 % of the time; with six,
/// for 1 to 2 %. At 128 KiB a block in progress takes 0.3 MiB, a batch of four that are inflated
/// together up to 1.5 MiB.
fn window(workers: usize) -> usize {
    2 * workers + 6
}
