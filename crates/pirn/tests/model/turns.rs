//! Reader-writer locks and semaphores: which waiter proceeds, and that none is forgotten.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use pirn::sync::{AcquireError, RwLock, RwLockWriteGuard, Semaphore};
use pirn::yield_now;

use crate::util::{explore, explore_in_time, explore_with, thread};

const SOON: Duration = Duration::from_micros(100);

/// Reads a value twice, while it is locked for reading.
fn read_twice(lock: &RwLock<u32>) {
    let guard = lock.read();
    let seen = *guard;
    yield_now();
    assert_eq!(*guard, seen, "written under a reader");
}

#[test]
fn a_rwlock_counts() {
    explore_with(&[1, 2], |world| {
        let runtime = world.runtime();
        let lock = Arc::new(RwLock::new(0));
        let writers = [0, 1].map(|_| {
            let lock = Arc::clone(&lock);
            runtime.spawn(move || {
                let mut count = lock.write();
                let seen = *count;
                yield_now();
                *count = seen + 1;
                let count = RwLockWriteGuard::downgrade(count);
                assert_eq!(*count, seen + 1, "another came between");
            })
        });
        let readers = [0, 1].map(|_| {
            let lock = Arc::clone(&lock);
            runtime.spawn(move || read_twice(&lock))
        });
        let outside = {
            let lock = Arc::clone(&lock);
            thread(move || *lock.write() += 1)
        };
        writers
            .into_iter()
            .chain(readers)
            .for_each(|fiber| fiber.join().expect("it has its turn"));
        outside.join().expect("it has its turn");
        assert_eq!(*lock.read(), 3);
    });
}

/// One reader holds the lock to the end. A writer queues for a while, or until it is cancelled; a
/// reader queued behind it must acquire the lock.
#[test]
fn a_rwlock_with_a_writer_that_gives_up() {
    explore_in_time(|world| {
        let runtime = world.runtime();
        let lock = Arc::new(RwLock::new(0));
        let held = lock.read();
        let hasty = {
            let lock = Arc::clone(&lock);
            runtime.spawn(move || assert!(lock.write_timeout(SOON).is_none()))
        };
        let cancelled = {
            let lock = Arc::clone(&lock);
            runtime.spawn(move || assert!(lock.write_interruptible().is_err()))
        };
        let readers = [0, 1].map(|_| {
            let lock = Arc::clone(&lock);
            runtime.spawn(move || read_twice(&lock))
        });
        cancelled.cancel();
        for reader in readers {
            reader.join().expect("it reads beside the first");
        }
        hasty.join().expect("it gives up");
        let _ = cancelled.join();
        drop(held);
        assert!(lock.try_write().is_some(), "no holder is left");
    });
}

/// One writer, and two readers that overlap with it: all end.
#[test]
fn a_rwlock_under_limits() {
    explore_in_time(|world| {
        let runtime = world.runtime();
        let lock = Arc::new(RwLock::new(0));
        let all = [0, 1, 2].map(|i| {
            let lock = Arc::clone(&lock);
            runtime.spawn(move || match i {
                0 => u32::from(lock.write_timeout(SOON).map(|mut v| *v += 1).is_some()),
                1 => {
                    *lock.write() += 1;
                    1
                }
                _ => {
                    drop(lock.read_timeout(SOON));
                    0
                }
            })
        });
        let written: u32 = all.into_iter().map(|f| f.join().expect("it ends")).sum();
        assert_eq!(*lock.try_read().expect("no holder is left"), written);
    });
}

#[test]
fn a_semaphore_of_three() {
    explore_with(&[1, 2], |world| {
        let runtime = world.runtime();
        let semaphore = Arc::new(Semaphore::new(3));
        let out = Arc::new(AtomicU32::new(0));
        let visit = |k: u32| {
            let (semaphore, out) = (Arc::clone(&semaphore), Arc::clone(&out));
            move || {
                let permit = semaphore.acquire_owned(k as usize).expect("not closed");
                assert!(out.fetch_add(k, Ordering::Relaxed) + k <= 3, "too many");
                yield_now();
                out.fetch_sub(k, Ordering::Relaxed);
                drop(permit);
            }
        };
        let inside = [3, 1, 2].map(|k| runtime.spawn(visit(k)));
        let outside = thread(visit(2));
        inside
            .into_iter()
            .for_each(|fiber| fiber.join().expect("it is served"));
        outside.join().expect("it is served");
        assert_eq!(semaphore.available(), 3);
    });
}

/// One permit is available to the end. A waiter for two gives up; the waiter for one behind it must
/// be served.
#[test]
fn a_semaphore_with_a_first_that_gives_up() {
    explore_in_time(|world| {
        let runtime = world.runtime();
        let semaphore = Arc::new(Semaphore::new(1));
        let hasty = {
            let semaphore = Arc::clone(&semaphore);
            runtime.spawn(move || {
                let permit = semaphore.acquire_timeout(2, SOON);
                assert!(permit.expect("not closed").is_none());
            })
        };
        let cancelled = {
            let semaphore = Arc::clone(&semaphore);
            runtime.spawn(move || assert!(semaphore.acquire(2).is_err()))
        };
        let small = [0, 1].map(|_| {
            let semaphore = Arc::clone(&semaphore);
            runtime.spawn(move || drop(semaphore.acquire(1).expect("not closed")))
        });
        cancelled.cancel();
        for fiber in small {
            fiber.join().expect("it is served");
        }
        hasty.join().expect("it gives up");
        let _ = cancelled.join();
        assert_eq!(semaphore.available(), 1);
    });
}

/// Every waiter is notified, in any order of events, and no permit is lost.
#[test]
fn a_semaphore_is_closed() {
    explore(|world| {
        let runtime = world.runtime();
        let semaphore = Arc::new(Semaphore::new(1));
        let visitors = [1, 2, 1].map(|k| {
            let semaphore = Arc::clone(&semaphore);
            runtime.spawn(move || match semaphore.acquire(k) {
                Ok(permit) => {
                    yield_now();
                    drop(permit);
                }
                Err(denied) => assert_eq!(denied, AcquireError::Closed),
            })
        });
        let adder = {
            let semaphore = Arc::clone(&semaphore);
            thread(move || semaphore.add(1))
        };
        let closer = {
            let semaphore = Arc::clone(&semaphore);
            runtime.spawn(move || semaphore.close())
        };
        closer.join().expect("it closes");
        adder.join().expect("it adds");
        for fiber in visitors {
            fiber.join().expect("it is served or told");
        }
        assert_eq!(semaphore.available(), 2);
        assert!(semaphore.try_acquire(1).is_none());
    });
}
