//! The store: its shards and the rounds of its sweeper.

use std::hash::BuildHasher as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hashbrown::DefaultHashBuilder;
use pirn::sync::Mutex;
use pirn::{Interrupt, time};
use pirn_programs::Stop;

use super::garbage::Garbage;
use super::shard::{Key, Shard};

/// All keys.
#[derive(Debug)]
pub(crate) struct Store {
    pub(super) shards: Vec<Mutex<Shard>>,
    hasher: DefaultHashBuilder,
    /// The memory of all keys and values, as the shards estimate it.
    used: Arc<AtomicUsize>,
}

/// The expiry of a written value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    Always,
    AsBefore,
    At(Instant),
}

/// The condition of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Condition {
    Always,
    Missing,
    There,
}

/// The reason why a number cannot be added to a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoSum {
    NoInteger,
    Overflow,
}

impl Store {
    pub(crate) fn new() -> Store {
        let hasher = DefaultHashBuilder::default();
        let used = Arc::new(AtomicUsize::new(0));
        let shard = |_| Mutex::new(Shard::new(hasher.clone(), Arc::clone(&used)));
        Store {
            shards: (0..SHARDS).map(shard).collect(),
            hasher,
            used,
        }
    }

    /// The memory of all keys and values.
    pub(crate) fn used(&self) -> usize {
        // ORDERING: see `Shard::charge`.
        self.used.load(Ordering::Relaxed)
    }

    /// Removes expired keys, until the server shuts down.
    ///
    /// # Errors
    /// If the fiber is interrupted otherwise.
    pub(crate) fn sweep(&self, stop: &Stop) -> Result<(), Interrupt> {
        let mut garbage = Vec::new();
        while stop.unless(|| pirn::sleep(ROUND))?.is_some() {
            let now = time::now();
            for shard in &self.shards {
                loop {
                    let mut shard = shard.lock();
                    let more = shard.sweep(now);
                    garbage.append(&mut shard.garbage);
                    drop(shard);
                    garbage.drain(..).for_each(Garbage::free);
                    if !more {
                        break;
                    }
                    pirn::yield_now();
                }
            }
        }
        Ok(())
    }

    pub(super) fn key<'k>(&self, bytes: &'k [u8]) -> Key<'k> {
        let hash = self.hasher.hash_one(bytes);
        Key { hash, bytes }
    }
}

impl Key<'_> {
    /// The shard of the key. Tables use the bits at both ends of the hash.
    pub(super) fn shard(self) -> usize {
        usize::try_from(self.hash >> SHARD_BITS_FROM).unwrap_or_default() % SHARDS
    }
}

/// Enough that two workers rarely want the same one; a set of shards is a `u64`.
pub(super) const SHARDS: usize = 64;
pub(super) const SHARD_BITS_FROM: u32 = 32;

/// Interval of removing expired keys that no command accesses. As in Redis.
const ROUND: Duration = Duration::from_millis(100);
