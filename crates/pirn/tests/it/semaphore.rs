//! Promises of semaphores.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pirn::Interrupt;
use pirn::sync::{AcquireError, Mutex, Semaphore};
use pirn::time::now;

use crate::executor_kind::{EXECUTOR_KINDS, ExecutorKind, Jobs, alone, until};
use crate::util::scaled;

const SHORT: Duration = Duration::from_millis(20);
const LONG: Duration = Duration::from_secs(20);
const MOST: usize = isize::MAX as usize;

#[test]
fn no_more_are_inside_than_there_are_permits() {
    for workers in [1, 2, 4, 8] {
        for executor in EXECUTOR_KINDS {
            let semaphore = Semaphore::new(3);
            let inside = AtomicUsize::new(0);
            let mut jobs = Jobs::new();
            for job in 0..8 {
                let (semaphore, inside) = (&semaphore, &inside);
                jobs.add(move || {
                    for round in 0..100 {
                        let k = (job + round) % 4;
                        let permit = semaphore.acquire(k).unwrap();
                        assert!(inside.fetch_add(k, Ordering::SeqCst) + k <= 3);
                        pirn::yield_now();
                        inside.fetch_sub(k, Ordering::SeqCst);
                        drop(permit);
                    }
                });
            }
            jobs.run(executor, workers);
            assert_eq!(semaphore.available(), 3);
        }
    }
}

#[test]
fn a_semaphore_is_a_constant_and_shows_itself() {
    static DOORS: Semaphore = Semaphore::new(2);
    let permit = DOORS.acquire(2).unwrap();
    assert_eq!(format!("{permit:?}"), "Permit(2)");
    assert_eq!(
        format!("{DOORS:?}"),
        "Semaphore { available: 0, closed: false, .. }"
    );
    drop(permit);
    assert_eq!(DOORS.available(), 2);
    assert!(catch_unwind(|| Semaphore::new(MOST + 1)).is_err());
}

// Proves: D-6.
#[test]
fn a_large_request_is_not_starved_by_small_ones() {
    alone(|| {
        let semaphore = Semaphore::new(3);
        let (order, arrived) = (Mutex::new(Vec::new()), AtomicUsize::new(0));
        let first = semaphore.acquire(1).unwrap();
        pirn::scope(|s| {
            for (place, k) in [3, 1, 3, 1].into_iter().enumerate() {
                let (semaphore, order, arrived) = (&semaphore, &order, &arrived);
                s.spawn(move || {
                    arrived.fetch_add(1, Ordering::SeqCst);
                    let _permit = semaphore.acquire(k).unwrap();
                    order.lock().push(k);
                });
                until(arrived, place + 1);
            }
            // Two are available, but reserved.
            assert_eq!(semaphore.available(), 2);
            assert!(semaphore.try_acquire(1).is_none());
            assert!(semaphore.acquire_timeout(1, SHORT).unwrap().is_none());
            assert!(order.lock().is_empty());
            drop(first);
        });
        assert_eq!(order.into_inner(), [3, 1, 3, 1]);
        assert_eq!(semaphore.available(), 3);
    });
}

/// Large requests and small ones without end: the large one has its turn, from fibers and threads.
#[test]
fn a_stream_of_small_requests_lets_a_large_one_through() {
    for workers in [1, 2, 4, 8] {
        for executor in EXECUTOR_KINDS {
            let semaphore = Semaphore::new(2);
            let (begun, over) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let mut jobs = Jobs::new();
            for _ in 0..2 {
                jobs.add(|| {
                    // Holds a permit nearly always, so that both are seldom free.
                    let mut rounds = 0;
                    while over.load(Ordering::SeqCst) == 0 {
                        let permit = semaphore.acquire(1).unwrap();
                        begun.fetch_add(1, Ordering::SeqCst);
                        pirn::yield_now();
                        drop(permit);
                        rounds += 1;
                        assert!(rounds < 2_000_000, "the large one starves");
                    }
                });
            }
            jobs.add(|| {
                until(&begun, 2);
                drop(semaphore.acquire(2).unwrap());
                over.fetch_add(1, Ordering::SeqCst);
            });
            jobs.run(executor, workers);
        }
    }
}

