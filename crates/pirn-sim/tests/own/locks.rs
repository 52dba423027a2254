//! Mutex, read-write lock and condition variable: exclusion, and no waiter that is forgotten.

use std::sync::atomic::{AtomicUsize, Ordering};

use pirn::cancel::Token;
use pirn::sync::{Condvar, Mutex, RwLock, RwLockUpgradableReadGuard, RwLockWriteGuard};
use pirn::{Interrupt, scope, time};

use crate::{MOMENT, check};

/// Counts parties inside of a section.
#[derive(Default)]
struct Inside(AtomicUsize);

impl Inside {
    /// Calls `f` inside, beside at most `most` parties, the caller included.
    fn with<R>(&self, most: usize, f: impl FnOnce() -> R) -> R {
        let inside = self.0.fetch_add(1, Ordering::Relaxed) + 1;
        assert!(inside <= most, "{inside} are inside");
        pirn_sim::point();
        let result = f();
        let inside = self.0.fetch_sub(1, Ordering::Relaxed);
        assert!(inside <= most, "{inside} were inside");
        result
    }

    fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

// Proves: U30-locks.
#[test]
fn a_mutex_excludes_and_forgets_no_waiter() {
    check(|| {
        let (lock, inside) = (Mutex::new(0), Inside::default());
        scope(|s| {
            for _ in 0..3 {
                s.spawn(|| {
                    for _ in 0..2 {
                        let mut count = lock.lock();
                        inside.with(1, || *count += 1);
                    }
                });
            }
        });
        assert_eq!(lock.into_inner(), 6);
    });
}

/// Waiters that give up, by a limit or a cancellation, leave no trace.
// Proves: U30-locks.
#[test]
fn a_mutex_forgets_no_waiter_behind_one_that_gives_up() {
    check(|| {
        let (lock, inside) = (Mutex::new(0), Inside::default());
        let token = Token::new();
        let taken = scope(|s| {
            s.spawn(|| token.cancel());
            s.spawn(|| {
                let mut count = lock.lock();
                inside.with(1, || time::sleep(MOMENT).unwrap());
                *count += 1;
            });
            let limited = s.spawn(|| match lock.lock_timeout(MOMENT) {
                Some(mut count) => inside.with(1, || *count += 1),
                None => *lock.lock() += 1,
            });
            let cancelled = s.spawn(|| match token.enter(|| lock.lock_interruptible()) {
                Ok(mut count) => inside.with(1, || *count += 1),
                Err(interrupt) => {
                    assert_eq!(interrupt, Interrupt::Cancelled);
                    *lock.lock() += 1;
                }
            });
            limited.join().unwrap();
            cancelled.join().unwrap();
            let mut count = lock.lock();
            *count += 1;
            *count
        });
        assert!(taken >= 3);
        assert_eq!(lock.into_inner(), 4);
    });
}

/// An attempt succeeds only if no other party holds the lock.
// Proves: U30-locks.
#[test]
fn an_attempt_at_a_mutex_excludes() {
    check(|| {
        let (lock, inside) = (Mutex::new(0), Inside::default());
        let missed = AtomicUsize::new(0);
        scope(|s| {
            for _ in 0..3 {
                s.spawn(|| match lock.try_lock() {
                    Some(mut count) => inside.with(1, || *count += 1),
                    None => _ = missed.fetch_add(1, Ordering::Relaxed),
                });
            }
        });
        let taken = lock.into_inner();
        assert!(taken >= 1);
        assert_eq!(taken + missed.into_inner(), 3);
    });
}

// Proves: U30-locks.
#[test]
fn readers_share_and_writers_exclude() {
    check(|| {
        let lock = RwLock::new(0);
        let (readers, writers) = (Inside::default(), Inside::default());
        scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    let mut count = lock.write();
                    assert_eq!(readers.count(), 0);
                    writers.with(1, || *count += 1);
                    assert_eq!(readers.count(), 0);
                });
                s.spawn(|| {
                    let count = lock.read();
                    let seen = *count;
                    assert_eq!(writers.count(), 0);
                    readers.with(2, || assert_eq!(writers.count(), 0));
                    assert_eq!(*count, seen);
                });
            }
        });
        assert_eq!(lock.into_inner(), 2);
    });
}

/// An upgradable reader reads, upgrades and writes without another writer in between.
// Proves: U30-locks.
#[test]
fn an_upgrade_lets_no_other_writer_in() {
    check(|| {
        let lock = RwLock::new(0);
        scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    let count = lock.upgradable_read();
                    let seen = *count;
                    pirn_sim::point();
                    let mut count = RwLockUpgradableReadGuard::upgrade(count);
                    assert_eq!(*count, seen);
                    *count += 1;
                });
            }
            s.spawn(|| {
                let count = lock.read();
                let seen = *count;
                pirn_sim::point();
                assert_eq!(*count, seen);
            });
            s.spawn(|| *lock.write() += 1);
        });
        assert_eq!(lock.into_inner(), 3);
    });
}

