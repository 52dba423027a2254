//! Promises of events.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pirn::Interrupt;
use pirn::sync::{Event, Mutex};
use pirn::time::now;

use crate::executor_kind::{EXECUTOR_KINDS, Jobs, alone, until};

const SHORT: Duration = Duration::from_millis(20);
const LONG: Duration = Duration::from_secs(20);

// Proves: G9.
#[test]
fn a_manual_event_lets_all_resume() {
    for workers in [1, 2, 4, 8] {
        for executor in EXECUTOR_KINDS {
            let event = Event::manual();
            let happened = AtomicUsize::new(0);
            let mut jobs = Jobs::new();
            for job in 0..40 {
                let (event, happened) = (&event, &happened);
                jobs.add(move || {
                    if job % 2 == 0 {
                        event.wait().unwrap();
                    } else {
                        assert_eq!(event.wait_timeout(LONG), Ok(true));
                    }
                    assert_eq!(happened.load(Ordering::Relaxed), 1);
                });
            }
            jobs.add(|| {
                happened.fetch_add(1, Ordering::Relaxed);
                event.set();
            });
            jobs.run(executor, workers);
            // Until it is reset.
            event.set();
            assert_eq!(event.wait(), Ok(()));
            event.reset();
            assert_eq!(event.wait_timeout(SHORT), Ok(false));
        }
    }
}

/// Reset at once, and the earlier waiters resume all the same; later ones do not.
// Proves: G9.
#[test]
fn a_manual_event_is_for_present_waiters() {
    alone(|| {
        static EVENT: Event = Event::manual();
        let (waiting, passed) = (AtomicUsize::new(0), AtomicUsize::new(0));
        pirn::scope(|s| {
            for round in 1..=3 {
                for _ in 0..50 {
                    s.spawn(|| {
                        waiting.fetch_add(1, Ordering::SeqCst);
                        EVENT.wait().unwrap();
                        passed.fetch_add(1, Ordering::SeqCst);
                    });
                }
                until(&waiting, 50 * round);
                pirn::yield_now();
                assert_eq!(passed.load(Ordering::SeqCst), 50 * (round - 1));
                EVENT.set();
                EVENT.reset();
                until(&passed, 50 * round);
            }
        });
        assert_eq!(
            format!("{EVENT:?}"),
            "Event { automatic: false, set: false, .. }"
        );
    });
}

// Proves: G9.
#[test]
fn an_automatic_event_lets_one_go_on_and_the_longest_first() {
    alone(|| {
        static EVENT: Event = Event::auto();
        let (order, waiting) = (Mutex::new(Vec::new()), AtomicUsize::new(0));
        pirn::scope(|s| {
            for place in 0..10 {
                let (order, waiting) = (&order, &waiting);
                s.spawn(move || {
                    waiting.fetch_add(1, Ordering::SeqCst);
                    EVENT.wait().unwrap();
                    order.lock().push(place);
                });
                until(waiting, place + 1);
            }
            for count in 1..=10 {
                EVENT.set();
                for _ in 0..10 {
                    pirn::yield_now();
                }
                assert!(order.lock().iter().copied().eq(0..count));
            }
        });
        // Without a waiter: kept, but only once.
        EVENT.set();
        EVENT.set();
        assert_eq!(EVENT.wait(), Ok(()));
        assert_eq!(EVENT.wait_timeout(SHORT), Ok(false));
        EVENT.set();
        EVENT.reset();
        assert_eq!(EVENT.wait_timeout(SHORT), Ok(false));
    });
}

/// Strictly alternating: each `set` ends one wait, none is lost and none counts twice.
// Proves: G9.
#[test]
fn automatic_events_pass_a_turn_to_and_fro() {
    for workers in [1, 2, 4, 8] {
        for executor in EXECUTOR_KINDS {
            let (ping, pong) = (Event::auto(), Event::auto());
            let turns = AtomicUsize::new(0);
            let mut jobs = Jobs::new();
            for me in 0..2 {
                let (ping, pong, turns) = (&ping, &pong, &turns);
                jobs.add(move || {
                    let (mine, other) = if me == 0 { (ping, pong) } else { (pong, ping) };
                    for round in 0..200 {
                        assert_eq!(mine.wait_timeout(LONG), Ok(true));
                        assert_eq!(turns.fetch_add(1, Ordering::SeqCst), 2 * round + me);
                        other.set();
                    }
                });
            }
            ping.set();
            jobs.run(executor, workers);
        }
    }
}

// Proves: G9.
#[test]
fn a_wait_that_ends_early_takes_nothing() {
    alone(|| {
        let event = Event::auto();
        let start = now();
        assert_eq!(event.wait_timeout(SHORT), Ok(false));
        assert!(now() - start >= SHORT);
        let waiting = AtomicUsize::new(0);
        pirn::scope(|s| {
            let fiber = s.spawn(|| {
                waiting.fetch_add(1, Ordering::SeqCst);
                assert_eq!(event.wait(), Err(Interrupt::Cancelled));
                // Sticky, and reported before the event, which it leaves unchanged.
                event.set();
                assert_eq!(event.wait_timeout(LONG), Err(Interrupt::Cancelled));
            });
            until(&waiting, 1);
            fiber.cancel();
            fiber.join().unwrap();
        });
        assert_eq!(event.wait_timeout(LONG), Ok(true));
    });
}
