//! One shard: a table of items, the order of their expiry, and the clients that watch keys.
//!
//! S1: an item has an expiry if and only if the pair of its expiry and its key is in `ends`. S2:
//! `used` is the sum of the charges of all shards of the store for their items. S3: when an item is
//! added, changed or removed, the clients that watch its key are notified.

use std::collections::BTreeSet;
use std::hash::BuildHasher as _;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use hashbrown::DefaultHashBuilder;
use hashbrown::HashTable;
use pirn::time;

use super::garbage::Garbage;
use super::shards::{Condition, NoSum, Until};
use super::value::Value;
use super::watch::Watched;
use crate::integer;
use crate::request::Given;

/// Some of the keys.
#[derive(Debug)]
pub(super) struct Shard {
    items: HashTable<Item>,
    ends: Ends,
    pub(super) watched: Watched,
    /// Replaced or removed values that take long to free: taken by the holder of the lock.
    pub(super) garbage: Vec<Garbage>,
    /// The time for the present access to a key, once it is read: the key expires before the access
    /// or behind it, not amid it.
    pub(super) now: Option<Instant>,
    used: Arc<AtomicUsize>,
    hasher: DefaultHashBuilder,
}

#[derive(Debug)]
pub(super) struct Item {
    pub(super) key: Box<[u8]>,
    pub(super) value: Value,
    pub(super) end: Option<Instant>,
}

/// Keys that expire, in the order of their expiry.
pub(super) type Ends = BTreeSet<(Instant, Box<[u8]>)>;

/// A key with its hash.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key<'k> {
    pub(super) hash: u64,
    pub(super) bytes: &'k [u8],
}

