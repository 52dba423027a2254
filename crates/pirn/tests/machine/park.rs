//! Park and unpark: the token of `std::thread`, on fibers and threads alike.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use pirn::spawn::{Fiber, park_interruptible, park_timeout};
use pirn::time::now;
use pirn::{Interrupt, channel, park};

use crate::executor_kind::{EXECUTOR_KINDS, Jobs, alone, runtime, until};
use crate::util::{LONG, eventually, on_every_shape, scaled};

const SHORT: Duration = Duration::from_millis(10);

/// F8. A token that was given before is consumed at once; two tokens merge into one.
// Proves: F7.
#[test]
fn an_earlier_token_is_consumed_and_tokens_do_not_add_up() {
    for executor in EXECUTOR_KINDS {
        let mut jobs = Jobs::new();
        for _ in 0..2 {
            jobs.add(|| {
                let me = pirn::current();
                me.unpark();
                park();
                me.unpark();
                me.unpark();
                park();
                let start = now();
                park_timeout(SHORT);
                assert!(now() - start >= SHORT, "there was a second token");
            });
        }
        jobs.run(executor, 2);
    }
}

/// A token given to a queued fiber, before its start or after a yield, is kept.
// Proves: F8.
#[test]
fn a_token_for_a_queued_fiber_is_kept() {
    alone(|| {
        let fresh = pirn::spawn(|| {
            park();
            pirn::yield_now();
            park();
        });
        fresh.fiber().unpark();
        pirn::yield_now();
        // It has parked once and is queued behind its yield.
        assert!(!fresh.is_finished());
        fresh.fiber().unpark();
        fresh.join().unwrap();
    });
}

/// An unpark of an ended fiber has no effect, however late and however often.
// Proves: F8.
#[test]
fn unparking_a_finished_fiber_does_nothing() {
    alone(|| {
        let ended = pirn::spawn(|| ());
        let fiber = ended.fiber().clone();
        ended.join().unwrap();
        for _ in 0..1_000 {
            fiber.unpark();
            // If the header had been reused by now, the new fiber would have the token.
            let start = now();
            let next = pirn::spawn(|| park_timeout(Duration::from_micros(100)));
            next.join().unwrap();
            assert!(now() - start >= Duration::from_micros(100));
        }
    });
}

/// `park_timeout` waits for its limit, and not at all if there is a token.
// Proves: F7.
#[test]
fn a_park_with_a_limit() {
    for executor in EXECUTOR_KINDS {
        let mut jobs = Jobs::new();
        for _ in 0..2 {
            jobs.add(|| {
                let start = now();
                park_timeout(SHORT);
                assert!(now() - start >= SHORT);
                park_timeout(Duration::ZERO);
                pirn::current().unpark();
                let start = now();
                park_timeout(LONG);
                assert!(now() - start < LONG / 2);
                pirn::current().unpark();
                park_timeout(Duration::MAX);
            });
        }
        jobs.run(executor, 2);
    }
}

/// A token is for `park` alone: no other wait consumes it or is ended by it.
// Proves: F7.
#[test]
fn other_waits_leave_the_token_alone() {
    for executor in EXECUTOR_KINDS {
        let mut jobs = Jobs::new();
        for _ in 0..2 {
            jobs.add(|| {
                let me = pirn::current();
                me.unpark();
                let start = now();
                pirn::sleep(SHORT).unwrap();
                assert!(now() - start >= SHORT, "a sleep ended by the token");
                let (tx, rx) = channel::bounded(0);
                let sender = std::thread::spawn(move || tx.send(1));
                assert_eq!(rx.recv(), Ok(1));
                sender.join().unwrap().unwrap();
                let mut sum = 0;
                pirn::scope(|s| drop(s.spawn(|| sum += 1)));
                let start = now();
                park();
                assert!(now() - start < LONG / 2);
            });
        }
        jobs.run(executor, 2);
    }
}

/// Writes before an `unpark` are visible after the `park` that it ends.
// Proves: F7.
#[test]
fn a_token_carries_what_came_before() {
    on_every_shape(|runtime| {
        runtime.run(|| {
            for round in 0..scaled(500) {
                let data = Arc::new(AtomicUsize::new(0));
                let seen = Arc::clone(&data);
                let waiter = pirn::spawn(move || {
                    park();
                    seen.load(Ordering::Relaxed)
                });
                data.store(round + 1, Ordering::Relaxed);
                waiter.fiber().unpark();
                assert_eq!(waiter.join().unwrap(), round + 1);
            }
        });
    });
}

