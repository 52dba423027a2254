//! What a case has won and its owner has not taken yet.

use std::cell::Cell;

/// Room for one result.
pub(crate) struct Prize<R>(Cell<Option<R>>);

impl<R> Prize<R> {
    pub(crate) const fn new() -> Self {
        Prize(Cell::new(None))
    }

    pub(crate) fn win(&self, result: R) {
        self.0.set(Some(result));
    }

    /// Wins what `attempt` comes to, unless there is something from before; true if there is
    /// something now.
    pub(crate) fn win_by(&self, attempt: impl FnOnce() -> Option<R>) -> bool {
        let result = self.0.take().or_else(attempt);
        let won = result.is_some();
        self.0.set(result);
        won
    }

    /// Takes what has been won.
    ///
    /// # Panics
    /// If there is nothing.
    pub(crate) fn take(&self) -> R {
        self.claim().expect("a case that has won")
    }

    /// Takes what has been won, if anything has.
    pub(crate) fn claim(&self) -> Option<R> {
        self.0.take()
    }

    pub(crate) fn into_inner(self) -> Option<R> {
        self.0.into_inner()
    }
}
