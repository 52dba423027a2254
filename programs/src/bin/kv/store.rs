//! Keys and their values, and how long they live.
//!
//! A key belongs to one of [`SHARDS`] tables by its hash, each behind a lock that no fiber holds
//! while it waits for anything. A value that is overwritten keeps its memory.
//!
//! A key whose time is up is gone for whoever asks for it, from that moment on; and what nobody asks
//! for is removed in rounds, so it does not stay for long. For that each shard keeps its limited keys
//! in the order in which they end: S1: a key has a limit in the table if and only if the pair of both
//! is in `ends`.

use std::collections::BTreeSet;
use std::hash::BuildHasher as _;
use std::mem;
use std::time::{Duration, Instant};

use hashbrown::DefaultHashBuilder;
use hashbrown::hash_table::{HashTable, OccupiedEntry};
use pirn::sync::{Mutex, MutexGuard};
use pirn::{Interrupt, time};
use pirn_programs::Stop;

use crate::integer;

/// All keys.
#[derive(Debug)]
pub(crate) struct Store {
    shards: Vec<Mutex<Shard>>,
    hasher: DefaultHashBuilder,
}

/// How long a value that is written is to live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    Always,
    AsBefore,
    At(Instant),
}

/// When a value is to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Condition {
    Always,
    Missing,
    There,
}

/// Why a number cannot be added to a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoSum {
    NoInteger,
    Overflow,
}

/// Some of the keys.
#[derive(Debug, Default)]
struct Shard {
    items: HashTable<Item>,
    ends: BTreeSet<(Instant, Box<[u8]>)>,
}

#[derive(Debug)]
struct Item {
    key: Box<[u8]>,
    value: Vec<u8>,
    end: Option<Instant>,
}

impl Store {
    pub(crate) fn new() -> Store {
        Store {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            hasher: DefaultHashBuilder::default(),
        }
    }

    /// Gives `look` the value, or `None` if there is none.
    pub(crate) fn read<T>(&self, key: &[u8], look: impl FnOnce(Option<&[u8]>) -> T) -> T {
        let (mut shard, hash) = self.shard(key);
        let found = shard.find(hash, key);
        look(found.as_ref().map(|found| found.get().value.as_slice()))
    }

    /// Writes a value under a condition; false if that does not hold.
    pub(crate) fn write(
        &self,
        key: &[u8],
        value: &[u8],
        until: Until,
        condition: Condition,
    ) -> bool {
        let (mut shard, hash) = self.shard(key);
        let end = match until {
            Until::Always | Until::AsBefore => None,
            Until::At(end) => Some(end),
        };
        if let Some(found) = shard.find(hash, key) {
            if condition == Condition::Missing {
                return false;
            }
            let item = found.into_mut();
            item.value.clear();
            item.value.extend_from_slice(value);
            if item.value.len() < item.value.capacity() / 4 {
                item.value.shrink_to_fit();
            }
            if until != Until::AsBefore {
                let before = mem::replace(&mut item.end, end);
                shard.moved(key, before, end);
            }
        } else {
            if condition == Condition::There {
                return false;
            }
            self.insert(&mut shard, hash, key, value.to_vec());
            if end.is_some() {
                shard.limit(hash, key, end);
            }
        }
        true
    }

    /// Adds to the number that is the value, or to 0; returns the sum.
    ///
    /// # Errors
    /// Nothing has changed then.
    pub(crate) fn add(&self, key: &[u8], number: i64) -> Result<i64, NoSum> {
        let (mut shard, hash) = self.shard(key);
        let Some(mut found) = shard.find(hash, key) else {
            self.insert(&mut shard, hash, key, number.to_string().into_bytes());
            return Ok(number);
        };
        let value = &mut found.get_mut().value;
        let before = integer::parse(value).ok_or(NoSum::NoInteger)?;
        let sum = before.checked_add(number).ok_or(NoSum::Overflow)?;
        value.clear();
        integer::write(value, sum);
        Ok(sum)
    }

    /// Removes a key; true if it was there.
    pub(crate) fn remove(&self, key: &[u8]) -> bool {
        let (mut shard, hash) = self.shard(key);
        shard.remove(hash, key)
    }

    /// Has a key live until then, or for ever; returns whether it was limited before, `None` if it
    /// is not there.
    pub(crate) fn limit(&self, key: &[u8], end: Option<Instant>) -> Option<bool> {
        let (mut shard, hash) = self.shard(key);
        shard.limit(hash, key, end)
    }

