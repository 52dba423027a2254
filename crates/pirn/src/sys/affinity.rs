//! The processors on which a thread may run.

use std::cell::RefCell;
#[cfg(target_os = "linux")]
use std::thread;

#[cfg(target_os = "linux")]
use super::calls;

thread_local! {
    /// The processors that the thread might use before it was pinned; none if it is not.
    static BEFORE: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// The processors that the calling thread may use, or might before it was pinned; none where the
/// system does not say.
pub(crate) fn allowed_processors() -> Vec<usize> {
    let before = before();
    #[cfg(target_os = "linux")]
    if before.is_empty() {
        return calls::sched_getaffinity().unwrap_or_default();
    }
    before
}

/// Returns `f` for a new thread, which would inherit the one processor of a pinned creator: it may
/// use those that its creator might before.
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

/// Runs `f`, which starts a process that would inherit the one processor of a pinned thread: it may
/// use those that the thread might before.
pub(crate) fn with_children_unpinned<R>(f: impl FnOnce() -> R) -> R {
    #[cfg(target_os = "linux")]
    {
        let processors = before();
        if !processors.is_empty() {
            let thread = thread::current().id();
            let own = calls::sched_getaffinity();
            let _ = calls::sched_setaffinity(&processors);
            // UNWIND: only this thread's one processor would be lost.
            let result = f();
            // A call that has parked a free fiber may return on another thread, with its own.
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

/// None at the end of the thread either.
fn before() -> Vec<usize> {
    let before = BEFORE.try_with(|before| before.borrow().clone());
    before.unwrap_or_default()
}

/// Restricts the calling thread to one processor: number `n` of these, modulo their count. Best
/// effort: without a list, or if the system refuses, nothing changes.
///
/// The caller passes the list, since the thread's present one is no use: it inherits the set of the
/// thread that created it, which may be a worker restricted to one processor.
pub(crate) fn pin(processors: &[usize], n: usize) {
    #[cfg(target_os = "linux")]
    if let Some(n) = n.checked_rem(processors.len()) {
        BEFORE.set(processors.to_vec());
        let _ = calls::sched_setaffinity(&processors[n..=n]);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (processors, n);
}
