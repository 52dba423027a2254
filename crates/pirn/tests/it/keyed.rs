//! Promises of waiting on a key.

use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use pirn::Interrupt;
use pirn::sync::Mutex;
use pirn::time::now;
use pirn::wait::{park_on, unpark_all, unpark_one};

use crate::executor_kind::{EXECUTOR_KINDS, Jobs, alone, until};

/// A mutex of one word: 0 free, 1 held, 2 held and there may be waiters.
struct WordLock {
    word: AtomicU32,
    value: UnsafeCell<u64>,
}

#[expect(unsafe_code, reason = "the value is reached under the lock only")]
// SAFETY: `with` is the only access to the value, and one caller at a time is inside.
unsafe impl Sync for WordLock {}

impl WordLock {
    fn key(&self) -> usize {
        &raw const self.word as usize
    }

    fn with(&self, f: impl FnOnce(&mut u64)) {
        let mut held = 1;
        while self
            .word
            .compare_exchange(0, held, Ordering::Acquire, Ordering::Relaxed)
            .is_err()
        {
            held = 2;
            if self.word.swap(2, Ordering::Acquire) == 0 {
                break;
            }
            park_on(self.key(), || self.word.load(Ordering::Relaxed) == 2).unwrap();
        }
        #[expect(unsafe_code, reason = "the value is reached under the lock only")]
        // SAFETY: the word says that no other caller is inside.
        f(unsafe { &mut *self.value.get() });
        if self.word.swap(0, Ordering::Release) == 2 {
            unpark_one(self.key());
        }
    }
}

// Proves: G8.
#[test]
fn a_mutex_of_one_word() {
    for workers in [1, 2, 4, 8] {
        for executor in EXECUTOR_KINDS {
            let lock = WordLock {
                word: AtomicU32::new(0),
                value: UnsafeCell::new(0),
            };
            let mut jobs = Jobs::new();
            for _ in 0..8 {
                jobs.add(|| {
                    for round in 0..500 {
                        lock.with(|value| {
                            let seen = *value;
                            if round % 16 == 0 {
                                pirn::yield_now();
                            }
                            *value = seen + 1;
                        });
                    }
                });
            }
            jobs.run(executor, workers);
            assert_eq!(lock.value.into_inner(), 4_000);
        }
    }
}

#[test]
fn a_group_with_nothing_to_wait_for_does_not_wait() {
    let mut looks = 0;
    let looked = park_on(1, || {
        looks += 1;
        false
    });
    assert_eq!((looked, looks), (Ok(false), 1));
    assert!(!unpark_one(1));
    assert_eq!(unpark_all(1), 0);
}

/// The condition is read under the lock that a wake takes: one that comes meanwhile finds the
/// waiter.
// Proves: G8.
#[test]
fn no_wake_comes_between_the_condition_and_the_wait() {
    let key = 0xc0de;
    let (reads, woken) = (AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|s| {
        let waker = s.spawn(|| {
            while !reads.load(Ordering::SeqCst) {
                thread::yield_now();
            }
            let found = unpark_one(key);
            woken.store(true, Ordering::SeqCst);
            found
        });
        let parked = park_on(key, || {
            reads.store(true, Ordering::SeqCst);
            // Time enough for a wake that does not take the lock.
            let until = now() + Duration::from_millis(50);
            while now() < until {
                assert!(!woken.load(Ordering::SeqCst), "a wake without the lock");
                thread::yield_now();
            }
            true
        });
        assert_eq!(parked, Ok(true));
        assert!(waker.join().unwrap());
    });
}

/// A wake is for present waiters, and is not kept: neither for later ones, nor for another user of
/// the same key.
// Proves: G8.
#[test]
fn unparking_no_fiber_leaves_nothing_behind() {
    alone(|| {
        let (waiting, passed) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let place = Box::new(0_u8);
        let key = &raw const *place as usize;
        assert!(!unpark_one(key));
        assert_eq!(unpark_all(key), 0);
        pirn::scope(|s| {
            for round in 1..=3 {
                s.spawn(|| {
                    waiting.fetch_add(1, Ordering::SeqCst);
                    assert_eq!(park_on(key, || true), Ok(true));
                    passed.fetch_add(1, Ordering::SeqCst);
                });
                until(&waiting, round);
                for _ in 0..10 {
                    pirn::yield_now();
                }
                assert_eq!(passed.load(Ordering::SeqCst), round - 1);
                assert!(unpark_one(key));
                until(&passed, round);
                assert!(!unpark_one(key));
            }
        });
    });
}

