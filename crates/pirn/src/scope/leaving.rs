//! The calls at the end of a scope.

use std::mem::{self, ManuallyDrop};

use crate::shim::Lock;

type Call<'scope> = Box<dyn FnOnce() + Send + 'scope>;

/// The calls to make when a scope's last child has ended. A call that was not taken is leaked, not
/// dropped: a scope is borrowed to its very end, so no part of it can have a destructor.
pub(super) struct Leaving<'scope>(Lock<ManuallyDrop<Vec<Call<'scope>>>>);

impl<'scope> Leaving<'scope> {
    pub(super) fn new() -> Self {
        Leaving(Lock::new(ManuallyDrop::new(Vec::new())))
    }

    pub(super) fn add(&self, f: impl FnOnce() + Send + 'scope) {
        let call = Box::new(f);
        self.0.lock().push(call);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.lock().is_empty()
    }

    /// Takes the pending calls, in the order in which they were added.
    pub(super) fn take(&self) -> Vec<Call<'scope>> {
        mem::take(&mut **self.0.lock())
    }
}
