//! Waits for a word that another core is about to change: a bounded number of checks, each after a
//! longer pause. Then the caller must yield the core, or sleep.
//!
//! The pause is the processor's own instruction (`pause` on x86-64, `isb` on aarch64: `yield` does
//! nothing on many cores there and turns a spin into a storm of loads).

use crate::shim::hint::spin_loop;

/// One spin in progress.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    /// Checks so far.
    looks: u32,
}

impl Backoff {
    pub(crate) const fn new() -> Self {
        Backoff { looks: 0 }
    }

    /// Pauses before the next check, twice as long each time up to [`LONGEST_PAUSE`]. False: the
    /// bound is reached, and this call has not paused; stop spinning.
    #[inline]
    pub(crate) fn pause(&mut self) -> bool {
        if self.looks >= LOOKS {
            return false;
        }
        for _ in 0..(1_u32 << self.looks.min(LONGEST_PAUSE)) {
            spin_loop();
        }
        self.looks += 1;
        true
    }
}

/// Checks before giving up: 1 + 2 + … + 64 + 4 × 64 = 383 pauses, some 2–15 µs, well under the
/// price of a futex wake on a virtual machine (30–60 µs). Arbitrary beyond that.
const LOOKS: u32 = 11;
/// log2 of the longest pause.
const LONGEST_PAUSE: u32 = 6;
