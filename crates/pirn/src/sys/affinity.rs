//! On which processors a thread runs.

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

/// Has the calling thread run on one processor only: the `n`-th of these, counted round. A wish:
/// where there are none, or the system refuses, nothing happens.
///
/// The thread cannot be asked for those that it may use now: it has those of the thread that has
/// made it, which may be a worker that runs on one only.
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