#[test]
fn one_is_woken_at_a_time_and_the_longest_first() {
    alone(|| {
        let key = 0x5eed;
        let (order, waiting) = (Mutex::new(Vec::new()), AtomicUsize::new(0));
        pirn::scope(|s| {
            for place in 0..10 {
                let (order, waiting) = (&order, &waiting);
                s.spawn(move || {
                    waiting.fetch_add(1, Ordering::SeqCst);
                    park_on(key, || true).unwrap();
                    order.lock().push(place);
                });
                until(waiting, place + 1);
            }
            for count in 1..=10 {
                assert!(unpark_one(key));
                for _ in 0..10 {
                    pirn::yield_now();
                }
                assert!(order.lock().iter().copied().eq(0..count));
            }
            assert!(!unpark_one(key));
        });
    });
}

#[test]
fn all_that_wait_are_woken_once_and_later_ones_are_not() {
    alone(|| {
        let key = 0xa11;
        let (waiting, passed) = (AtomicUsize::new(0), AtomicUsize::new(0));
        pirn::scope(|s| {
            for _ in 0..100 {
                s.spawn(|| {
                    for _ in 0..2 {
                        waiting.fetch_add(1, Ordering::SeqCst);
                        park_on(key, || true).unwrap();
                        passed.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
            for round in 1..=2 {
                until(&waiting, 100 * round);
                pirn::yield_now();
                assert_eq!(passed.load(Ordering::SeqCst), 100 * (round - 1));
                assert_eq!(unpark_all(key), 100);
                assert_eq!(unpark_all(key), 0);
            }
        });
    });
}

/// More keys than the table has buckets: neighbors in one bucket are distinguished.
// Proves: G8.
#[test]
fn every_key_has_its_own_waiters() {
    const KEYS: usize = 1_000;
    alone(|| {
        let (waiting, passed) = (AtomicUsize::new(0), AtomicUsize::new(0));
        pirn::scope(|s| {
            for key in 0..KEYS {
                let (waiting, passed) = (&waiting, &passed);
                s.spawn(move || {
                    waiting.fetch_add(1, Ordering::SeqCst);
                    park_on(key << 4, || true).unwrap();
                    let place = passed.fetch_add(1, Ordering::SeqCst);
                    assert_eq!(place, KEYS - 1 - key, "woken for another key");
                });
            }
            until(&waiting, KEYS);
            for key in (0..KEYS).rev() {
                if key % 2 == 0 {
                    assert!(unpark_one(key << 4), "no fiber waits on {key}");
                } else {
                    assert_eq!(unpark_all(key << 4), 1, "on {key}");
                }
                until(&passed, KEYS - key);
            }
        });
    });
}

#[test]
fn a_look_that_panics_leaves_the_key_as_it_was() {
    alone(|| {
        let key = usize::MAX;
        let waiting = AtomicUsize::new(0);
        pirn::scope(|s| {
            s.spawn(|| {
                waiting.fetch_add(1, Ordering::SeqCst);
                assert_eq!(park_on(key, || true), Ok(true));
            });
            until(&waiting, 1);
            let looked =
                catch_unwind(AssertUnwindSafe(|| park_on(key, || panic!("on purpose"))));
            assert!(looked.is_err());
            assert_eq!(park_on(key, || false), Ok(false));
            assert_eq!(unpark_all(key), 1);
        });
    });
}

#[test]
fn an_interrupted_wait_is_over() {
    alone(|| {
        let key = 7;
        let waiting = AtomicUsize::new(0);
        pirn::scope(|s| {
            let fiber = s.spawn(|| {
                waiting.fetch_add(1, Ordering::SeqCst);
                assert_eq!(park_on(key, || true), Err(Interrupt::Cancelled));
                // At once, without a check.
                let again = park_on(key, || unreachable!("interrupted"));
                assert_eq!(again, Err(Interrupt::Cancelled));
            });
            until(&waiting, 1);
            fiber.cancel();
            fiber.join().unwrap();
            assert!(!unpark_one(key), "no fiber waits any more");
        });
    });
}
