//! The end of a thread by a thread-local with a destructor.

use std::cell::Cell;

use crate::shim::thread_local_const;

/// Calls its hook when it is dropped.
struct End(Cell<Option<fn()>>);

thread_local_const! {
    static END: End = End(Cell::new(None))
}

/// Registers `hook` to be called at the end of the calling thread. Returns false if the thread is
/// past that.
///
/// The hook comes before the destructors of thread-locals that were used before the first call
/// only, and on some systems in any order.
#[must_use = "the hook may not be called"]
pub(crate) fn at_thread_end(hook: fn()) -> bool {
    END.try_with(|end| end.0.set(Some(hook))).is_ok()
}

impl Drop for End {
    fn drop(&mut self) {
        if let Some(hook) = self.0.get() {
            hook();
        }
    }
}
