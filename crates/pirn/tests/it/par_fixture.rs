//! Utilities for tests of `pirn::par`: lengths, cuts, work that takes a while, and work that
//! panics.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use pirn::par::Split;

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

/// Checks that a run has these items, whole and cut at every place.
#[track_caller]
pub(crate) fn check_cuts<S: Split>(make: impl Fn() -> S, expected: &[S::Item])
where
    S::Item: PartialEq + std::fmt::Debug,
{
    assert_eq!(make().len(), expected.len());
    assert_eq!(make().is_empty(), expected.is_empty());
    for at in 0..=expected.len() {
        let (left, right) = make().split_at(at);
        assert_eq!((left.len(), right.len()), (at, expected.len() - at));
        let (mut some, mut others) = (Vec::new(), Vec::new());
        left.each(|item| some.push(item));
        others.extend(right.items());
        assert_eq!((&some[..], &others[..]), expected.split_at(at));
    }
    let parts: Vec<_> = make().parts().items().collect();
    assert_eq!(parts, expected);
    let (left, right) = make().parts().split_at(expected.len() / 2);
    let parts: Vec<_> = left.items().chain(right.items()).collect();
    assert_eq!(parts, expected);
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
