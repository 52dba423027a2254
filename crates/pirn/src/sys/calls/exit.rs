//! A function that is called when the process exits.

use std::sync::Once;

/// Registers `hook` to be called when `main` returns or `exit` ends the process; not when a signal
/// or an abort ends it. Only the first call counts: there is one hook.
pub(crate) fn at_exit(hook: extern "C" fn()) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // If the C library's list is full, the hook is not called.
        // SAFETY: a function that lives as long as the process.
        let _ = unsafe { libc::atexit(hook) };
    });
}
