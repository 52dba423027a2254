//! Locks and meeting points under load: never two holders, no waiter forgotten.

use std::collections::VecDeque;
use std::mem;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use pirn::sync::{Condvar, Mutex, WaitGroup};

use crate::executor_kind::{EXECUTOR_KINDS, ExecutorKind, Jobs};

const WORKERS: [usize; 4] = [1, 2, 4, 8];

/// Counts without atomics under the lock, which is acquired in every way.
fn count(executor: ExecutorKind, workers: usize, jobs_each: usize, rounds: u64) {
    let total = Mutex::new(0);
    let taken = AtomicU64::new(0);
    let mut jobs = Jobs::new();
    for job in 0..jobs_each {
        let (total, taken) = (&total, &taken);
        jobs.add(move || {
            let mut mine = 0;
            for round in 0..rounds {
                let guard = match (round + job as u64) % 8 {
                    0 => total.try_lock(),
                    1 => total.lock_timeout(Duration::from_micros(round % 32)),
                    2 => total.lock_interruptible().ok(),
                    _ => Some(total.lock()),
                };
                let Some(mut guard) = guard else { continue };
                *guard += 1;
                mine += 1;
                if round % 64 == 0 {
                    pirn::yield_now();
                }
            }
            taken.fetch_add(mine, Ordering::SeqCst);
        });
    }
    jobs.run(executor, workers);
    assert_eq!(total.into_inner(), taken.into_inner());
}

#[test]
fn a_mutex_counts_exactly() {
    for workers in WORKERS {
        for executor in EXECUTOR_KINDS {
            count(executor, workers, 8, 15_000);
        }
    }
}

#[test]
fn a_thousand_fibers_share_a_mutex() {
    for workers in WORKERS {
        count(ExecutorKind::Fibers, workers, 1_000, 300);
    }
}

/// A bounded queue made of a mutex and two condition variables: a lost notification stops it.
fn pass_through(executor: ExecutorKind, workers: usize, room: usize, values: u64) {
    const PARTIES: u64 = 3;
    let queue = Mutex::new(VecDeque::new());
    let (filled, emptied) = (Condvar::new(), Condvar::new());
    let sum = AtomicU64::new(0);
    let mut jobs = Jobs::new();
    for _ in 0..PARTIES {
        jobs.add(|| {
            for value in 1..=values {
                let mut guard = emptied.wait_while(queue.lock(), |q| q.len() >= room);
                guard.push_back(value);
                drop(guard);
                filled.notify_one();
            }
        });
        jobs.add(|| {
            for _ in 0..values {
                let mut guard = filled.wait_while(queue.lock(), |q| q.is_empty());
                let value = guard.pop_front().unwrap();
                drop(guard);
                emptied.notify_one();
                sum.fetch_add(value, Ordering::Relaxed);
            }
        });
    }
    jobs.run(executor, workers);
    assert_eq!(sum.into_inner(), PARTIES * values * (values + 1) / 2);
    assert!(queue.into_inner().is_empty());
}

#[test]
fn condition_variables_lose_no_notification() {
    for workers in WORKERS {
        for executor in EXECUTOR_KINDS {
            for room in [1, 2, 16] {
                pass_through(executor, workers, room, 2_500);
            }
        }
    }
}

/// The notifier arrives the moment the mutex is free, often before the waiter, which is busy waking
/// a third party, is in the queue: the notifier does not see it there.
#[test]
fn no_notification_falls_between_unlocking_and_waiting() {
    const ROUNDS: usize = 3_000;
    let patience = Duration::from_secs(20);
    for executor in EXECUTOR_KINDS {
        let (waiting, changed) = (Mutex::new(false), Condvar::new());
        let over = AtomicBool::new(false);
        let mut jobs = Jobs::new();
        jobs.add(|| {
            let mut lost = false;
            for _ in 0..ROUNDS {
                let mut guard = waiting.lock();
                *guard = true;
                // Long enough for the third party to park.
                pirn::yield_now();
                let start = Instant::now();
                drop(changed.wait_timeout_while(guard, patience, |waits| *waits));
                // The notifier has changed the value, so the wait does not say that it timed out.
                lost = start.elapsed() >= patience;
                if lost {
                    break;
                }
            }
            over.store(true, Ordering::SeqCst);
            assert!(!lost, "a notification was lost");
        });
        jobs.add(|| {
            while !over.load(Ordering::SeqCst) {
                drop(waiting.lock());
                pirn::yield_now();
            }
        });
        jobs.add(|| {
            while !over.load(Ordering::SeqCst) {
                for _ in 0..200 {
                    if let Some(mut guard) = waiting.try_lock()
                        && mem::take(&mut *guard)
                    {
                        changed.notify_one();
                    }
                }
                pirn::yield_now();
            }
        });
        jobs.run(executor, 2);
    }
}

/// Generations that begin together: each waits for `notify_all` of the last to arrive.
#[test]
fn notify_all_releases_whole_generations() {
    const PARTIES: usize = 8;
    const ROUNDS: u64 = 1_500;
    for workers in WORKERS {
        for executor in EXECUTOR_KINDS {
            let (state, turned) = (Mutex::new((0, 0_u64)), Condvar::new());
            let mut jobs = Jobs::new();
            for _ in 0..PARTIES {
                jobs.add(|| {
                    for round in 0..ROUNDS {
                        let mut guard = state.lock();
                        assert_eq!(guard.1, round);
                        guard.0 += 1;
                        if guard.0 == PARTIES {
                            *guard = (0, round + 1);
                            turned.notify_all();
                        } else {
                            drop(turned.wait_while(guard, |state| state.1 == round));
                        }
                    }
                });
            }
            jobs.run(executor, workers);
            assert_eq!(state.into_inner(), (0, ROUNDS));
        }
    }
}

/// Repeated rounds on one group, with waits that begin before, amid and after the work.
#[test]
fn wait_groups_end_every_round() {
    const PARTIES: usize = 6;
    const ROUNDS: usize = 300;
    for workers in WORKERS {
        for executor in EXECUTOR_KINDS {
            for _ in 0..ROUNDS / 100 {
                let groups: Vec<WaitGroup> = (0..100).map(|_| WaitGroup::new()).collect();
                let done: Vec<AtomicUsize> =
                    (0..100).map(|_| AtomicUsize::new(0)).collect();
                groups.iter().for_each(|group| group.add(PARTIES));
                let mut jobs = Jobs::new();
                for _ in 0..PARTIES {
                    jobs.add(|| {
                        for (group, done) in groups.iter().zip(&done) {
                            done.fetch_add(1, Ordering::SeqCst);
                            group.done();
                            group.wait().unwrap();
                            assert_eq!(done.load(Ordering::SeqCst), PARTIES);
                        }
                    });
                }
                jobs.run(executor, workers);
            }
        }
    }
}
