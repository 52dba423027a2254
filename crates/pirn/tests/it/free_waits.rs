//! Fibers that may migrate: how they wait while they unwind, join, and wait for fibers without a
//! stack.

use std::hint;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use pirn::future::block_on;
use pirn::runtime::Scheduler;
use pirn::sync::{RwLock, RwLockUpgradableReadGuard};
use pirn::{par, time};

use crate::free::{builder, free, thread_now};
use crate::util::{LONG, compute_until, eventually, scaled};

/// A fiber that waits and yields again and again while it unwinds stays on its thread, where `std`
/// counts its panic.
#[test]
fn a_fiber_that_unwinds_stays_on_its_thread() {
    struct Waits(Arc<AtomicUsize>);
    impl Drop for Waits {
        fn drop(&mut self) {
            let own = thread_now();
            // The first wait is longer than the time for which a fiber that unwinds blocks its
            // thread.
            for millis in [15, 0, 1, 0, 1, 0] {
                match millis {
                    0 => (0..50).for_each(|_| pirn::yield_now()),
                    _ => _ = time::sleep(Duration::from_millis(millis)),
                }
                let strayed = thread_now() != own || !thread::panicking();
                self.0.fetch_add(usize::from(strayed), Ordering::SeqCst);
            }
        }
    }
    for (workers, fibers) in [(2, 1), (2, 2), (4, 4)] {
        let runtime = free(workers, Scheduler::WorkStealing);
        let strayed = Arc::new(AtomicUsize::new(0));
        let unwinding: Vec<_> = (0..fibers)
            .map(|_| {
                let waits = Waits(Arc::clone(&strayed));
                runtime.spawn(move || {
                    let _waits = waits;
                    resume_unwind(Box::new(7));
                })
            })
            .collect();
        let over = Arc::new(AtomicBool::new(false));
        // They compute, so those behind them wait. They sleep, so their workers have nothing to do
        // now and then, and take any fiber that waits elsewhere.
        let others: Vec<_> = (0..3 * fibers)
            .map(|_| {
                let over = Arc::clone(&over);
                runtime.spawn(move || {
                    while !over.load(Ordering::SeqCst) {
                        for _ in 0..5 {
                            (0..2_000).for_each(|_| hint::spin_loop());
                            pirn::yield_now();
                        }
                        let _ = time::sleep(Duration::from_micros(200));
                    }
                })
            })
            .collect();
        for fiber in unwinding {
            assert!(fiber.join().unwrap_err().is_panic());
        }
        over.store(true, Ordering::SeqCst);
        others.into_iter().for_each(|fiber| fiber.join().unwrap());
        assert_eq!(strayed.load(Ordering::SeqCst), 0, "{fibers} on {workers}");
    }
}

/// The second half of a join runs, though the first half waits for it, and only by yields.
#[test]
fn the_other_half_runs_beside_one_that_yields() {
    for workers in [1, 2] {
        let runtime = free(workers, Scheduler::WorkStealing);
        let met = runtime.run(|| {
            let ran = AtomicBool::new(false);
            let first = || {
                let start = Instant::now();
                while !ran.load(Ordering::SeqCst) && start.elapsed() < LONG {
                    pirn::yield_now();
                }
                ran.load(Ordering::SeqCst)
            };
            par::join(first, || ran.store(true, Ordering::SeqCst)).0
        });
        assert!(met, "the second half did not run");
    }
}

/// Fibers that join, more of them than workers: each yields at joins in favor of the others, and
/// finds its pending halves on whichever worker resumes it.
#[test]
fn fibers_that_join_give_way_to_each_other() {
    fn sum(from: u64, to: u64) -> u64 {
        if to - from <= 64 {
            return (from..to).sum();
        }
        let middle = from + (to - from) / 2;
        let (low, high) = par::join(|| sum(from, middle), || sum(middle, to));
        low + high
    }
    for workers in [1, 2, 4] {
        let runtime = free(workers, Scheduler::WorkStealing);
        let n = scaled(1_000_000) as u64;
        let fibers: Vec<_> = (0..3 * workers)
            .map(|_| runtime.spawn(move || sum(0, n)))
            .collect();
        for fiber in fibers {
            assert_eq!(fiber.join().unwrap(), n * (n - 1) / 2);
        }
    }
}

/// A borrower runs on any worker, so it may end before its waiter waits for that.
#[test]
fn a_borrower_ends_before_its_waiter_waits() {
    let runtime = builder(2).max_stacks(1).build().expect("a runtime starts");
    let rounds = scaled(5_000);
    let waiter = runtime.spawn(move || {
        for _ in 0..rounds {
            pirn::scope(|s| _ = s.spawn(|| ()));
        }
    });
    let ended = waiter.join_timeout(LONG);
    assert!(
        matches!(ended, Ok(Ok(()))),
        "it waits for a fiber that has ended"
    );
    assert!(runtime.metrics().total.loans > 0);
}

/// A fiber that waits for the right to upgrade, and resumes on another thread, waits for its turn to
/// read as that thread. The one from before is in a poll by then, in which it could not wait.
// Proves: B11.
#[test]
fn an_upgradable_read_may_move_in_the_middle() {
    let raised = || Arc::new(AtomicBool::new(false));
    let wait_for = |flag: &AtomicBool| {
        compute_until("the flag is raised", || flag.load(Ordering::SeqCst));
    };
    let runtime = free(2, Scheduler::WorkStealing);
    let (held, polls, upgrade, over) = (raised(), raised(), raised(), raised());
    let lock = Arc::new(RwLock::new(()));
    let holder = {
        let (lock, held, upgrade) = (lock.clone(), held.clone(), upgrade.clone());
        runtime.spawn(move || {
            let right = lock.upgradable_read();
            held.store(true, Ordering::SeqCst);
            // Keeps its worker: the other fibers share the other one.
            wait_for(&upgrade);
            let written = RwLockUpgradableReadGuard::upgrade(right);
            let _ = time::sleep(Duration::from_millis(50));
            drop(written);
        })
    };
    eventually("the right is taken", || held.load(Ordering::SeqCst));
    let waiter = {
        let lock = lock.clone();
        runtime.spawn(move || drop(lock.upgradable_read()))
    };
    eventually("it waits for the right", || {
        let fibers = runtime.fibers();
        fibers.iter().any(|fiber| fiber.waits_for.is_some())
    });
    let poll = {
        let (polls, over) = (polls.clone(), over.clone());
        runtime.spawn(move || {
            block_on(async {
                polls.store(true, Ordering::SeqCst);
                wait_for(&over);
            });
        })
    };
    eventually("the other worker is in a poll", || {
        polls.load(Ordering::SeqCst)
    });
    upgrade.store(true, Ordering::SeqCst);
    let waited = waiter.join();
    over.store(true, Ordering::SeqCst);
    holder.join().unwrap();
    poll.join().unwrap();
    waited.unwrap();
}