/// An attempt to upgrade succeeds for the only reader; a downgrade lets readers in.
// Proves: U30-locks.
#[test]
fn guards_become_other_guards() {
    check(|| {
        let lock = RwLock::new(0);
        scope(|s| {
            s.spawn(|| {
                let count = lock.upgradable_read();
                match RwLockUpgradableReadGuard::try_upgrade(count) {
                    Ok(mut count) => *count += 1,
                    Err(count) => {
                        let seen = *count;
                        let count = RwLockUpgradableReadGuard::downgrade(count);
                        pirn_sim::point();
                        assert_eq!(*count, seen);
                        drop(count);
                        *lock.write() += 1;
                    }
                }
            });
            s.spawn(|| {
                let mut count = lock.write();
                *count += 1;
                let seen = *count;
                let count = RwLockWriteGuard::downgrade(count);
                pirn_sim::point();
                assert_eq!(*count, seen);
            });
            s.spawn(|| {
                let count = lock.read();
                let seen = *count;
                pirn_sim::point();
                assert_eq!(*count, seen);
            });
        });
        assert_eq!(lock.into_inner(), 2);
    });
}

/// Readers wait behind a writer that gives up, by a limit or a cancellation.
// Proves: U30-locks.
#[test]
fn readers_behind_a_writer_that_gives_up_are_not_forgotten() {
    check(|| {
        let lock = RwLock::new(0);
        let token = Token::new();
        scope(|s| {
            s.spawn(|| token.cancel());
            let held = lock.read();
            let cancelled = s.spawn(|| {
                let written = token.enter(|| lock.write_interruptible());
                written.map(|mut count| *count += 1).is_ok()
            });
            let limited = s.spawn(|| {
                let written = lock.write_timeout(MOMENT);
                written.map(|mut count| *count += 1).is_some()
            });
            // The reader that holds the lock waits for the one behind the writers.
            let reader = s.spawn(|| *lock.read());
            assert_eq!(reader.join().unwrap(), 0);
            drop(held);
            let written = [cancelled.join().unwrap(), limited.join().unwrap()];
            let written = written.into_iter().filter(|it| *it).count();
            assert_eq!(*lock.read(), written);
        });
    });
}

/// Producers and consumers: one notification for each value.
// Proves: U30-locks.
#[test]
fn a_notification_wakes_a_consumer() {
    check(|| {
        let (values, filled) = (Mutex::new(Vec::new()), Condvar::new());
        scope(|s| {
            let consume = || {
                s.spawn(|| {
                    let lock = values.lock();
                    let mut values = filled.wait_while(lock, |values| values.is_empty());
                    values.pop()
                })
            };
            let consumers = [consume(), consume()];
            for n in 0..2 {
                let (values, filled) = (&values, &filled);
                s.spawn(move || {
                    values.lock().push(n);
                    filled.notify_one();
                });
            }
            let mut all = consumers.map(|it| it.join().unwrap().unwrap());
            all.sort_unstable();
            assert_eq!(all, [0, 1]);
        });
        assert!(values.into_inner().is_empty());
    });
}

/// All waiters of a moment are notified; each phase is seen by all.
// Proves: U30-locks.
#[test]
fn a_notification_for_all_wakes_all() {
    check(|| {
        let (phase, changed) = (Mutex::new(0), Condvar::new());
        scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    for next in 1..=2 {
                        drop(changed.wait_while(phase.lock(), |phase| *phase < next));
                    }
                });
            }
            for _ in 0..2 {
                *phase.lock() += 1;
                changed.notify_all();
            }
        });
        assert_eq!(changed.notify_all(), 0);
    });
}

/// A waiter that times out, or that is cancelled, keeps no notification from another one.
// Proves: U30-locks.
#[test]
fn a_waiter_that_gives_up_keeps_no_notification() {
    check(|| {
        let (open, changed) = (Mutex::new(0), Condvar::new());
        let token = Token::new();
        scope(|s| {
            s.spawn(|| {
                time::sleep(MOMENT).unwrap();
                token.cancel();
            });
            let limited = s.spawn(|| {
                let (_open, ended) = changed.wait_timeout(open.lock(), MOMENT);
                !ended.timed_out()
            });
            let cancelled = s.spawn(|| {
                token.enter(|| changed.wait_interruptible(open.lock()).is_ok())
            });
            let patient = s.spawn(|| {
                let mut open = changed.wait_while(open.lock(), |open| *open == 0);
                *open -= 1;
            });
            s.spawn(|| {
                time::sleep(MOMENT).unwrap();
                *open.lock() += 1;
                changed.notify_one();
            });
            // A waiter that was notified without taking what it was notified of passes it on.
            for notified in [limited.join().unwrap(), cancelled.join().unwrap()] {
                if notified {
                    changed.notify_one();
                }
            }
            patient.join().unwrap();
        });
        assert_eq!(open.into_inner(), 0);
    });
}
