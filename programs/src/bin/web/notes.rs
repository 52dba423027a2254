//! The notes: texts by their names, stored while the server runs.

use std::collections::BTreeMap;

use axum::body::Bytes;
use pirn::sync::RwLock;

/// Notes, shared by all handlers.
#[derive(Debug, Default)]
pub(crate) struct Notes(RwLock<BTreeMap<String, Bytes>>);

impl Notes {
    /// Returns the text of a note.
    pub(crate) fn get(&self, name: &str) -> Option<Bytes> {
        self.0.read().get(name).cloned()
    }

    /// Stores a note; returns true if it is a new one.
    pub(crate) fn put(&self, name: String, text: Bytes) -> bool {
        self.0.write().insert(name, text).is_none()
    }

    /// Removes a note; returns true if it existed.
    pub(crate) fn delete(&self, name: &str) -> bool {
        self.0.write().remove(name).is_some()
    }

    /// Returns all names, one on each line, in order.
    pub(crate) fn names(&self) -> String {
        let notes = self.0.read();
        notes.keys().map(|name| format!("{name}\n")).collect()
    }
}
