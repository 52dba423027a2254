//! On which processors a thread runs.

/// Has the calling thread run on one processor only: the `n`-th of those that it may use now,
/// counted round. A wish: where the system has no such thing, or refuses, nothing happens.
pub(crate) fn pin(n: usize) {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: all-zero bytes are an empty set.
        let mut allowed: libc::cpu_set_t = unsafe { std::mem::zeroed() };
        let size = size_of::<libc::cpu_set_t>();
        // SAFETY: the set is valid and of this size; 0 is the calling thread.
        if unsafe { libc::sched_getaffinity(0, size, &raw mut allowed) } != 0 {
            return;
        }
        let is_allowed = |cpu: usize| {
            // SAFETY: the number is within the set.
            unsafe { libc::CPU_ISSET(cpu, &allowed) }
        };
        let cpus: Vec<usize> = (0..8 * size).filter(|cpu| is_allowed(*cpu)).collect();
        if cpus.is_empty() {
            return;
        }
        // SAFETY: as above.
        let mut one: libc::cpu_set_t = unsafe { std::mem::zeroed() };
        // SAFETY: as above.
        unsafe { libc::CPU_SET(cpus[n % cpus.len()], &mut one) };
        // SAFETY: as above; the call only reads the set.
        unsafe { libc::sched_setaffinity(0, size, &raw const one) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = n;
}
