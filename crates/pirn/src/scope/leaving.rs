//! What is called when a scope is left.

use std::mem;

use crate::shim::Lock;

type Call = Box<dyn FnOnce() + Send>;

/// Calls that are due when a scope's last child has ended.
pub(super) struct Leaving(Lock<Vec<Call>>);

impl Leaving {
    pub(super) fn new() -> Leaving {
        Leaving(Lock::new(Vec::new()))
    }

    /// # Safety
    /// [`take`](Leaving::take) is called, and its result called or dropped, before anything
    /// that `f` borrows ends.
    pub(super) unsafe fn add<'a>(&self, f: impl FnOnce() + Send + 'a) {
        let call: Box<dyn FnOnce() + Send + 'a> = Box::new(f);
        // SAFETY: only the lifetime differs, and the caller sees to it.
        let call = unsafe { mem::transmute::<Box<dyn FnOnce() + Send + 'a>, Call>(call) };
        self.0.lock().push(call);
    }

    /// The calls that are due, in the order in which they were added.
    pub(super) fn take(&self) -> Vec<Call> {
        mem::take(&mut *self.0.lock())
    }
}
