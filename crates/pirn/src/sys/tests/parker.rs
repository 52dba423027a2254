//! The parker on the machine.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::shim::{self, thread};
use crate::sys::parker::Parker;

// Proves: Q3, Q3 (portable).
#[test]
fn a_token_left_behind_lets_the_next_park_pass() {
    let parker = Parker::new();
    parker.unpark();
    parker.unpark();
    parker.park();
    assert!(!parker.park_until(shim::now()), "two unparks are one token");
    parker.unpark();
    assert!(
        parker.park_until(shim::now()),
        "a token counts even at the deadline"
    );
}

// Proves: Q3, Q3 (portable).
#[test]
fn the_deadline_ends_the_wait() {
    let parker = Parker::new();
    for wait in [
        Duration::ZERO,
        Duration::from_micros(300),
        Duration::from_millis(20),
    ] {
        let start = shim::now();
        assert!(!parker.park_until(start + wait));
        assert!(shim::now() - start >= wait, "too early for {wait:?}");
    }
    assert!(
        !parker.park_until(shim::now() - Duration::from_secs(1)),
        "in the past"
    );
}

// Proves: C7, Q3, Q3 (portable).
#[test]
fn ping_pong_loses_no_token() {
    const ROUNDS: u32 = 10_000;
    let table = Arc::new((Parker::new(), Parker::new(), AtomicU32::new(0)));
    let other = Arc::clone(&table);
    let pong = thread::spawn("pong".into(), move || {
        for round in 0..ROUNDS {
            other.1.park();
            assert_eq!(other.2.load(Ordering::Relaxed), 2 * round + 1);
            other.2.store(2 * round + 2, Ordering::Relaxed);
            other.0.unpark();
        }
    })
    .expect("a thread");
    for round in 0..ROUNDS {
        table.2.store(2 * round + 1, Ordering::Relaxed);
        table.1.unpark();
        let woken = table.0.park_until(shim::now() + Duration::from_secs(10));
        assert!(woken, "a token was lost in round {round}");
        assert_eq!(table.2.load(Ordering::Relaxed), 2 * round + 2);
    }
    pong.join().expect("pong does not panic");
}

#[test]
#[cfg(all(target_os = "linux", not(pirn_condvar)))]
fn a_parker_is_four_bytes() {
    assert_eq!(size_of::<Parker>(), 4);
}
