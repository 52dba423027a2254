//! The result of a won case, until its owner takes it.

use std::cell::Cell;

/// A slot for one result.
pub(crate) struct CaseOutput<R>(Cell<Option<R>>);

impl<R> CaseOutput<R> {
    pub(crate) const fn new() -> Self {
        CaseOutput(Cell::new(None))
    }

    pub(crate) fn win(&self, result: R) {
        self.0.set(Some(result));
    }

    /// Stores the result of `attempt`, unless the slot is full already; true if it is full now.
    pub(crate) fn win_by(&self, attempt: impl FnOnce() -> Option<R>) -> bool {
        let result = self.0.take().or_else(attempt);
        let won = result.is_some();
        self.0.set(result);
        won
    }

    /// Takes the result.
    ///
    /// # Panics
    /// If there is none.
    pub(crate) fn take(&self) -> R {
        self.claim().expect("a case that has won")
    }

    /// Takes the result, if there is one.
    pub(crate) fn claim(&self) -> Option<R> {
        self.0.take()
    }

    pub(crate) fn into_inner(self) -> Option<R> {
        self.0.into_inner()
    }
}
