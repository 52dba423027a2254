//! Keeps idle states and buffers between two blocks.
//!
//! A compressor's state takes some 270 KiB and a block's buffers as much again. Allocating them for
//! each block would cost page faults. The pool holds at most `limit` idle items, so it bounds
//! memory instead of hiding a leak.
//!
//! The lock is held for a push or a pop of a `Vec` and never across a wait, so a plain mutex serves
//! fibers as well as threads.

use std::fmt;
use std::sync::Mutex;

/// Idle items of one kind.
pub struct Pool<T> {
    idle: Mutex<Vec<T>>,
    limit: usize,
    fresh: Box<dyn Fn() -> T + Send + Sync>,
}

impl<T> fmt::Debug for Pool<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

impl<T> Pool<T> {
    /// Returns an empty pool that makes items with `fresh` and keeps at most `limit` idle ones.
    pub fn new(limit: usize, fresh: impl Fn() -> T + Send + Sync + 'static) -> Self {
        Pool {
            idle: Mutex::new(Vec::with_capacity(limit)),
            limit,
            fresh: Box::new(fresh),
        }
    }

    /// Returns an idle item, or a new one.
    pub fn take(&self) -> T {
        let idle = self
            .idle
            .lock()
            .expect("no user code runs under the lock")
            .pop();
        idle.unwrap_or_else(&self.fresh)
    }

    /// Returns an item to the pool.
    pub fn give(&self, item: T) {
        let surplus = {
            let mut idle = self.idle.lock().expect("no user code runs under the lock");
            if idle.len() < self.limit {
                idle.push(item);
                None
            } else {
                Some(item)
            }
        };
        drop(surplus);
    }
}
