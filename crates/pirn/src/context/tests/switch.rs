//! The switch: it comes back, keeps what the calling convention says, and ends cleanly.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::ride::{Ride, pool};

#[test]
fn a_million_switches_come_back() {
    const ROUNDS: usize = 1_000_000;
    let pool = pool(8);
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let mut ride = Ride::new(pool.take().unwrap(), move |sides| {
        for _ in 0..ROUNDS {
            counted.fetch_add(1, Ordering::Relaxed);
            sides.pause();
        }
    });
    for round in 1..=ROUNDS {
        assert!(ride.resume());
        assert_eq!(count.load(Ordering::Relaxed), round);
    }
    assert!(!ride.resume());
}
