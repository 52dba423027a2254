//! The processors on which a thread may run.

#[cfg(target_os = "linux")]
use super::calls;

/// The processors that the calling thread may use; none where the system does not say.
pub(crate) fn allowed_processors() -> Vec<usize> {
    #[cfg(target_os = "linux")]
    return calls::sched_getaffinity().unwrap_or_default();
    #[cfg(not(target_os = "linux"))]
    Vec::new()
}

/// Restricts the calling thread to one processor: number `n` of these, modulo their count. Best
/// effort: without a list, or if the system refuses, nothing changes.
///
/// The caller passes the list, since the thread's present one is no use: it inherits the set of the
/// thread that created it, which may be a worker restricted to one processor.
pub(crate) fn pin(processors: &[usize], n: usize) {
    #[cfg(target_os = "linux")]
    if let Some(n) = n.checked_rem(processors.len()) {
        let _ = calls::sched_setaffinity(processors[n]);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (processors, n);
}
