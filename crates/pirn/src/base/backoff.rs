//! How to wait for a word that another core is about to change: a bounded number of looks,
//! each after a longer pause, and then the caller must do something better (give the core
//! away, sleep).
//!
//! The pause is the machine's own (`pause` on x86-64, `isb` on aarch64: `yield` is a no-op on
//! many cores there and turns a spin into a storm of loads).

use crate::shim::hint::spin_loop;

/// One spin in progress.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    /// Looks so far.
    looks: u32,
}

impl Backoff {
    pub(crate) const fn new() -> Self {
        Backoff { looks: 0 }
    }

    /// Pauses before the next look, twice as long each time up to [`LONGEST_PAUSE`].
    /// False: the bound is reached, nothing was waited for, stop spinning.
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

/// Looks before giving up: 1 + 2 + … + 64 + 4 × 64 = 383 pauses, some 2–15 µs, well under
/// the price of a futex wake on a virtual machine (30–60 µs). Arbitrary beyond that.
const LOOKS: u32 = 11;
/// log2 of the longest pause.
const LONGEST_PAUSE: u32 = 6;
