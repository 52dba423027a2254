//! Utilities for tests of `pirn::par`: lengths, work that takes a while, and work that panics.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::util::{Dice, scaled};

/// Critical lengths, and some others.
pub(crate) fn lengths() -> Vec<usize> {
    let mut dice = Dice(1);
    let mut lengths = vec![0, 1, 2, 3, 31, 32, 33, 63, 64, 65, 127, 4095, 4096, 4097];
    lengths.extend((0..6).map(|_| dice.below(1_000)));
    lengths.extend((0..3).map(|_| dice.below(scaled(200_000))));
    lengths.push(scaled(300_001));
    lengths
}

/// Computes for a duration.
pub(crate) fn compute(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// Panics at the call with the drawn number.
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
