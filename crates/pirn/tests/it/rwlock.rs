//! Promises of reader-writer locks.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use pirn::Interrupt;
use pirn::sync::{Mutex, RwLock, RwLockWriteGuard};
use pirn::time::now;

use crate::executor_kind::{EXECUTOR_KINDS, Jobs, alone, until};

const SHORT: Duration = Duration::from_millis(20);
const LONG: Duration = Duration::from_secs(20);

#[test]
fn readers_share_and_a_writer_is_alone() {
    for workers in [1, 2, 4, 8] {
        for executor in EXECUTOR_KINDS {
            let lock = RwLock::new(0);
            let (reading, writing) = (AtomicUsize::new(0), AtomicBool::new(false));
            let mut jobs = Jobs::new();
            for _ in 0..4 {
                jobs.add(|| {
                    for _ in 0..100 {
                        let mut value = lock.write();
                        assert!(!writing.swap(true, Ordering::SeqCst));
                        assert_eq!(reading.load(Ordering::SeqCst), 0);
                        pirn::yield_now();
                        *value += 1;
                        assert!(writing.swap(false, Ordering::SeqCst));
                    }
                });
                jobs.add(|| {
                    for _ in 0..100 {
                        let value = lock.read();
                        reading.fetch_add(1, Ordering::SeqCst);
                        assert!(!writing.load(Ordering::SeqCst));
                        let seen = *value;
                        pirn::yield_now();
                        assert_eq!(*value, seen);
                        reading.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
            jobs.run(executor, workers);
            assert_eq!(lock.into_inner(), 400);
        }
    }
}

#[test]
fn readers_are_inside_together() {
    for executor in EXECUTOR_KINDS {
        let lock = RwLock::new(());
        let inside = AtomicUsize::new(0);
        let mut jobs = Jobs::new();
        for _ in 0..4 {
            jobs.add(|| {
                let _guard = lock.read();
                inside.fetch_add(1, Ordering::SeqCst);
                until(&inside, 4);
            });
        }
        jobs.run(executor, 2);
    }
}

#[test]
fn a_lock_is_a_constant_and_holds_unsized_values() {
    static TOTAL: RwLock<u32> = RwLock::new(1);
    *TOTAL.write() += 1;
    assert_eq!(*TOTAL.read(), 2);
    let mut words: Box<RwLock<[&str]>> = Box::new(RwLock::new(["a", "b"]));
    words.write()[1] = "c";
    assert_eq!(words.get_mut(), ["a", "c"]);
    assert_eq!(*RwLock::<String>::default().read(), "");
    assert_eq!(RwLock::from(3).into_inner(), 3);
}

#[test]
fn what_shows_a_lock_does_not_wait_for_it() {
    let lock = RwLock::new(5);
    assert_eq!(format!("{lock:?}"), "RwLock { value: 5 }");
    let guard = lock.read();
    assert_eq!(format!("{lock:?}"), "RwLock { value: 5 }");
    assert_eq!(format!("{guard:?} {guard}"), "5 5");
    drop(guard);
    let guard = lock.write();
    assert_eq!(format!("{lock:?}"), "RwLock { value: <locked> }");
    assert_eq!(format!("{guard:?} {guard}"), "5 5");
}

#[test]
fn tries_do_not_wait() {
    let lock = RwLock::new(());
    let (first, second) = (lock.try_read(), lock.try_read());
    assert!(first.is_some() && second.is_some() && lock.try_write().is_none());
    drop(first);
    assert!(lock.try_write().is_none());
    drop(second);
    let writer = lock.try_write();
    assert!(writer.is_some() && lock.try_read().is_none() && lock.try_write().is_none());
    drop(writer);
    assert!(lock.try_read().is_some());
}

/// Adjacent readers in the queue are admitted together, the others one by one.
#[test]
fn turns_are_given_in_order_of_arrival() {
    alone(|| {
        let lock = RwLock::new(());
        let (order, arrived) = (Mutex::new(String::new()), AtomicUsize::new(0));
        let held = lock.write();
        pirn::scope(|s| {
            for (place, kind) in "rrwwrwrrr".chars().enumerate() {
                let (lock, order, arrived) = (&lock, &order, &arrived);
                s.spawn(move || {
                    arrived.fetch_add(1, Ordering::SeqCst);
                    let enter = || order.lock().push(kind);
                    let leave = || {
                        pirn::yield_now();
                        order.lock().push('.');
                    };
                    if kind == 'w' {
                        let _guard = lock.write();
                        enter();
                        leave();
                    } else {
                        let _guard = lock.read();
                        enter();
                        leave();
                    }
                });
                until(arrived, place + 1);
            }
            drop(held);
        });
        assert_eq!(order.into_inner(), "rr..w.w.r.w.rrr...");
    });
}

// Proves: D-6.
#[test]
fn no_later_reader_overtakes_a_waiting_writer() {
    alone(|| {
        let lock = RwLock::new(0);
        let arrived = AtomicUsize::new(0);
        let held = lock.read();
        pirn::scope(|s| {
            s.spawn(|| {
                arrived.fetch_add(1, Ordering::SeqCst);
                *lock.write() = 1;
            });
            until(&arrived, 1);
            assert!(lock.try_read().is_none());
            for _ in 0..50 {
                s.spawn(|| {
                    arrived.fetch_add(1, Ordering::SeqCst);
                    assert_eq!(*lock.read(), 1, "read before the writer wrote");
                });
            }
            until(&arrived, 51);
            drop(held);
        });
    });
}

/// A reader that requests the lock after it has seen a waiting writer reads that writer's value.
// Proves: D-6.
#[test]
fn a_waiting_writer_comes_before_every_later_reader() {
    for workers in [1, 2, 4, 8] {
        for executor in EXECUTOR_KINDS {
            let lock = RwLock::new(0);
            let (held, arrived) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let mut jobs = Jobs::new();
            jobs.add(|| {
                let guard = lock.read();
                held.fetch_add(1, Ordering::SeqCst);
                until(&arrived, 6);
                for _ in 0..20 {
                    pirn::yield_now();
                }
                assert_eq!(*guard, 0);
            });
            jobs.add(|| {
                until(&held, 1);
                *lock.write() = 1;
            });
            for _ in 0..6 {
                jobs.add(|| {
                    until(&held, 1);
                    while lock.try_read().is_some() {
                        pirn::yield_now();
                    }
                    arrived.fetch_add(1, Ordering::SeqCst);
                    assert_eq!(*lock.read(), 1, "overtook a writer");
                });
            }
            jobs.run(executor, workers);
        }
    }
}

/// There is always a reader inside, until a writer arrives.
// Proves: D-6.
#[test]
fn readers_that_relieve_each_other_do_not_starve_a_writer() {
    for workers in [1, 2, 4, 8] {
        for executor in EXECUTOR_KINDS {
            let lock = RwLock::new(false);
            let (inside, rounds) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let mut jobs = Jobs::new();
            for _ in 0..2 {
                jobs.add(|| {
                    let mut guard = lock.read();
                    until(&rounds, 1);
                    while !*guard {
                        inside.fetch_add(1, Ordering::SeqCst);
                        let relief = inside.load(Ordering::SeqCst) + 1;
                        // Leaves when the other one is in, unless that one has to wait.
                        for _ in 0..50 {
                            if inside.load(Ordering::SeqCst) >= relief {
                                break;
                            }
                            pirn::yield_now();
                        }
                        assert!(rounds.fetch_add(1, Ordering::SeqCst) < 1_000_000);
                        drop(guard);
                        guard = lock.read();
                    }
                });
            }
            jobs.add(|| {
                rounds.fetch_add(1, Ordering::SeqCst);
                *lock.write() = true;
            });
            jobs.run(executor, workers);
        }
    }
}

/// One reader holds the lock; a writer waits for a while; after that a reader behind it need not
/// wait.
#[test]
fn a_writer_out_of_time_lets_those_behind_it_go_on() {
    for workers in [1, 2] {
        for executor in EXECUTOR_KINDS {
            let lock = RwLock::new(());
            let (held, passed) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let mut jobs = Jobs::new();
            jobs.add(|| {
                let _guard = lock.read();
                held.fetch_add(1, Ordering::SeqCst);
                until(&passed, 3);
            });
            jobs.add(|| {
                until(&held, 1);
                let start = now();
                assert!(lock.write_timeout(SHORT).is_none());
                assert!(now() - start >= SHORT);
                passed.fetch_add(1, Ordering::SeqCst);
            });
            for _ in 0..2 {
                jobs.add(|| {
                    until(&held, 1);
                    // Until the writer is queued, or has given up already.
                    while passed.load(Ordering::SeqCst) == 0 && lock.try_read().is_some()
                    {
                        pirn::yield_now();
                    }
                    let guard = lock.read_timeout(LONG);
                    passed.fetch_add(1, Ordering::SeqCst);
                    assert!(guard.is_some(), "waits for a writer that has left");
                });
            }
            jobs.run(executor, workers);
            assert!(lock.try_write().is_some());
        }
    }
}

#[test]
fn a_cancelled_writer_lets_those_behind_it_go_on() {
    alone(|| {
        let lock = RwLock::new(());
        let (arrived, passed) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let held = lock.read();
        pirn::scope(|s| {
            let writer = s.spawn(|| {
                arrived.fetch_add(1, Ordering::SeqCst);
                let locked = lock.write_interruptible().map(drop);
                assert_eq!(locked, Err(Interrupt::Cancelled));
            });
            until(&arrived, 1);
            for _ in 0..3 {
                s.spawn(|| {
                    arrived.fetch_add(1, Ordering::SeqCst);
                    let _guard = lock.read();
                    passed.fetch_add(1, Ordering::SeqCst);
                });
            }
            until(&arrived, 4);
            assert_eq!(passed.load(Ordering::SeqCst), 0);
            writer.cancel();
            writer.join().unwrap();
            for _ in 0..10 {
                pirn::yield_now();
            }
            // At the end, so that a failure shows as one.
            let passed = passed.load(Ordering::SeqCst);
            drop(held);
            assert_eq!(passed, 3);
        });
    });
}

#[test]
fn limits_end_waits_for_a_writer() {
    for executor in EXECUTOR_KINDS {
        let lock = RwLock::new(());
        let (held, tried) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let mut jobs = Jobs::new();
        jobs.add(|| {
            let guard = lock.write();
            held.fetch_add(1, Ordering::SeqCst);
            until(&tried, 2);
            drop(guard);
            assert!(lock.write_timeout(LONG).is_some());
        });
        for _ in 0..2 {
            jobs.add(|| {
                until(&held, 1);
                let start = now();
                assert!(lock.read_timeout(SHORT).is_none());
                assert!(lock.write_timeout(SHORT).is_none());
                assert!(now() - start >= 2 * SHORT);
                tried.fetch_add(1, Ordering::SeqCst);
            });
        }
        jobs.run(executor, 2);
        assert!(lock.try_write().is_some());
    }
}

#[test]
fn a_cancelled_fiber_still_locks_but_not_interruptibly() {
    alone(|| {
        let lock = RwLock::new(());
        let arrived = AtomicUsize::new(0);
        let held = lock.write();
        pirn::scope(|s| {
            let fiber = s.spawn(|| {
                arrived.fetch_add(1, Ordering::SeqCst);
                let interrupt = lock.read_interruptible().map(drop);
                assert_eq!(interrupt, Err(Interrupt::Cancelled));
                drop(lock.read());
                drop(lock.write());
                // Sticky, and reported before the lock that is free by now.
                assert!(lock.read_interruptible().is_err());
                assert!(lock.write_interruptible().is_err());
                assert!(lock.read_timeout(LONG).is_some());
                assert!(lock.write_timeout(LONG).is_some());
            });
            until(&arrived, 1);
            fiber.cancel();
            drop(held);
            fiber.join().unwrap();
        });
        assert!(lock.read_interruptible().is_ok() && lock.write_interruptible().is_ok());
    });
}

/// Readers in front of the next writer join the former writer; the next writer is not admitted.
#[test]
fn a_downgraded_guard_admits_readers_and_no_writer() {
    alone(|| {
        let lock = RwLock::new(0);
        let (arrived, reading) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let mut held = lock.write();
        pirn::scope(|s| {
            for place in 0..5 {
                let (lock, arrived, reading) = (&lock, &arrived, &reading);
                s.spawn(move || {
                    arrived.fetch_add(1, Ordering::SeqCst);
                    if place == 3 {
                        *lock.write() = 2;
                        return;
                    }
                    let value = lock.read();
                    assert_eq!(*value, if place < 3 { 1 } else { 2 });
                    reading.fetch_add(1, Ordering::SeqCst);
                });
                until(arrived, place + 1);
            }
            *held = 1;
            let held = RwLockWriteGuard::downgrade(held);
            until(&reading, 3);
            for _ in 0..10 {
                pirn::yield_now();
            }
            assert_eq!(*held, 1);
            assert_eq!(reading.load(Ordering::SeqCst), 3);
            assert!(lock.try_read().is_none(), "a writer waits");
            drop(held);
        });
        assert_eq!(lock.into_inner(), 2);
    });
}

#[test]
fn a_holder_that_panics_frees_the_lock() {
    alone(|| {
        let lock = RwLock::new(1);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let mut value = lock.write();
            *value = 2;
            panic!("on purpose");
        }));
        assert!(panicked.is_err());
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _value = lock.read();
            panic!("on purpose");
        }));
        assert!(panicked.is_err());
        assert_eq!(*lock.try_write().unwrap(), 2);
    });
}
