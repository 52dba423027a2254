//! The processors on which a thread may run.

use std::cell::RefCell;
#[cfg(target_os = "linux")]
use std::thread;

#[cfg(target_os = "linux")]
use super::calls;

thread_local! {
    /// The processors allowed to the thread before it was pinned; empty if it is not pinned.
    static BEFORE: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// Returns the processors allowed to the calling thread; if it is pinned, those before that. Empty
/// where the system does not report them.
pub(crate) fn allowed_processors() -> Vec<usize> {
    let before = before();
    #[cfg(target_os = "linux")]
    if before.is_empty() {
        return calls::sched_getaffinity().unwrap_or_default();
    }
    before
}

/// Returns `f` for a new thread, which would inherit the one processor of a pinned creator. The
/// result first gives the thread the processors allowed to its creator before that was pinned.
pub(crate) fn unpinned(
    f: impl FnOnce() + Send + 'static,
) -> impl FnOnce() + Send + 'static {
    let processors = before();
    move || {
        #[cfg(target_os = "linux")]
        if !processors.is_empty() {
            let _ = calls::sched_setaffinity(&processors);
        }
        #[cfg(not(target_os = "linux"))]
        drop(processors);
        f();
    }
}

/// Runs `f`, which starts a process that would inherit the one processor of a pinned thread. The
/// process gets the processors allowed to the thread before it was pinned.
pub(crate) fn with_children_unpinned<R>(f: impl FnOnce() -> R) -> R {
    #[cfg(target_os = "linux")]
    {
        let processors = before();
        if !processors.is_empty() {
            let thread = thread::current().id();
            let own = calls::sched_getaffinity();
            let _ = calls::sched_setaffinity(&processors);
            // UNWIND: only leaves this thread unpinned.
            let result = f();
            // After `f`, a fiber that may migrate may be on another thread, with a set of its own.
            if let Ok(own) = own
                && thread == thread::current().id()
            {
                let _ = calls::sched_setaffinity(&own);
            }
            return result;
        }
    }
    f()
}

/// Returns a copy of [`BEFORE`]; empty when the thread has dropped it at its end.
fn before() -> Vec<usize> {
    let before = BEFORE.try_with(|before| before.borrow().clone());
    before.unwrap_or_default()
}

/// Restricts the calling thread to one processor: number `n` of these, modulo their count. Best
/// effort: without a list, or if the system refuses, nothing changes.
///
/// The caller passes the runtime's list: that of the thread is inherited from its creator, and may
/// be another one.
pub(crate) fn pin(processors: &[usize], n: usize) {
    #[cfg(target_os = "linux")]
    if let Some(n) = n.checked_rem(processors.len()) {
        BEFORE.set(processors.to_vec());
        let _ = calls::sched_setaffinity(&processors[n..=n]);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (processors, n);
}
