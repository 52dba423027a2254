//! The notes: texts by their names, stored while the server runs, with a bound on their bytes.

use std::collections::BTreeMap;

use axum::body::Bytes;
use pirn::sync::RwLock;

/// Notes, shared by all handlers.
#[derive(Debug)]
pub(crate) struct Notes {
    stored: RwLock<Stored>,
    /// Maximum size of all of them, in bytes.
    most: usize,
}

#[derive(Debug, Default)]
struct Stored {
    notes: BTreeMap<String, Bytes>,
    /// The sum of their sizes.
    size: usize,
}

/// The outcome of storing a note.
#[derive(Debug, Copy, Clone)]
pub(crate) enum Put {
    New,
    Replaced,
    /// Nothing is changed: it would exceed the bound, which is this number of bytes.
    Full(usize),
}

impl Notes {
    /// Returns a store for this number of bytes.
    pub(crate) fn new(most: usize) -> Notes {
        Notes {
            stored: RwLock::default(),
            most,
        }
    }

    /// Returns the text of a note.
    pub(crate) fn get(&self, name: &str) -> Option<Bytes> {
        self.stored.read().notes.get(name).cloned()
    }

    /// Stores a note, in place of one with the same name.
    pub(crate) fn put(&self, name: String, text: &Bytes) -> Put {
        // A copy: the text shares its memory with other input of its connection.
        let text = Bytes::copy_from_slice(text);
        let mut stored = self.stored.write();
        let before = stored.notes.get(&name).map_or(0, |old| size(&name, old));
        let after = stored.size - before + size(&name, &text);
        if after > self.most {
            return Put::Full(self.most);
        }
        stored.size = after;
        match stored.notes.insert(name, text) {
            None => Put::New,
            Some(_) => Put::Replaced,
        }
    }

    /// Removes a note; returns true if it existed.
    pub(crate) fn delete(&self, name: &str) -> bool {
        let mut stored = self.stored.write();
        let Some(text) = stored.notes.remove(name) else {
            return false;
        };
        stored.size -= size(name, &text);
        true
    }

    /// Returns all names, one on each line, in order.
    pub(crate) fn names(&self) -> String {
        let stored = self.stored.read();
        let names = stored.notes.keys();
        names.map(|name| format!("{name}\n")).collect()
    }
}

/// Returns the bytes that a note counts for: its name, its text, and an entry of the map.
fn size(name: &str, text: &Bytes) -> usize {
    size_of::<(String, Bytes)>() + name.len() + text.len()
}
