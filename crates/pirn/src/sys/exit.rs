//! What is called when the process exits.

use std::sync::Once;

/// Has `hook` called when `main` returns or the process is ended by `exit`; not when a signal
/// or an abort ends it. Only the first call counts: there is one hook.
pub(crate) fn at_exit(hook: extern "C" fn()) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // If there is no room for it in the C library's list, it is not called.
        // SAFETY: a function that lives as long as the process.
        let _ = unsafe { libc::atexit(hook) };
    });
}
