//! Linux: a thread that has used little processor time for a while, and is not waiting for a
//! processor, waits for something else. Little, since code that blocks looks around now and
//! then, or makes many calls that block for a short time each.
//!
//! The clock comes first, since it is cheap (a fraction of a microsecond); the state, from
//! `/proc`, tells one that waits from one that others keep off the processor.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::mem::MaybeUninit;

use super::Activity;
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
        let Some(spent) = self.processor_time() else {
            return false;
        };
        let thread = both as u32;
        let before = self.spent.swap(spent, Ordering::Relaxed);
        let since = now - self.asked.swap(now, Ordering::Relaxed);
        since < LONG_AGO && (spent - before) * SHARE < since && is_waiting(thread)
    }

    /// Nanoseconds of processor time that the thread has used; `None` if nothing is known.
    pub(crate) fn processor_time(&self) -> Option<u64> {
        let both = self.thread.load(Ordering::Relaxed);
        let clock = (both >> 32) as u32;
        processor_time(clock.cast_signed()).filter(|_| both != 0)
    }

    /// Returns the state of the thread; `None` if it is not known.
    pub(crate) fn activity(&self) -> Option<Activity> {
        match state(self.number()?)? {
            b'S' | b'D' => Some(Activity::Waits),
            b'R' => Some(Activity::Runs),
            _ => Some(Activity::Stopped),
        }
    }

    /// The number of the system call that the thread waits in; `None` if it waits in none, or
    /// the system does not say, as many do not.
    pub(crate) fn call(&self) -> Option<u64> {
        let path = format!("/proc/self/task/{}/syscall", self.number()?);
        let said = fs::read_to_string(path).ok()?;
        said.split(' ').next()?.parse().ok()
    }

    /// The number of the thread, as the system counts threads; `None` if it is not known.
    pub(crate) fn number(&self) -> Option<u32> {
        let thread = self.thread.load(Ordering::Relaxed) as u32;
        (thread != 0).then_some(thread)
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
    matches!(state(thread), Some(b'S' | b'D'))
}

/// The letter by which the system lists the thread.
fn state(thread: u32) -> Option<u8> {
    // Neither the path nor the text is allocated: the monitor may ask over and over.
    let mut path = [0; 64];
    let mut rest = &mut path[..];
    write!(rest, "/proc/self/task/{thread}/stat").ok()?;
    let len = 64 - rest.len();
    let path = str::from_utf8(&path[..len]).ok()?;
    let mut text = [0; 128];
    let len = File::open(path).ok()?.read(&mut text).ok()?;
    let stat = &text[..len];
    // The name may contain anything; the state is the second byte after its end.
    let name_end = stat.iter().rposition(|byte| *byte == b')');
    name_end.and_then(|end| stat.get(end + 2)).copied()
}
