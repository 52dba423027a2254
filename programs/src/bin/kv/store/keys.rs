//! A connection's access to the store: key by key, or with several shards locked.

use std::ops::{Deref, DerefMut};
use std::time::Instant;

use pirn::sync::MutexGuard;

use super::garbage::Garbage;
use super::shard::{Key, Shard};
use super::shards::{Condition, NoSum, SHARDS, Store, Until};
use super::value::Value;
use super::watch::Alert;
use crate::request::Given;

/// A connection's access to the store.
#[derive(Debug)]
pub(crate) struct Keys<'s> {
    store: &'s Store,
    /// The shards that are held, in ascending order, and their numbers as bits.
    held: Vec<MutexGuard<'s, Shard>>,
    mask: u64,
    /// Replaced or removed values that take long to free: dropped when no lock is held.
    garbage: Vec<Garbage>,
}

/// A key while its shard is locked.
#[derive(Debug)]
pub(crate) struct Slot<'l> {
    shard: &'l mut Shard,
    key: Key<'l>,
}

/// A set of shards.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Shards(u64);

impl<'s> Keys<'s> {
    pub(crate) fn new(store: &'s Store) -> Keys<'s> {
        Keys {
            store,
            held: Vec::new(),
            mask: 0,
            garbage: Vec::new(),
        }
    }

    /// The shards of these keys.
    pub(crate) fn shards<'k>(&self, keys: impl Iterator<Item = &'k [u8]>) -> Shards {
        Shards(keys.fold(0, |mask, key| mask | 1 << self.store.key(key).shard()))
    }

    /// Locks shards until [`Keys::release`]: all commands until then work as one. Does nothing if
    /// shards are held already: the caller of the first `hold` has named them all.
    // LOCK: ascending, so two connections never wait for each other.
    pub(crate) fn hold(&mut self, shards: Shards) {
        if self.mask != 0 {
            return;
        }
        let mut rest = shards.0;
        while rest != 0 {
            let lowest = rest.trailing_zeros();
            self.held.push(self.store.shards[lowest as usize].lock());
            rest &= rest - 1;
        }
        self.mask = shards.0;
    }

    /// Unlocks all shards, then frees what commands have removed.
    #[inline]
    pub(crate) fn release(&mut self) {
        if self.mask != 0 {
            self.mask = 0;
            self.held.clear();
            self.held.shrink_to(0);
        }
        if !self.garbage.is_empty() {
            self.free();
        }
    }

    /// Calls `look` with the value, or `None` if there is no such key.
    pub(crate) fn get<T>(
        &mut self,
        key: &[u8],
        look: impl FnOnce(Option<&Value>) -> T,
    ) -> T {
        self.slot(key, |mut slot| look(slot.get()))
    }

    /// Writes a value under a condition; false if that is not met.
    pub(crate) fn write(
        &mut self,
        key: &[u8],
        given: Given<'_>,
        until: Until,
        condition: Condition,
    ) -> bool {
        self.slot(key, |mut slot| slot.write(given, until, condition))
    }

    /// Adds to a numeric value, or to 0; returns the sum.
    ///
    /// # Errors
    /// The value has not changed then.
    pub(crate) fn add(&mut self, key: &[u8], number: i64) -> Result<i64, NoSum> {
        self.slot(key, |slot| slot.shard.add(slot.key, number))
    }

    /// Calls `work` on one key under the lock of its shard.
    #[inline]
    pub(crate) fn slot<T>(&mut self, key: &[u8], work: impl FnOnce(Slot<'_>) -> T) -> T {
        let key = self.store.key(key);
        let mut shard = lock(self.store, &mut self.held, self.mask, key.shard());
        shard.now = None;
        let result = work(Slot {
            shard: &mut shard,
            key,
        });
        if !shard.garbage.is_empty() {
            self.garbage.append(&mut shard.garbage);
        }
        result
    }

    /// Removes all keys at once.
    pub(crate) fn clear(&mut self) {
        self.hold(Shards::ALL);
        let removed = self.held.iter_mut().map(|shard| shard.clear());
        self.garbage.extend(removed);
    }

    /// Calls `work` on the shards one after the other, from the `first` one, while it returns true.
    pub(super) fn walk(&mut self, first: usize, mut work: impl FnMut(&Shard) -> bool) {
        for at in first..SHARDS {
            if !work(&lock(self.store, &mut self.held, self.mask, at)) {
                break;
            }
        }
    }

    pub(super) fn store(&self) -> &'s Store {
        self.store
    }

    /// The number of keys. Keys that have expired count until they are removed.
    pub(crate) fn len(&mut self) -> usize {
        self.sum(Shard::len)
    }

    /// Returns the number of keys that expire.
    pub(crate) fn limited(&mut self) -> usize {
        self.sum(Shard::limited)
    }

