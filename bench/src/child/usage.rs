//! Processor time, as the kernel counts it.

use std::time::Duration;

/// Returns the time of the process so far, in user and in system mode.
pub fn processor_time() -> Duration {
    read(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// Returns the time of the calling thread so far, in user and in system mode.
pub fn thread_time() -> Duration {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// To the nanosecond: `getrusage` lags behind by up to a tick.
fn read(clock: libc::clockid_t) -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is alive for the call.
    let failed = unsafe { libc::clock_gettime(clock, &mut time) };
    assert_eq!(failed, 0, "the process may ask about itself");
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
