//! The notes: texts by their names, stored while the server runs, with a bound on their bytes.
//!
//! A list of their names may be nearly as large as all of them, and is in memory until its client
//! has read it. So the lists have a bound on their bytes, too.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Bytes;
use pirn::sync::{OwnedPermit, RwLock, Semaphore};

/// Notes, shared by all handlers.
#[derive(Debug)]
pub(crate) struct Notes {
    stored: RwLock<Stored>,
    /// Maximum size of all of them, in bytes.
    most: usize,
    /// A permit for each byte of the lists that are not sent, as many as `most`.
    lists: Arc<Semaphore>,
}

#[derive(Debug, Default)]
struct Stored {
    notes: BTreeMap<String, Bytes>,
    /// The sum of their sizes.
    size: usize,
}

/// A list of names, which keeps its permits until it is sent.
struct List {
    names: String,
    _permit: OwnedPermit,
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
        // A semaphore has no more permits than that.
        let lists = most.min(usize::MAX / 2);
        Notes {
            stored: RwLock::default(),
            most,
            lists: Arc::new(Semaphore::new(lists)),
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

    /// Returns all names, one on each line, in order; `None` if that would exceed the bound of all
    /// lists that are not sent. It takes its bytes from that bound until it is dropped.
    pub(crate) fn names(&self) -> Option<Bytes> {
        let stored = self.stored.read();
        let size: usize = stored.notes.keys().map(|name| name.len() + 1).sum();
        let permit = self.lists.try_acquire_owned(size)?;
        let mut names = String::with_capacity(size);
        for name in stored.notes.keys() {
            names.push_str(name);
            names.push('\n');
        }
        Some(Bytes::from_owner(List {
            names,
            _permit: permit,
        }))
    }
}

impl AsRef<[u8]> for List {
    fn as_ref(&self) -> &[u8] {
        self.names.as_bytes()
    }
}

/// Returns the bytes that a note counts for: its name, its text, and an entry of the map.
fn size(name: &str, text: &Bytes) -> usize {
    size_of::<(String, Bytes)>() + name.len() + text.len()
}