/// Any thread, and any fiber of any runtime, may unpark any fiber, about to park or parked. Each
/// does so alone: the one token that it gives must arrive.
// Proves: F10, Q3 (portable).
#[test]
fn unpark_comes_from_anywhere() {
    let (first, second) = (runtime(1), runtime(2));
    let by_a_thread = |fiber: &Fiber| {
        std::thread::scope(|threads| drop(threads.spawn(|| fiber.unpark())));
    };
    let by_the_first = |fiber: &Fiber| first.run(|| fiber.unpark());
    let by_the_second = |fiber: &Fiber| second.run(|| fiber.unpark());
    let unparkers: [&dyn Fn(&Fiber); 3] = [&by_a_thread, &by_the_first, &by_the_second];
    for round in 0..50 {
        for home in [&first, &second] {
            for unpark in unparkers {
                let parks = || home.metrics().total.fiber_parks;
                let before = parks();
                let parked = home.spawn(park);
                if round % 2 == 0 {
                    eventually("it parks", || parks() > before);
                }
                unpark(parked.fiber());
                parked.join().unwrap();
            }
        }
    }
}

/// Threads park and are unparked by fibers.
// Proves: F7.
#[test]
fn a_thread_parks_and_a_fiber_unparks_it() {
    let runtime = runtime(1);
    let (tx, rx) = channel::bounded(1);
    let thread = std::thread::spawn(move || {
        tx.send(pirn::current()).unwrap();
        for _ in 0..100 {
            park();
        }
    });
    let target = rx.recv().unwrap();
    runtime.run(|| {
        while !thread.is_finished() {
            target.unpark();
            pirn::yield_now();
        }
    });
    thread.join().unwrap();
}

/// F3, F4. Two parties pass a turn back and forth, each time through the same window between the
/// decision to park and the parked state.
// Proves: F2.
#[test]
fn turns_are_handed_back_and_forth() {
    let rounds = scaled(10_000);
    for executor in EXECUTOR_KINDS {
        let turn = AtomicUsize::new(0);
        let (to_first, from_second) = channel::bounded::<Fiber>(1);
        let (to_second, from_first) = channel::bounded::<Fiber>(1);
        let play = |mine: usize, other: Fiber| {
            for round in 0..rounds {
                while turn.load(Ordering::Acquire) != 2 * round + mine {
                    park();
                }
                turn.store(2 * round + mine + 1, Ordering::Release);
                other.unpark();
            }
        };
        let mut jobs = Jobs::new();
        jobs.add(|| {
            to_second.send(pirn::current()).unwrap();
            play(0, from_second.recv().unwrap());
        });
        jobs.add(|| {
            to_first.send(pirn::current()).unwrap();
            play(1, from_first.recv().unwrap());
        });
        jobs.run(executor, 2);
        assert_eq!(turn.into_inner(), 2 * rounds);
    }
}

/// F6. A cancelled park leaves the token in place; a token leaves the cancellation in place.
#[test]
fn an_interrupted_park_keeps_the_token() {
    alone(|| {
        let go = Arc::new(AtomicUsize::new(0));
        let started = Arc::clone(&go);
        let fiber = pirn::spawn(move || {
            started.fetch_add(1, Ordering::SeqCst);
            until(&started, 2);
            assert_eq!(park_interruptible(), Err(Interrupt::Cancelled));
            park();
            assert_eq!(park_interruptible(), Err(Interrupt::Cancelled));
        });
        until(&go, 1);
        fiber.cancel();
        fiber.fiber().unpark();
        go.fetch_add(1, Ordering::SeqCst);
        fiber.join().unwrap();
    });
}

/// Plain `park` is no interruption point: a cancelled fiber waits for its token.
#[test]
fn plain_park_is_not_interrupted() {
    alone(|| {
        let woke = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&woke);
        let fiber = pirn::spawn(move || {
            park();
            flag.store(true, Ordering::SeqCst);
        });
        pirn::yield_now();
        fiber.cancel();
        (0..100).for_each(|_| pirn::yield_now());
        assert!(!woke.load(Ordering::SeqCst));
        fiber.fiber().unpark();
        fiber.join().unwrap();
    });
}
