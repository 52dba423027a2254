//! Linux: a thread that has used little processor time for a while, and is not waiting for a
//! processor, waits for something else. Little, since code that blocks looks around now and
//! then, or makes many calls that block for a short time each.
//!
//! The clock comes first, since it is cheap (a fraction of a microsecond); the state, from
//! `/proc`, tells one that waits from one that others keep off the processor.

use std::fs;
use std::mem::MaybeUninit;

use crate::shim::atomic::{AtomicU64, Ordering};

/// How to ask about one thread, once that has introduced itself.
#[derive(Debug)]
pub(crate) struct ThreadProbe {
    /// The number of the thread's clock in the upper half, of the thread in the lower; 0
    /// before that. Written by the thread.
    thread: AtomicU64,
    /// The processor time that the thread had used when it was asked for last, and when that
    /// was. Only whoever asks writes and reads them.
    spent: AtomicU64,
    asked: AtomicU64,
}

impl ThreadProbe {
    pub(crate) fn new() -> ThreadProbe {
        ThreadProbe {
            thread: AtomicU64::new(0),
            spent: AtomicU64::new(0),
            asked: AtomicU64::new(0),
        }
    }

    /// Has questions be about the calling thread.
    pub(crate) fn introduce(&self) {
        let mut clock = MaybeUninit::uninit();
        // SAFETY: names the calling thread.
        let own = unsafe { libc::pthread_self() };
        // SAFETY: the handle is of a thread that lives, and the pointer is valid.
        let failed = unsafe { libc::pthread_getcpuclockid(own, clock.as_mut_ptr()) };
        if failed == 0 {
            // SAFETY: written by the call above.
            let clock: libc::clockid_t = unsafe { clock.assume_init() };
            // SAFETY: a system call without arguments.
            let thread = unsafe { libc::gettid() };
            let both = u64::from(clock.cast_unsigned()) << 32
                | u64::from(thread.cast_unsigned());
            self.thread.store(both, Ordering::Relaxed);
        }
    }

    /// Whether the thread has waited, for anything but a processor, for most of the time since
    /// the last question, and does so now (in nanoseconds). One party at a time. False if nothing is known, or
    /// the last question was long ago.
    pub(crate) fn waits(&self, now: u64) -> bool {
        let both = self.thread.load(Ordering::Relaxed);
        let (clock, thread) = ((both >> 32) as u32, both as u32);
        let Some(spent) = processor_time(clock.cast_signed()).filter(|_| both != 0)
        else {
            return false;
        };
        let before = self.spent.swap(spent, Ordering::Relaxed);
        let since = now - self.asked.swap(now, Ordering::Relaxed);
        since < LONG_AGO && (spent - before) * SHARE < since && is_waiting(thread)
    }
}

/// A thread that has used this part of the time, or more, computes. Arbitrary.
const SHARE: u64 = 4;

/// Nanoseconds after which a question says nothing any more about now. Arbitrary: some times
/// longer than between two of the monitor's looks at a worker that seems stuck.
const LONG_AGO: u64 = 50_000_000;

/// Nanoseconds that the thread of this clock has used; `None` if it has ended.
fn processor_time(clock: libc::clockid_t) -> Option<u64> {
    let mut spent = MaybeUninit::uninit();
    // SAFETY: the pointer is valid; a clock of a thread that has ended is an error.
    if unsafe { libc::clock_gettime(clock, spent.as_mut_ptr()) } != 0 {
        return None;
    }
    // SAFETY: written by the call above.
    let spent: libc::timespec = unsafe { spent.assume_init() };
    Some(spent.tv_sec as u64 * 1_000_000_000 + spent.tv_nsec as u64)
}

/// Whether the system lists the thread as neither running nor waiting for a processor.
fn is_waiting(thread: u32) -> bool {
    let Ok(stat) = fs::read(format!("/proc/self/task/{thread}/stat")) else {
        return false;
    };
    // The name may contain anything; the state is the second byte after its end.
    let name_end = stat.iter().rposition(|byte| *byte == b')');
    let state = name_end.and_then(|end| stat.get(end + 2));
    matches!(state, Some(b'S' | b'D'))
}
