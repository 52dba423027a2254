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

/// A deadline that has passed leaves the parker as if there had been no wait.
// Proves: Q3, Q3 (portable).
#[test]
fn tokens_count_after_a_deadline() {
    let parker = Parker::new();
    for _ in 0..3 {
        assert!(!parker.park_until(shim::now() + Duration::from_micros(300)));
        assert!(!parker.is_parked(), "it sleeps no more");
        parker.unpark();
        assert!(parker.park_until(shim::now()), "a token after a deadline");
        assert!(!parker.park_until(shim::now()), "one token");
    }
}

/// A parked thread leaves its processor to others, with a deadline and without.
// Proves: Q3, Q3 (portable).
#[cfg(target_os = "linux")]
#[test]
fn a_parked_thread_uses_no_processor() {
    const WAIT: Duration = Duration::from_millis(200);
    let own_time = || {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat");
        let text = text.expect("the time of this thread");
        let nanos = text.split(' ').next().expect("a number").parse();
        Duration::from_nanos(nanos.expect("a number"))
    };
    let parker = Arc::new(Parker::new());
    let before = own_time();
    assert!(!parker.park_until(shim::now() + WAIT));
    let timed = own_time() - before;
    let waker = Arc::clone(&parker);
    let waker = thread::spawn("waker".into(), move || {
        assert!(!Parker::new().park_until(shim::now() + WAIT));
        waker.unpark();
    });
    let before = own_time();
    parker.park();
    let untimed = own_time() - before;
    waker.expect("a thread").join().expect("it does not panic");
    // A tenth of what a loop takes that has half of the processor.
    let most = WAIT / 20;
    assert!(timed < most && untimed < most, "{timed:?}, {untimed:?}");
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
