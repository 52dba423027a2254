//! What the tests of `pirn::par` share: numbers, lengths, and work that takes a while.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::rig::scaled;

/// Numbers that look like chance, the same each time.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Less than `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    pub(crate) fn many(&mut self, n: usize) -> Vec<u64> {
        (0..n).map(|_| self.next() >> 40).collect()
    }
}

/// Lengths at which something may go wrong, and some others.
pub(crate) fn lengths() -> Vec<usize> {
    let mut numbers = Numbers(1);
    let mut lengths = vec![0, 1, 2, 3, 31, 32, 33, 63, 64, 65, 127, 4095, 4096, 4097];
    lengths.extend((0..6).map(|_| numbers.below(1_000)));
    lengths.extend((0..3).map(|_| numbers.below(scaled(200_000))));
    lengths.push(scaled(300_001));
    lengths
}

/// Computes for so long.
pub(crate) fn compute(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// Panics at the call whose number is drawn.
pub(crate) struct Bomb {
    calls: AtomicUsize,
    last: usize,
}

impl Bomb {
    pub(crate) fn after(calls: usize) -> Bomb {
        Bomb {
            calls: AtomicUsize::new(0),
            last: calls,
        }
    }

    pub(crate) fn tick(&self) {
        if self.calls.fetch_add(1, Ordering::SeqCst) == self.last {
            std::panic::resume_unwind(Box::new("boom"));
        }
    }
}
