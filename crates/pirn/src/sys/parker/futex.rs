//! A thread sleeps on the word itself: Linux's private futex.

use std::time::{Duration, Instant};

use crate::shim;
use crate::shim::atomic::AtomicU32;
use crate::sys::calls;

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
        // The kernel measures it on the monotonic clock, as `shim::now` does.
        let left = deadline.map(|at| at.saturating_duration_since(shim::now()));
        if left == Some(Duration::ZERO) {
            return false;
        }
        // All results (woken, EAGAIN, EINTR, ETIMEDOUT) mean the same: check again.
        calls::futex_wait(word, expected, left);
        deadline.is_none_or(|at| shim::now() < at)
    }

    /// Wakes the thread that sleeps on `word`, if one does.
    pub(crate) fn wake(&self, word: &AtomicU32) {
        calls::futex_wake(word, 1);
    }
}
