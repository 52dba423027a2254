//! Looking around before sleeping: plain threads only.
//!
//! Putting a thread to sleep and waking it costs tens of microseconds and, with more threads
//! than processors, a sleeper for each message. So a thread that would have to wait watches
//! for a moment, then gives its processor away a few times to whoever will make the thing
//! ready, and sleeps only after that. A fiber never does: its worker has others to run, and
//! spins by itself when there are none (`sched::rest`).

use crate::base::backoff::Backoff;
use crate::fiber::current;
use crate::shim;

/// Whether the caller does so: it is a plain thread.
#[inline]
pub(crate) fn lingers() -> bool {
    shim::WATCHING_PAYS && current::local().fiber().is_none()
}

/// Watches for a little until `ready`.
#[cold]
pub(crate) fn linger(ready: impl Fn() -> bool) {
    let mut backoff = Backoff::new();
    for _ in 0..LOOKS {
        if ready() {
            return;
        }
        backoff.pause();
    }
    for _ in 0..YIELDS {
        if ready() {
            return;
        }
        shim::thread::yield_now();
    }
}

/// Looks, after 1, 2, 4 … 64 and 128 pauses: a few microseconds in all. With 6, two threads that
/// answer each other through a buffer of one slept between values; with 11 a crowd on few
/// cores was slower. Measured on two cores, `threads-*` of the benchmarks.
const LOOKS: u32 = 8;

/// Times that the processor is given away after that. Measured with the above.
const YIELDS: u32 = 10;
