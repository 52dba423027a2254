//! What is called when a scope is left.

use std::mem::{self, ManuallyDrop};

use crate::shim::Lock;

type Call<'scope> = Box<dyn FnOnce() + Send + 'scope>;

/// Calls that are due when a scope's last child has ended. A call that nobody has taken is
/// forgotten with this, not dropped: a scope is borrowed to its very end, and what has a
/// destructor could not be.
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

    /// The calls that are due, in the order in which they were added.
    pub(super) fn take(&self) -> Vec<Call<'scope>> {
        mem::take(&mut **self.0.lock())
    }
}
