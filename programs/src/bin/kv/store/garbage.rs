//! Values that take long to free, kept until no lock is held.

use hashbrown::HashTable;

use super::shard::{Ends, Item};
use crate::blob::Blob;

/// A value that takes long to free.
#[derive(Debug)]
pub(super) enum Garbage {
    Value(Blob),
    Keys(HashTable<Item>, Ends),
}

impl Garbage {
    /// Frees it; other fibers run in between.
    pub(super) fn free(self) {
        match self {
            Garbage::Value(blob) => drop(blob),
            Garbage::Keys(items, ends) => {
                free_all(items);
                free_all(ends);
            }
        }
    }
}

fn free_all(items: impl IntoIterator) {
    for (n, item) in items.into_iter().enumerate() {
        drop(item);
        if n % AT_ONCE == AT_ONCE - 1 {
            pirn::yield_now();
        }
    }
}

/// Number of keys that are freed before other fibers run. Arbitrary.
const AT_ONCE: usize = 256;
