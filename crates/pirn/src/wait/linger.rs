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

const LOOKS: u32 = 6;

const YIELDS: u32 = 4;
