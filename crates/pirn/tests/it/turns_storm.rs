//! Reader-writer locks, semaphores, cells and keys under load: no forbidden holder inside, no
//! waiter forgotten.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use pirn::sync::{Event, Mutex, OnceLock, RwLock, RwLockWriteGuard, Semaphore};
use pirn::wait::{park_on, unpark_one};

use crate::executor_kind::{EXECUTOR_KINDS, ExecutorKind, Jobs};

const WORKERS: [usize; 4] = [1, 2, 4, 8];

/// Two numbers that are equal except during a write; the lock is acquired in every way.
fn read_and_write(executor: ExecutorKind, workers: usize, jobs_each: usize, rounds: u64) {
    let lock = RwLock::new([0_u64; 2]);
    let written = AtomicU64::new(0);
    let mut jobs = Jobs::new();
    for job in 0..jobs_each as u64 {
        let (lock, written) = (&lock, &written);
        jobs.add(move || {
            let mut mine = 0;
            for round in 0..rounds {
                let limit = Duration::from_micros(round % 32);
                if (round + job) % 4 == 0 {
                    let guard = match (round + job) / 4 % 8 {
                        0 => lock.try_write(),
                        1 | 2 => lock.write_timeout(limit),
                        3 => lock.write_interruptible().ok(),
                        _ => Some(lock.write()),
                    };
                    let Some(mut guard) = guard else { continue };
                    guard[0] += 1;
                    if round % 64 == 0 {
                        pirn::yield_now();
                    }
                    guard[1] += 1;
                    mine += 1;
                    if round % 8 == 0 {
                        let guard = RwLockWriteGuard::downgrade(guard);
                        assert_eq!(guard[0], guard[1]);
                    }
                } else {
                    let guard = match (round + job) % 8 {
                        0 => lock.try_read(),
                        1 => lock.read_timeout(limit),
                        2 => lock.read_interruptible().ok(),
                        _ => Some(lock.read()),
                    };
                    let Some(guard) = guard else { continue };
                    let seen = guard[0];
                    if round % 32 == 0 {
                        pirn::yield_now();
                    }
                    assert_eq!(*guard, [seen; 2]);
                }
            }
            written.fetch_add(mine, Ordering::SeqCst);
        });
    }
    jobs.run(executor, workers);
    assert!(lock.try_write().is_some(), "a holder is left");
    assert_eq!(lock.into_inner(), [written.into_inner(); 2]);
}

#[test]
fn a_rwlock_keeps_its_value_whole() {
    for workers in WORKERS {
        for executor in EXECUTOR_KINDS {
            read_and_write(executor, workers, 8, 4_000);
        }
    }
}

#[test]
fn a_thousand_fibers_share_a_rwlock() {
    for workers in WORKERS {
        read_and_write(ExecutorKind::Fibers, workers, 1_000, 100);
    }
}

/// Requests of every size for five permits, some of which give up.
fn take_and_give(
    executor: ExecutorKind,
    workers: usize,
    jobs_each: usize,
    rounds: usize,
) {
    const PERMITS: usize = 5;
    let semaphore = Semaphore::new(PERMITS);
    let out = AtomicUsize::new(0);
    let mut jobs = Jobs::new();
    for job in 0..jobs_each {
        let (semaphore, out) = (&semaphore, &out);
        jobs.add(move || {
            for round in 0..rounds {
                let k = (round * 7 + job) % (PERMITS + 1);
                let limit = Duration::from_micros(round as u64 % 32);
                let permit = match (round + job) % 5 {
                    0 => semaphore.try_acquire(k),
                    1 | 2 => semaphore.acquire_timeout(k, limit).unwrap(),
                    _ => Some(semaphore.acquire(k).unwrap()),
                };
                if permit.is_none() {
                    continue;
                }
                assert!(out.fetch_add(k, Ordering::SeqCst) + k <= PERMITS);
                if round % 16 == 0 {
                    pirn::yield_now();
                }
                out.fetch_sub(k, Ordering::SeqCst);
            }
        });
    }
    jobs.run(executor, workers);
    assert_eq!(semaphore.available(), PERMITS);
    assert!(semaphore.try_acquire(PERMITS).is_some(), "a holder is left");
}

#[test]
fn a_semaphore_counts_exactly() {
    for workers in WORKERS {
        for executor in EXECUTOR_KINDS {
            take_and_give(executor, workers, 8, 4_000);
        }
    }
}

#[test]
fn a_thousand_fibers_share_a_semaphore() {
    for workers in WORKERS {
        take_and_give(ExecutorKind::Fibers, workers, 1_000, 100);
    }
}

