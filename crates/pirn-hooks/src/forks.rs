//! Whether this process is a child of the one with the fibers.

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};

static CHILD: AtomicBool = AtomicBool::new(false);

unsafe extern "C" {
    fn pthread_atfork(
        before: Option<extern "C" fn()>,
        in_parent: Option<extern "C" fn()>,
        in_child: Option<extern "C" fn()>,
    ) -> c_int;
}

extern "C" fn begin_child() {
    CHILD.store(true, Ordering::Relaxed);
}

/// Has libc's `fork` mark the child. If there is no memory for that, children are not told apart.
pub(crate) fn watch() {
    // SAFETY: the function only stores.
    unsafe { pthread_atfork(None, None, Some(begin_child)) };
}

/// Returns whether this is a child of the process that called [`watch`].
pub(crate) fn is_child() -> bool {
    CHILD.load(Ordering::Relaxed)
}
