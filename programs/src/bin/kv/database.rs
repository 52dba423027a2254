//! The state shared by all connections: the keys, the limit of their memory, and the clients.

use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::time::Instant;

use pirn::time;

use crate::client::Client;
use crate::store::Store;

#[derive(Debug)]
pub(crate) struct Database {
    pub(crate) store: Store,
    /// Maximum memory of keys and values; 0 for no limit.
    pub(crate) max_memory: usize,
    clients: AtomicUsize,
    /// The number of the last client.
    last: AtomicI64,
    since: Instant,
}

/// Counts one client until it is dropped.
#[derive(Debug)]
pub(crate) struct Counted<'d>(&'d Database);

impl Database {
    pub(crate) fn new(max_memory: usize) -> Database {
        Database {
            store: Store::new(),
            max_memory,
            clients: AtomicUsize::new(0),
            last: AtomicI64::new(0),
            since: time::now(),
        }
    }

    /// Returns a client that is counted until it is dropped.
    pub(crate) fn client(&self) -> Client<'_> {
        // ORDERING: counters; nothing is published by them.
        self.clients.fetch_add(1, Ordering::Relaxed);
        let id = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        Client::new(id, Counted(self))
    }

    pub(crate) fn clients(&self) -> usize {
        self.clients.load(Ordering::Relaxed)
    }

    pub(crate) fn uptime(&self) -> u64 {
        time::now().duration_since(self.since).as_secs()
    }

    /// Returns true if `more` bytes would exceed the limit of memory.
    pub(crate) fn is_full(&self, more: usize) -> bool {
        self.max_memory != 0 && self.store.used().saturating_add(more) > self.max_memory
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.clients.fetch_sub(1, Ordering::Relaxed);
    }
}
