//! The processor time of this process, as the kernel counts it.

use std::time::Duration;

/// What the process has used so far, in user and in system mode.
pub fn processor_time() -> Duration {
    // SAFETY: the structure is made of numbers; all zeros is a value of it.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is alive for the call.
    let failed = unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) };
    assert_eq!(failed, 0, "the process may ask about itself");
    let time = |time: libc::timeval| {
        Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1000)
    };
    time(usage.ru_utime) + time(usage.ru_stime)
}