/// Two are free and a waiter needs three; when it leaves, a waiter for one gets it.
#[test]
fn the_first_that_gives_up_lets_those_behind_resume() {
    for workers in [1, 2] {
        for executor in EXECUTOR_KINDS {
            let semaphore = Semaphore::new(3);
            let (held, passed) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let mut jobs = Jobs::new();
            jobs.add(|| {
                let _permit = semaphore.acquire(1).unwrap();
                held.fetch_add(1, Ordering::SeqCst);
                until(&passed, 3);
            });
            jobs.add(|| {
                until(&held, 1);
                let start = now();
                let permit = semaphore.acquire_timeout(3, SHORT).unwrap();
                assert!(permit.is_none() && now() - start >= SHORT);
                passed.fetch_add(1, Ordering::SeqCst);
            });
            for _ in 0..2 {
                jobs.add(|| {
                    until(&held, 1);
                    // Until the large request is queued, or has given up already.
                    while passed.load(Ordering::SeqCst) == 0
                        && semaphore.try_acquire(0).is_some()
                    {
                        pirn::yield_now();
                    }
                    let permit = semaphore.acquire_timeout(1, LONG).unwrap();
                    passed.fetch_add(1, Ordering::SeqCst);
                    assert!(permit.is_some(), "waits behind one that has left");
                });
            }
            jobs.run(executor, workers);
            assert_eq!(semaphore.available(), 3);
        }
    }
}

#[test]
fn the_first_that_is_cancelled_lets_those_behind_resume() {
    alone(|| {
        let semaphore = Semaphore::new(1);
        let (arrived, passed) = (AtomicUsize::new(0), AtomicUsize::new(0));
        pirn::scope(|s| {
            let large = s.spawn(|| {
                arrived.fetch_add(1, Ordering::SeqCst);
                let denied = semaphore.acquire(2).unwrap_err();
                assert_eq!(denied, AcquireError::Interrupted(Interrupt::Cancelled));
                // Sticky, and reported before the permit that is free.
                assert!(semaphore.acquire(1).is_err());
                assert!(semaphore.acquire_timeout(1, LONG).is_err());
            });
            until(&arrived, 1);
            let small = s.spawn(|| {
                arrived.fetch_add(1, Ordering::SeqCst);
                drop(semaphore.acquire(1).unwrap());
                passed.fetch_add(1, Ordering::SeqCst);
            });
            until(&arrived, 2);
            assert_eq!(passed.load(Ordering::SeqCst), 0);
            large.cancel();
            large.join().unwrap();
            for _ in 0..10 {
                pirn::yield_now();
            }
            let passed = passed.load(Ordering::SeqCst);
            small.cancel();
            assert_eq!(passed, 1);
        });
    });
}

#[test]
fn closing_ends_every_wait_and_keeps_what_is_out() {
    for executor in EXECUTOR_KINDS {
        let semaphore = Semaphore::new(2);
        let waiting = AtomicUsize::new(0);
        let permit = semaphore.acquire(1).unwrap();
        let mut jobs = Jobs::new();
        // More than are woken at a time.
        for _ in 0..100 {
            jobs.add(|| {
                waiting.fetch_add(1, Ordering::SeqCst);
                let denied = semaphore.acquire(2).unwrap_err();
                assert_eq!(denied, AcquireError::Closed);
                let denied = semaphore.acquire_timeout(1, LONG).unwrap_err();
                assert_eq!(denied, AcquireError::Closed);
            });
        }
        jobs.add(|| {
            until(&waiting, 100);
            semaphore.close();
            semaphore.close();
        });
        jobs.run(executor, 2);
        assert!(semaphore.is_closed() && semaphore.try_acquire(0).is_none());
        assert_eq!(semaphore.available(), 1);
        drop(permit);
        assert_eq!(semaphore.available(), 2);
        assert_eq!(semaphore.acquire(1).unwrap_err(), AcquireError::Closed);
    }
}

