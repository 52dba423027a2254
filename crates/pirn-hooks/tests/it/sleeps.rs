//! Sleeps.

use std::thread;
use std::time::{Duration, Instant};

use pirn::cancel::Token;
use pirn_hooks::within;

use crate::fixture::{on_one_worker, one_worker};
use crate::raw;

// Proves: T1.
#[test]
fn sleeps_of_std_pass_at_the_same_time() {
    const LONG: Duration = Duration::from_millis(200);
    let start = Instant::now();
    one_worker().run(|| {
        pirn::scope(|s| {
            for _ in 0..50 {
                s.spawn(|| {
                    let start = Instant::now();
                    within(|| thread::sleep(LONG));
                    assert!(start.elapsed() >= LONG);
                });
            }
        });
    });
    // One after the other they take 10 s.
    assert!(
        start.elapsed() < Duration::from_secs(5),
        "{:?}",
        start.elapsed()
    );
}

// Proves: T6.
#[test]
fn a_cancellation_ends_a_sleep() {
    on_one_worker(|| {
        let token = Token::new();
        let inner = token.clone();
        let sleeper = pirn::spawn(move || {
            inner.enter(|| within(|| thread::sleep(Duration::from_secs(3_600))));
        });
        pirn::yield_now();
        token.cancel();
        sleeper.join().unwrap();
    });
}

// Proves: T6.
#[test]
fn a_deadline_ends_a_sleep() {
    on_one_worker(|| {
        let limit = Duration::from_millis(5);
        let slept = pirn::timeout(limit, || thread::sleep(Duration::from_secs(3_600)));
        assert!(slept.is_err());
    });
}

// Proves: T6.
#[test]
fn sleep_returns_the_seconds_that_are_left() {
    on_one_worker(|| {
        let limit = Duration::from_millis(5);
        let mut left = 0;
        let _ = pirn::timeout(limit, || left = raw::sleep(100));
        assert!((50..100).contains(&left), "{left}");
    });
}

// Proves: T1.
#[test]
fn other_sleeps_wait_as_long_as_they_should() {
    on_one_worker(|| {
        for sleep in [raw::usleep, raw::nanosleep, raw::sleep_until_monotonic] {
            let start = Instant::now();
            assert_eq!(sleep(3_000), 0);
            assert!(start.elapsed() >= Duration::from_millis(3));
        }
    });
}
