//! Linux: a thread that has used little processor time for a while, and is not waiting for a
//! processor, waits for something else. The limit is not zero, since code that blocks may check
//! something now and then, or make many calls that block for a short time each. Between two such
//! calls the thread may wait for a processor, on a busy machine for as long as it blocks.
//!
//! The clock comes first, since it is cheap (a fraction of a microsecond). The state, from `/proc`,
//! distinguishes a thread that waits from one that has no processor.

use std::fs::{self, File};
use std::io::{Read, Write};

use super::Activity;
use crate::shim::atomic::{AtomicU64, Ordering};
use crate::sys::calls;

/// A probe of one thread, after that thread has called `introduce`.
#[derive(Debug)]
pub(crate) struct ThreadProbe {
    /// The number of the thread's clock in the upper half, of the thread in the lower; 0 before
    /// `introduce`. Written by the thread.
    thread: AtomicU64,
    /// The thread's processor time at the last call of `waits`, and the time of that call. Only the
    /// caller of `waits` reads and writes them.
    spent: AtomicU64,
    asked: AtomicU64,
    /// The time of the last call of `waits` at which the system listed the thread as waiting.
    listed: AtomicU64,
}

impl ThreadProbe {
    pub(crate) fn new() -> ThreadProbe {
        ThreadProbe {
            thread: AtomicU64::new(0),
            spent: AtomicU64::new(0),
            asked: AtomicU64::new(0),
            listed: AtomicU64::new(0),
        }
    }

    /// Makes the calling thread the subject of the probe.
    pub(crate) fn introduce(&self) {
        if let Some(clock) = calls::thread_clock() {
            let both =
                u64::from(clock.cast_unsigned()) << 32 | u64::from(calls::gettid());
            self.thread.store(both, Ordering::Relaxed);
        }
    }

    /// Returns true if the thread has used less than one part in `SHARE` of the time since the last
    /// call, and the system lists it as waiting; or has done so lately, if the last call returned
    /// true (`waited`). Times are in nanoseconds. One caller at a time. False if nothing is known,
    /// or the last call was long ago.
    pub(crate) fn waits(&self, now: u64, waited: bool) -> bool {
        let both = self.thread.load(Ordering::Relaxed);
        let Some(spent) = self.processor_time() else {
            return false;
        };
        let before = self.spent.swap(spent, Ordering::Relaxed);
        let since = now - self.asked.swap(now, Ordering::Relaxed);
        if since >= LONG_AGO || (spent - before) * SHARE >= since {
            return false;
        }
        if is_waiting(both as u32) {
            self.listed.store(now, Ordering::Relaxed);
            return true;
        }
        waited && now - self.listed.load(Ordering::Relaxed) < LONG_AGO
    }

    /// Returns the processor time of the thread in nanoseconds; `None` if it is not known.
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

    /// Returns the number of the system call that the thread waits in. `None` if it waits in none,
    /// or the system does not say, as is common.
    pub(crate) fn call(&self) -> Option<u64> {
        let path = format!("/proc/self/task/{}/syscall", self.number()?);
        let said = fs::read_to_string(path).ok()?;
        said.split(' ').next()?.parse().ok()
    }

    /// Returns the system's number of the thread; `None` if it is not known.
    pub(crate) fn number(&self) -> Option<u32> {
        let thread = self.thread.load(Ordering::Relaxed) as u32;
        (thread != 0).then_some(thread)
    }
}

/// A thread that has used at least this part of the time (one in `SHARE`) computes. Arbitrary.
const SHARE: u64 = 4;

/// Nanoseconds after which a call says nothing about the present. Arbitrary: several times
/// the interval between two looks of the monitor at a worker that seems stuck.
const LONG_AGO: u64 = 50_000_000;

/// Returns the processor time of this clock's thread in nanoseconds; `None` if it has ended.
fn processor_time(clock: libc::clockid_t) -> Option<u64> {
    let spent = calls::clock_gettime(clock).ok()?;
    Some(spent.tv_sec as u64 * 1_000_000_000 + spent.tv_nsec as u64)
}

/// Returns whether the system lists the thread as neither running nor waiting for a processor.
fn is_waiting(thread: u32) -> bool {
    matches!(state(thread), Some(b'S' | b'D'))
}

/// Returns the letter for the thread's state in the system's list.
fn state(thread: u32) -> Option<u8> {
    // Neither the path nor the text is allocated: the monitor may call this often.
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