/// Permits that are added while a close is in progress go to no waiter: the first ones that were
/// refused add them, while the others are still in the queue.
#[test]
fn permits_that_come_during_a_close_are_kept() {
    const WAITERS: usize = 300;
    for _ in 0..scaled(20) {
        let semaphore = Semaphore::new(0);
        let waiting = AtomicUsize::new(0);
        let mut jobs = Jobs::new();
        for _ in 0..WAITERS {
            jobs.add(|| {
                waiting.fetch_add(1, Ordering::SeqCst);
                let denied = semaphore.acquire(1).map(drop);
                assert_eq!(denied, Err(AcquireError::Closed));
                semaphore.add(1);
            });
        }
        jobs.add(|| {
            until(&waiting, WAITERS);
            semaphore.close();
        });
        jobs.run(ExecutorKind::Fibers, 2);
        assert_eq!(semaphore.available(), WAITERS);
    }
}

#[test]
fn permits_can_be_added_and_forgotten() {
    alone(|| {
        let semaphore = Semaphore::new(0);
        let arrived = AtomicUsize::new(0);
        pirn::scope(|s| {
            let fibers = [2, 1].map(|k| {
                let (semaphore, arrived) = (&semaphore, &arrived);
                let fiber = s.spawn(move || {
                    arrived.fetch_add(1, Ordering::SeqCst);
                    semaphore.acquire(k).unwrap().forget();
                });
                until(arrived, if k == 2 { 1 } else { 2 });
                fiber
            });
            semaphore.add(1);
            pirn::yield_now();
            assert_eq!(semaphore.available(), 1);
            semaphore.add(3);
            fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
        });
        assert_eq!(semaphore.available(), 1);
        // A forgotten permit may be created again, an outstanding one may not.
        semaphore.add(MOST - 1);
        let out = semaphore.acquire(5).unwrap();
        let panicked = catch_unwind(AssertUnwindSafe(|| semaphore.add(1)));
        assert!(panicked.is_err());
        assert_eq!(semaphore.available(), MOST - 5);
        drop(out);
        assert_eq!(semaphore.available(), MOST);
    });
}

#[test]
fn owned_permits_go_where_they_like() {
    for executor in EXECUTOR_KINDS {
        let semaphore = Arc::new(Semaphore::new(2));
        let mut jobs = Jobs::new();
        for _ in 0..8 {
            let permit = semaphore.acquire_owned(1).unwrap();
            let other = semaphore.acquire_owned(1).unwrap();
            assert_eq!(format!("{permit:?}"), "OwnedPermit(1)");
            let semaphore = Arc::clone(&semaphore);
            std::thread::spawn(move || drop(permit)).join().unwrap();
            pirn::spawn(move || drop(other)).join().unwrap();
            jobs.add(move || {
                let permit = semaphore.acquire_owned(2).unwrap();
                drop(semaphore);
                pirn::yield_now();
                drop(permit);
            });
        }
        jobs.run(executor, 2);
        semaphore.acquire_owned(1).unwrap().forget();
        assert_eq!(semaphore.available(), 1);
        assert_eq!(Arc::strong_count(&semaphore), 1);
    }
}

#[test]
fn a_holder_that_panics_gives_back() {
    alone(|| {
        let semaphore = Semaphore::new(1);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _permit = semaphore.acquire(1).unwrap();
            panic!("on purpose");
        }));
        assert!(panicked.is_err());
        assert!(semaphore.try_acquire(1).is_some());
    });
}

#[test]
fn an_error_names_its_cause() {
    let interrupted = AcquireError::Interrupted(Interrupt::Cancelled);
    assert_eq!(Interrupt::of(&interrupted), Some(Interrupt::Cancelled));
    assert_eq!(interrupted.to_string(), Interrupt::Cancelled.to_string());
    assert_eq!(Interrupt::of(&AcquireError::Closed), None);
    assert_eq!(AcquireError::Closed.to_string(), "the semaphore is closed");
}
