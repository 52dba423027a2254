//! A thread sleeps on the word itself: Linux's private futex.

use std::mem;
use std::ptr;
use std::time::{Duration, Instant};

use crate::shim;
use crate::shim::atomic::AtomicU32;

/// Empty: the kernel keeps the sleepers, keyed by the address of the word.
#[derive(Debug)]
pub(crate) struct ThreadSleep;

impl ThreadSleep {
    pub(crate) const fn new() -> Self {
        ThreadSleep
    }

    /// Sleeps while `word` is `expected`, until woken or the deadline, or without a reason. False:
    /// the deadline has passed.
    pub(crate) fn sleep(
        &self,
        word: &AtomicU32,
        expected: u32,
        deadline: Option<Instant>,
    ) -> bool {
        let left = deadline.map(|at| at.saturating_duration_since(shim::now()));
        if left == Some(Duration::ZERO) {
            return false;
        }
        let timeout = left.map(timespec);
        let timeout_ptr = timeout.as_ref().map_or(ptr::null(), ptr::from_ref);
        // SAFETY: the word and the timeout outlive the call; FUTEX_WAIT only reads both. All
        // results (woken, EAGAIN, EINTR, ETIMEDOUT) mean the same: check again.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                word.as_ptr(),
                libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
                expected,
                timeout_ptr,
            );
        }
        deadline.is_none_or(|at| shim::now() < at)
    }

    /// Wakes the thread that sleeps on `word`, if one does.
    pub(crate) fn wake(&self, word: &AtomicU32) {
        // SAFETY: FUTEX_WAKE uses the address as a key and reads nothing there.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                word.as_ptr(),
                libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
                1_i32,
            );
        }
    }
}

/// Converts to a relative timeout, which the kernel measures on the monotonic clock, as `shim::now`
/// does.
fn timespec(left: Duration) -> libc::timespec {
    // SAFETY: all-zero bytes are a valid timespec; some targets have padding fields.
    let mut spec: libc::timespec = unsafe { mem::zeroed() };
    spec.tv_sec = libc::time_t::try_from(left.as_secs()).unwrap_or(libc::time_t::MAX);
    spec.tv_nsec = left.subsec_nanos() as libc::c_long;
    spec
}