impl Shard {
    pub(super) fn new(hasher: DefaultHashBuilder, used: Arc<AtomicUsize>) -> Shard {
        Shard {
            items: HashTable::new(),
            ends: BTreeSet::new(),
            watched: Watched::default(),
            garbage: Vec::new(),
            now: None,
            used,
            hasher,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    pub(super) fn limited(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn items(&self) -> impl Iterator<Item = &Item> {
        self.items.iter()
    }

    /// Returns the item with this key. An expired one is removed, and not returned.
    pub(super) fn get(&mut self, key: Key<'_>) -> Option<&mut Item> {
        let at = self.find(key)?;
        self.items.get_bucket_mut(at)
    }

    /// Writes a value under a condition; false if that is not met.
    pub(super) fn write(
        &mut self,
        key: Key<'_>,
        given: Given<'_>,
        until: Until,
        condition: Condition,
    ) -> bool {
        let end = match until {
            Until::Always | Until::AsBefore => None,
            Until::At(end) => Some(end),
        };
        if let Some(item) = self.get(key) {
            if condition == Condition::Missing {
                return false;
            }
            let before = item.value.memory();
            let replaced = item.value.set(given);
            let after = item.value.memory();
            if until != Until::AsBefore {
                let old = mem::replace(&mut item.end, end);
                self.moved(key, old, end);
            }
            if let Some(replaced) = replaced {
                self.garbage.push(replaced);
            }
            self.charge(before, after);
            self.watched.touch(key);
        } else {
            if condition == Condition::There {
                return false;
            }
            self.insert(key, Value::new(given), end);
        }
        true
    }

    /// Adds to a numeric value, or to 0; returns the sum.
    pub(super) fn add(&mut self, key: Key<'_>, number: i64) -> Result<i64, NoSum> {
        let Some(item) = self.get(key) else {
            self.insert(key, Value::Small(number.to_string().into_bytes()), None);
            return Ok(number);
        };
        let before = integer::parse(item.value.bytes()).ok_or(NoSum::NoInteger)?;
        let sum = before.checked_add(number).ok_or(NoSum::Overflow)?;
        self.change(key, |value| {
            value.clear();
            integer::write(value, sum);
        });
        Ok(sum)
    }

    /// Changes the bytes of a value, an empty one if there is no such key.
    pub(super) fn change<T>(
        &mut self,
        key: Key<'_>,
        change: impl FnOnce(&mut Vec<u8>) -> T,
    ) -> T {
        if let Some(item) = self.get(key) {
            let before = item.value.memory();
            let result = item.value.change(change);
            let after = item.value.memory();
            self.charge(before, after);
            self.watched.touch(key);
            return result;
        }
        let mut value = Vec::new();
        let result = change(&mut value);
        self.insert(key, Value::from(value), None);
        result
    }

    /// Inserts an item with a new key.
    pub(super) fn insert(&mut self, key: Key<'_>, value: Value, end: Option<Instant>) {
        let item = Item {
            key: key.bytes.into(),
            value,
            end: None,
        };
        self.charge(0, item.memory());
        let hasher = &self.hasher;
        let hash_of = |item: &Item| hasher.hash_one(&*item.key);
        self.items.insert_unique(key.hash, item, hash_of);
        if end.is_some() {
            self.limit(key, end);
        } else {
            self.watched.touch(key);
        }
    }

    /// Removes a key; true if it existed.
    pub(super) fn remove(&mut self, key: Key<'_>) -> bool {
        let found = self.find(key);
        if let Some(at) = found {
            self.remove_at(key, at);
        }
        found.is_some()
    }

    /// Sets the expiry of a key, or `None` for none; returns whether it had one, `None` if there is
    /// no such key.
    pub(super) fn limit(&mut self, key: Key<'_>, end: Option<Instant>) -> Option<bool> {
        let item = self.get(key)?;
        let old = mem::replace(&mut item.end, end);
        self.moved(key, old, end);
        self.watched.touch(key);
        Some(old.is_some())
    }

    /// Removes all keys; returns their values, to be freed without the lock.
    pub(super) fn clear(&mut self) -> Garbage {
        let items = mem::take(&mut self.items);
        let ends = mem::take(&mut self.ends);
        let is_there =
            |hash, key: &[u8]| items.find(hash, |item| *item.key == *key).is_some();
        self.watched.touch_those(is_there);
        self.charge(items.iter().map(Item::memory).sum(), 0);
        self.charge(ends.iter().map(|(_, key)| entry(key)).sum(), 0);
        Garbage::Keys(items, ends)
    }

    /// Removes some of the keys that have expired at `now`; true if there may be more.
    pub(super) fn sweep(&mut self, now: Instant) -> bool {
        for _ in 0..AT_ONCE {
            let Some((end, key)) = self.ends.first() else {
                return false;
            };
            if *end > now {
                return false;
            }
            let bytes: Box<[u8]> = key.clone();
            let hash = self.hasher.hash_one(&*bytes);
            let key = Key {
                hash,
                bytes: &bytes,
            };
            // S1: it exists. Its removal removes the pair, too.
            let is_it = |item: &Item| item.key == bytes;
            match self.items.find_bucket_index(hash, is_it) {
                Some(at) => self.remove_at(key, at),
                None => return false,
            }
        }
        true
    }

    /// Returns the place of the item with this key in the table. An expired item is removed, and
    /// has none.
    #[inline]
    fn find(&mut self, key: Key<'_>) -> Option<usize> {
        let is_it = |item: &Item| *item.key == *key.bytes;
        let at = self.items.find_bucket_index(key.hash, is_it)?;
        let end = self.items.get_bucket(at)?.end;
        if end.is_some_and(|end| end <= *self.now.get_or_insert_with(time::now)) {
            self.remove_at(key, at);
            return None;
        }
        Some(at)
    }

    /// Removes the item with this key from its place; keeps S1 to S3.
    fn remove_at(&mut self, key: Key<'_>, at: usize) {
        let Ok(found) = self.items.get_bucket_entry(at) else {
            return;
        };
        let (item, _) = found.remove();
        self.charge(item.memory(), 0);
        self.moved(key, item.end, None);
        self.watched.touch(key);
        if let Some(garbage) = item.value.garbage() {
            self.garbage.push(garbage);
        }
    }

    /// Keeps S1 when the expiry of a key has changed.
    fn moved(&mut self, key: Key<'_>, before: Option<Instant>, after: Option<Instant>) {
        if before == after {
            return;
        }
        if let Some(before) = before {
            self.ends.remove(&(before, key.bytes.into()));
            self.charge(entry(key.bytes), 0);
        }
        if let Some(after) = after {
            self.ends.insert((after, key.bytes.into()));
            self.charge(0, entry(key.bytes));
        }
    }

    /// Keeps S2 when memory has been replaced.
    fn charge(&self, before: usize, after: usize) {
        // ORDERING: a sum that is compared with a limit; nothing is published by it.
        if after > before {
            self.used.fetch_add(after - before, Ordering::Relaxed);
        } else if before > after {
            self.used.fetch_sub(before - after, Ordering::Relaxed);
        }
    }
}

impl Item {
    /// The memory of the item: its place in the table, its key and its value.
    fn memory(&self) -> usize {
        size_of::<Item>() + OVERHEAD + self.key.len() + self.value.memory()
    }
}

/// The memory of a key in `ends`.
fn entry(key: &[u8]) -> usize {
    size_of::<(Instant, Box<[u8]>)>() + OVERHEAD + key.len()
}

/// The overhead of an entry for free places in tables and the allocator. An estimate.
const OVERHEAD: usize = 24;

/// Number of keys that a sweep removes before it releases the lock. Arbitrary.
const AT_ONCE: usize = 256;
