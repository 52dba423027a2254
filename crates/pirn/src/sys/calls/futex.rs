//! Linux: the private futex of a word.

use std::mem;
use std::ptr;
use std::time::Duration;

use crate::shim::atomic::AtomicU32;

/// Sleeps while `word` is `expected`, until a wake or for this time, or without a reason.
#[inline(always)]
pub(in crate::sys) fn futex_wait(
    word: &AtomicU32,
    expected: u32,
    timeout: Option<Duration>,
) {
    let timeout = timeout.map(timespec);
    let timeout_ptr = timeout.as_ref().map_or(ptr::null(), ptr::from_ref);
    // SAFETY: the word and the timeout outlive the call; FUTEX_WAIT only reads both.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
            expected,
            timeout_ptr,
        );
    }
}

/// Wakes as many threads that sleep on `word`, if they do.
#[inline(always)]
pub(in crate::sys) fn futex_wake(word: &AtomicU32, threads: i32) {
    // SAFETY: FUTEX_WAKE uses the address as a key and reads nothing there.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
            threads,
        );
    }
}

/// Converts to a relative timeout, which the kernel measures on the monotonic clock.
#[inline(always)]
fn timespec(left: Duration) -> libc::timespec {
    // SAFETY: all-zero bytes are a valid timespec; some targets have padding fields.
    let mut spec: libc::timespec = unsafe { mem::zeroed() };
    spec.tv_sec = libc::time_t::try_from(left.as_secs()).unwrap_or(libc::time_t::MAX);
    spec.tv_nsec = left.subsec_nanos() as libc::c_long;
    spec
}