/// A bounded queue of two semaphores and a mutex: a lost permit stops it, one too many breaks
/// it.
#[test]
fn semaphores_bound_a_queue() {
    const PARTIES: u64 = 3;
    const VALUES: u64 = 2_000;
    for workers in WORKERS {
        for executor in EXECUTOR_KINDS {
            for room in [1, 4] {
                let queue = Mutex::new(VecDeque::new());
                let (free, filled) = (Semaphore::new(room), Semaphore::new(0));
                let sum = AtomicU64::new(0);
                let mut jobs = Jobs::new();
                for _ in 0..PARTIES {
                    jobs.add(|| {
                        for value in 1..=VALUES {
                            free.acquire(1).unwrap().forget();
                            queue.lock().push_back(value);
                            filled.add(1);
                        }
                    });
                    jobs.add(|| {
                        for _ in 0..VALUES {
                            filled.acquire(1).unwrap().forget();
                            let value = queue.lock().pop_front().expect("a value");
                            free.add(1);
                            sum.fetch_add(value, Ordering::Relaxed);
                        }
                    });
                }
                jobs.run(executor, workers);
                assert_eq!(sum.into_inner(), PARTIES * VALUES * (VALUES + 1) / 2);
            }
        }
    }
}

#[test]
fn cells_are_written_once_each() {
    const CELLS: usize = 1_000;
    for workers in WORKERS {
        for executor in EXECUTOR_KINDS {
            let cells: Vec<OnceLock<usize>> =
                (0..CELLS).map(|_| OnceLock::new()).collect();
            let made = AtomicUsize::new(0);
            let mut jobs = Jobs::new();
            for job in 0..8 {
                let (cells, made) = (&cells, &made);
                jobs.add(move || {
                    for (place, cell) in cells.iter().enumerate() {
                        let value = *cell.get_or_init(|| {
                            if place % 16 == 0 {
                                pirn::yield_now();
                            }
                            made.fetch_add(1, Ordering::Relaxed);
                            job
                        });
                        assert_eq!(cell.get(), Some(&value));
                    }
                });
            }
            jobs.run(executor, workers);
            assert_eq!(made.into_inner(), CELLS);
        }
    }
}

/// Each set of an automatic event ends exactly one wait, though half of the waits have limits.
#[test]
fn automatic_events_are_had_once_each() {
    const SETS: usize = 4_000;
    for workers in WORKERS {
        for executor in EXECUTOR_KINDS {
            let (event, taken) = (Event::auto(), Event::auto());
            let had = AtomicUsize::new(0);
            let mut jobs = Jobs::new();
            for job in 0..4 {
                let (event, taken, had) = (&event, &taken, &had);
                jobs.add(move || {
                    while had.load(Ordering::SeqCst) < SETS {
                        let limit = Duration::from_micros(20 + 200 * job);
                        if event.wait_timeout(limit).unwrap() {
                            had.fetch_add(1, Ordering::SeqCst);
                            taken.set();
                        }
                    }
                });
            }
            jobs.add(|| {
                for _ in 0..SETS {
                    event.set();
                    taken.wait().unwrap();
                }
            });
            jobs.run(executor, workers);
            assert_eq!(had.into_inner(), SETS);
        }
    }
}

/// Mutexes of one word, many in one table.
#[test]
fn words_are_locked_by_key() {
    for workers in WORKERS {
        for executor in EXECUTOR_KINDS {
            let words: Vec<(AtomicU32, AtomicUsize)> =
                (0..64).map(|_| Default::default()).collect();
            let mut jobs = Jobs::new();
            for job in 0..8 {
                let words = &words;
                jobs.add(move || {
                    for round in 0..4_000 {
                        let (word, count) = &words[(round * 5 + job) % 3 * 21];
                        let key = word.as_ptr() as usize;
                        while word.swap(2, Ordering::Acquire) != 0 {
                            park_on(key, || word.load(Ordering::Relaxed) == 2).unwrap();
                        }
                        let seen = count.load(Ordering::Relaxed);
                        if round % 32 == 0 {
                            pirn::yield_now();
                        }
                        count.store(seen + 1, Ordering::Relaxed);
                        word.store(0, Ordering::Release);
                        unpark_one(key);
                    }
                });
            }
            jobs.run(executor, workers);
            let sum: usize = words.iter().map(|(_, n)| n.load(Ordering::Relaxed)).sum();
            assert_eq!(sum, 8 * 4_000);
        }
    }
}
