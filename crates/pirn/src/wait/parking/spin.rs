//! Spinning before sleeping: plain threads only.
//!
//! Putting a thread to sleep and waking it costs tens of microseconds and, with more threads than
//! processors, one sleep for each message. So a thread that would have to wait spins briefly, then
//! yields its processor a few times to other threads, and sleeps only after that. A fiber never
//! spins here: its worker has others to run, and spins itself when there are none
//! (`sched::worker::park`).

use crate::base::backoff::Backoff;
use crate::fiber::current;
use crate::shim;

/// Returns true if the caller may spin: it is a plain thread.
#[inline]
pub(crate) fn may_spin() -> bool {
    shim::WATCHING_PAYS && current::local().fiber().is_none()
}

/// Spins briefly until `ready`.
#[cold]
pub(crate) fn spin_before_park(ready: impl Fn() -> bool) {
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

/// The number of checks, after 1, 2, 4 … 64 and 128 pauses: a few microseconds in all. With 6, two
/// threads that answer each other through a buffer of one slept between values. With 11, many
/// threads on few cores were slower. Measured on two cores, `threads-*` of the benchmarks.
const LOOKS: u32 = 8;

/// The number of yields after that. Measured with the above.
const YIELDS: u32 = 10;
