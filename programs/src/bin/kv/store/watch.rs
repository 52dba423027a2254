//! Keys that clients watch: a change of one ends the transaction of its watchers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hashbrown::hash_table::{Entry, HashTable};

use super::shard::Key;

/// Set when a watched key changes. Shared by a client and the shards of its keys.
#[derive(Debug, Clone, Default)]
pub(crate) struct Alert(Arc<AtomicBool>);

/// The watched keys of a shard.
#[derive(Debug, Default)]
pub(super) struct Watched(HashTable<Watch>);

#[derive(Debug)]
struct Watch {
    key: Box<[u8]>,
    hash: u64,
    alerts: Vec<Alert>,
}

impl Alert {
    /// Returns true if a key has changed since the last [`Alert::clear`].
    pub(crate) fn is_set(&self) -> bool {
        // ORDERING: read and written under the locks of the shards that hold the alert.
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn clear(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is(&self, other: &Alert) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Watched {
    /// Adds a watcher of a key; false if it is one already.
    pub(super) fn add(&mut self, key: Key<'_>, alert: &Alert) -> bool {
        let is_it = |watch: &Watch| *watch.key == *key.bytes;
        match self.0.entry(key.hash, is_it, |watch| watch.hash) {
            Entry::Occupied(mut found) => {
                let alerts = &mut found.get_mut().alerts;
                if alerts.iter().any(|known| known.is(alert)) {
                    return false;
                }
                alerts.push(alert.clone());
            }
            Entry::Vacant(place) => {
                place.insert(Watch {
                    key: key.bytes.into(),
                    hash: key.hash,
                    alerts: vec![alert.clone()],
                });
            }
        }
        true
    }

    pub(super) fn remove(&mut self, key: Key<'_>, alert: &Alert) {
        let is_it = |watch: &Watch| *watch.key == *key.bytes;
        let Ok(mut found) = self.0.find_entry(key.hash, is_it) else {
            return;
        };
        found.get_mut().alerts.retain(|known| !known.is(alert));
        if found.get().alerts.is_empty() {
            found.remove();
        }
    }

    /// Alerts the watchers of a key that has changed.
    #[inline]
    pub(super) fn touch(&self, key: Key<'_>) {
        if !self.0.is_empty() {
            self.alert(key);
        }
    }

    /// Alerts the watchers of those keys.
    pub(super) fn touch_those(&self, mut changes: impl FnMut(u64, &[u8]) -> bool) {
        for watch in self
            .0
            .iter()
            .filter(|watch| changes(watch.hash, &watch.key))
        {
            watch.alerts.iter().for_each(Alert::set);
        }
    }

    #[cold]
    fn alert(&self, key: Key<'_>) {
        let found = self.0.find(key.hash, |watch| *watch.key == *key.bytes);
        for alert in found.into_iter().flat_map(|watch| &watch.alerts) {
            alert.set();
        }
    }
}
