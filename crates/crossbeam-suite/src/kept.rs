//! Results of chosen operations, until they are taken.
//!
//! A result is stored in the handle of its operation, since only the handle has its type. Several
//! callers may use a handle at once, so each operation has an [`Id`] of its own.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Identifies one chosen operation of the process.
#[derive(Debug, Copy, Clone, PartialEq, Eq)]
pub struct Id(u64);

/// Results by operation.
#[derive(Debug)]
pub(crate) struct Kept<R>(Mutex<Vec<(Id, R)>>);

impl Id {
    /// Returns a number that no other operation has.
    pub(crate) fn fresh() -> Id {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        // ORDERING: Relaxed: only uniqueness matters.
        Id(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl<R> Kept<R> {
    pub(crate) const fn new() -> Self {
        Kept(Mutex::new(Vec::new()))
    }

    pub(crate) fn put(&self, id: Id, result: R) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push((id, result));
    }

    /// Removes the result of an operation and returns it.
    ///
    /// # Panics
    /// If the operation was chosen on another handle.
    pub(crate) fn take(&self, id: Id) -> R {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.iter().position(|(other, _)| *other == id);
        let (_, result) = kept.swap_remove(at.expect("an operation on this handle"));
        result
    }
}
