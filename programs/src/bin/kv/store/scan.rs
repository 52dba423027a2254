//! Pages of keys for `SCAN`.
//!
//! Keys are ordered by their hashes: first the bits that choose the shard, then the others. The
//! cursor is the place in that order behind the last key of a page. A key that exists from the
//! first page to the last is on exactly one of them, whatever other keys are added or removed.
//!
//! A place has 53 bits, since some clients read cursors into floating-point numbers.

use pirn::time;

use super::keys::Keys;
use super::shard::{Item, Key};
use super::shards::{SHARD_BITS_FROM, SHARDS};

/// Some keys, and the cursor of the next page.
#[derive(Debug, Default)]
pub(crate) struct Page {
    pub(crate) keys: Vec<Box<[u8]>>,
    /// 0 behind the last key.
    pub(crate) next: u64,
}

impl Keys<'_> {
    /// The next `count` keys from `cursor`, or more.
    ///
    /// A page costs a walk through its shard. So that a whole scan costs at most [`WALKS`] walks
    /// through each shard, a page has at least that part of the shard's keys.
    pub(crate) fn page(&mut self, cursor: u64, count: usize) -> Page {
        let mut page = Page::default();
        let mut is_full = false;
        let store = self.store();
        let now = time::now();
        let first = usize::try_from(cursor >> IN_SHARD).unwrap_or(SHARDS);
        self.walk(first, |shard| {
            let at = |item: &Item| store.key(&item.key).place();
            let lives = |item: &&Item| item.end.is_none_or(|end| end > now);
            let items = shard.items().filter(lives).map(|item| (at(item), item));
            let mut left: Vec<_> = items.filter(|(at, _)| *at >= cursor).collect();
            let wanted = (count - page.keys.len()).max(shard.len().div_ceil(WALKS));
            let is_last = left.len() <= wanted;
            if !is_last {
                let (_, (last, _), _) =
                    left.select_nth_unstable_by_key(wanted - 1, |(at, _)| *at);
                let last = *last;
                left.retain(|(at, _)| *at <= last);
            }
            page.next = left.iter().map(|(at, _)| at + 1).max().unwrap_or(page.next);
            page.keys
                .extend(left.into_iter().map(|(_, item)| item.key.clone()));
            is_full = !is_last || page.keys.len() >= count;
            !is_full
        });
        if !is_full {
            page.next = 0;
        }
        page
    }

    /// Returns all keys that `is_it` selects.
    pub(crate) fn all(&mut self, is_it: impl Fn(&[u8]) -> bool) -> Vec<Box<[u8]>> {
        let mut keys = Vec::new();
        let now = time::now();
        self.walk(0, |shard| {
            let lives = |item: &&Item| item.end.is_none_or(|end| end > now);
            let found = shard.items().filter(lives).filter(|item| is_it(&item.key));
            keys.extend(found.map(|item| item.key.clone()));
            true
        });
        keys
    }
}

impl Key<'_> {
    /// Returns the place of the key in the order of a scan.
    fn place(self) -> u64 {
        // The six bits of the shard come to the top.
        let top = SHARD_BITS_FROM + SHARDS.trailing_zeros();
        self.hash.rotate_left(u64::BITS - top) >> (u64::BITS - PLACE)
    }
}

/// Bits of a place, and those of them that order the keys of a shard.
const PLACE: u32 = 53;
const IN_SHARD: u32 = PLACE - SHARDS.trailing_zeros();

/// Maximum number of walks through a shard in one scan. Arbitrary.
const WALKS: usize = 16;
