//! The processors on which a thread may run.

/// The processors that the calling thread may use; none where the system does not say.
pub(crate) fn allowed_processors() -> Vec<usize> {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: all-zero bytes are an empty set.
        let mut allowed: libc::cpu_set_t = unsafe { std::mem::zeroed() };
        let size = size_of::<libc::cpu_set_t>();
        // SAFETY: the set is valid and of this size; 0 is the calling thread.
        if unsafe { libc::sched_getaffinity(0, size, &raw mut allowed) } != 0 {
            return Vec::new();
        }
        let is_allowed = |cpu: &usize| {
            // SAFETY: the number is within the set.
            unsafe { libc::CPU_ISSET(*cpu, &allowed) }
        };
        (0..8 * size).filter(is_allowed).collect()
    }
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
    {
        let Some(n) = n.checked_rem(processors.len()) else {
            return;
        };
        // SAFETY: all-zero bytes are an empty set.
        let mut one: libc::cpu_set_t = unsafe { std::mem::zeroed() };
        // SAFETY: the set is valid, and the number came out of one.
        unsafe { libc::CPU_SET(processors[n], &mut one) };
        // SAFETY: the set is valid and of this size; the call only reads it.
        unsafe {
            libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const one)
        };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (processors, n);
}