    /// How long a key has to live; the inner `None` if that is not limited, the outer if it is
    /// not there.
    #[expect(clippy::option_option, reason = "there, and limited")]
    pub(crate) fn time_to_live(&self, key: &[u8]) -> Option<Option<Duration>> {
        let (mut shard, hash) = self.shard(key);
        let found = shard.find(hash, key)?;
        let left = |end: Instant| end.saturating_duration_since(time::now());
        Some(found.get().end.map(left))
    }

    /// How many keys there are, those included whose time is up and who are still to be removed.
    pub(crate) fn len(&self) -> usize {
        let len = |shard: &Mutex<Shard>| shard.lock().items.len();
        self.shards.iter().map(len).sum()
    }

    /// Removes all keys.
    pub(crate) fn clear(&self) {
        for shard in &self.shards {
            // Two statements, so that what is in it is dropped without the lock.
            let removed = mem::take(&mut *shard.lock());
            drop(removed);
        }
    }

    /// Removes keys whose time is up, until the server is told to end.
    ///
    /// # Errors
    /// If the fiber is interrupted otherwise.
    pub(crate) fn sweep(&self, stop: &Stop) -> Result<(), Interrupt> {
        while stop.unless(|| pirn::sleep(ROUND))?.is_some() {
            let now = time::now();
            for shard in &self.shards {
                while shard.lock().sweep(now, |key| self.hasher.hash_one(key)) {}
            }
        }
        Ok(())
    }

    /// The shard of a key, locked, and the key's hash.
    fn shard(&self, key: &[u8]) -> (MutexGuard<'_, Shard>, u64) {
        let hash = self.hasher.hash_one(key);
        // The tables use the bits at both ends.
        let at = usize::try_from(hash >> 32).unwrap_or_default() % SHARDS;
        (self.shards[at].lock(), hash)
    }

    fn insert(&self, shard: &mut Shard, hash: u64, key: &[u8], value: Vec<u8>) {
        let item = Item {
            key: key.into(),
            value,
            end: None,
        };
        let hash_of = |item: &Item| self.hasher.hash_one(&*item.key);
        shard.items.insert_unique(hash, item, hash_of);
    }
}

impl Shard {
    /// The item with this key, unless its time is up: it is removed then.
    fn find(&mut self, hash: u64, key: &[u8]) -> Option<OccupiedEntry<'_, Item>> {
        let found = self.items.find_entry(hash, |item| *item.key == *key).ok()?;
        match found.get().end {
            Some(end) if end <= time::now() => {
                let (item, _) = found.remove();
                self.ends.remove(&(end, item.key));
                None
            }
            _ => Some(found),
        }
    }

    fn remove(&mut self, hash: u64, key: &[u8]) -> bool {
        let Some(found) = self.find(hash, key) else {
            return false;
        };
        let (item, _) = found.remove();
        self.moved(key, item.end, None);
        true
    }

    /// As [`Store::limit`].
    fn limit(&mut self, hash: u64, key: &[u8], end: Option<Instant>) -> Option<bool> {
        let mut found = self.find(hash, key)?;
        let before = mem::replace(&mut found.get_mut().end, end);
        self.moved(key, before, end);
        Some(before.is_some())
    }

    /// Keeps S1 when the end of a key has changed.
    fn moved(&mut self, key: &[u8], before: Option<Instant>, after: Option<Instant>) {
        if before == after {
            return;
        }
        if let Some(before) = before {
            self.ends.remove(&(before, key.into()));
        }
        if let Some(after) = after {
            self.ends.insert((after, key.into()));
        }
    }

    /// Removes some of the keys whose time is up at `now`; true if there may be more.
    fn sweep(&mut self, now: Instant, hash_of: impl Fn(&[u8]) -> u64) -> bool {
        for _ in 0..AT_ONCE {
            match self.ends.first() {
                Some((end, _)) if *end <= now => {}
                _ => return false,
            }
            let Some((_, key)) = self.ends.pop_first() else {
                return false;
            };
            let found = self.items.find_entry(hash_of(&key), |item| item.key == key);
            if let Ok(found) = found {
                found.remove();
            }
        }
        true
    }
}

/// Enough that two workers hardly ever want the same one. Arbitrary.
const SHARDS: usize = 64;

/// How often keys are removed that nobody asks for, and how many before others may have the lock.
/// Redis does so ten times a second; the other is arbitrary.
const ROUND: Duration = Duration::from_millis(100);
const AT_ONCE: usize = 256;
