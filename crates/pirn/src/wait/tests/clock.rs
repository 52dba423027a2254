//! The caller's random numbers and time.

use crate::Runtime;
use crate::wait::clock::{now, random_below};

fn numbers() -> Vec<usize> {
    (1..40).map(random_below).collect()
}

/// A deterministic runtime's numbers come from its seed, on all of its fibers; a plain thread's do
/// not.
#[test]
fn numbers_come_from_the_seed() {
    let of = |seed| {
        let runtime = Runtime::builder().deterministic(seed).build();
        let runtime = runtime.expect("a runtime starts");
        let first = runtime.run(numbers);
        (first, runtime.run(numbers))
    };
    assert_eq!(of(7), of(7));
    assert_ne!(of(7), of(8));
    let both = of(7);
    assert_ne!(both.0, both.1, "it goes on from fiber to fiber");
    assert_ne!(numbers(), numbers());
    assert!((1..100).all(|n| random_below(n) < n));
}

/// Outside of virtual time, the clock is the machine's.
#[test]
fn the_clock_is_real_elsewhere() {
    let before = crate::shim::now();
    let runtime = Runtime::builder().workers(1).build();
    let inside = runtime.expect("a runtime starts").run(now);
    assert!(before <= inside && inside <= now());
}