    fn sum(&mut self, of: impl Fn(&Shard) -> usize) -> usize {
        let mut sum = 0;
        self.walk(0, |shard| {
            sum += of(shard);
            true
        });
        sum
    }

    /// Registers an alert for a key; false if it is registered already.
    pub(crate) fn watch(&mut self, key: &[u8], alert: &Alert) -> bool {
        self.slot(key, |mut slot| {
            // An expired key is removed before it is watched.
            slot.get();
            slot.shard.watched.add(slot.key, alert)
        })
    }

    pub(crate) fn unwatch(&mut self, key: &[u8], alert: &Alert) {
        self.slot(key, |slot| slot.shard.watched.remove(slot.key, alert));
    }

    #[cold]
    fn free(&mut self) {
        for garbage in self.garbage.drain(..) {
            garbage.free();
        }
        self.garbage.shrink_to(0);
    }
}

impl Shards {
    pub(crate) const ALL: Shards = Shards(u64::MAX);

    pub(crate) fn and(self, other: Shards) -> Shards {
        Shards(self.0 | other.0)
    }
}

impl<'l> Slot<'l> {
    pub(crate) fn get(&mut self) -> Option<&Value> {
        self.shard.get(self.key).map(|item| &item.value)
    }

    /// As [`Keys::write`].
    pub(crate) fn write(
        &mut self,
        given: Given<'_>,
        until: Until,
        condition: Condition,
    ) -> bool {
        self.shard.write(self.key, given, until, condition)
    }

    /// Inserts a value with its expiry, replacing the present one.
    pub(crate) fn put(&mut self, value: Value, end: Option<Instant>) {
        self.remove();
        self.shard.insert(self.key, value, end);
    }

    /// Changes the bytes of the value, of an empty one if there is no such key.
    pub(crate) fn change<T>(&mut self, change: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        self.shard.change(self.key, change)
    }

    /// Removes the key; true if it existed.
    pub(crate) fn remove(&mut self) -> bool {
        self.shard.remove(self.key)
    }

    /// Returns the expiry of the key; the inner `None` if it has none, the outer if there is no
    /// such key.
    #[expect(clippy::option_option, reason = "there, and limited")]
    pub(crate) fn end(&mut self) -> Option<Option<Instant>> {
        self.shard.get(self.key).map(|item| item.end)
    }

    /// Sets the expiry of the key; returns whether it had one, `None` if there is no such key.
    pub(crate) fn limit(&mut self, end: Option<Instant>) -> Option<bool> {
        self.shard.limit(self.key, end)
    }
}

/// A shard that is locked for one command, or is held.
enum Locked<'k, 's> {
    Now(MutexGuard<'s, Shard>),
    Held(&'k mut Shard),
}

#[inline]
fn lock<'k, 's>(
    store: &'s Store,
    held: &'k mut [MutexGuard<'s, Shard>],
    mask: u64,
    at: usize,
) -> Locked<'k, 's> {
    let bit = 1_u64 << at;
    if mask & bit == 0 {
        debug_assert!(
            mask == 0,
            "shard {at} is locked out of order: name it in `hold`"
        );
        return Locked::Now(store.shards[at].lock());
    }
    let before = (mask & (bit - 1)).count_ones();
    Locked::Held(&mut held[before as usize])
}

impl Deref for Locked<'_, '_> {
    type Target = Shard;

    #[inline]
    fn deref(&self) -> &Shard {
        match self {
            Locked::Now(shard) => shard,
            Locked::Held(shard) => shard,
        }
    }
}

impl DerefMut for Locked<'_, '_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Shard {
        match self {
            Locked::Now(shard) => shard,
            Locked::Held(shard) => shard,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use pirn::time;

    use super::*;

    /// A command that has found a key finds it again, although it expires meanwhile. Otherwise what
    /// it makes of the old value would be a new key, without an expiry.
    // Proves: N5-X-kv.
    #[test]
    fn no_key_expires_amid_a_command() {
        const LIFE: Duration = Duration::from_millis(10);
        pirn::runtime::test(|_| {
            let store = Store::new();
            let mut keys = Keys::new(&store);
            let end = time::now() + LIFE;
            let one = Given::Bytes(b"1");
            assert!(keys.write(b"k", one, Until::At(end), Condition::Always));
            keys.slot(b"k", |mut slot| {
                assert_eq!(slot.get().map(Value::bytes), Some(&b"1"[..]));
                pirn::sleep(2 * LIFE).expect("no interrupt");
                slot.change(|value| value.push(b'2'));
                assert_eq!(slot.end(), Some(Some(end)));
            });
            assert!(keys.get(b"k", |value| value.is_none()));
        });
    }
}
