//! The wake protocol, observed from outside: work is taken whenever it arrives, and no worker is
//! woken in vain.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pirn::park;
use pirn::time::now;

use crate::executor_kind::runtime;
use crate::util::{LONG, SCHEDULERS, SLACK, eventually, on_every_shape, scaled, shaped};

/// Returns a cheap pseudo-random number.
fn scramble(n: usize) -> usize {
    (n ^ 0x5bd1_e995).wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as usize) >> 20
}

fn spin_for(duration: Duration) {
    let until = now() + duration;
    while now() < until {
        std::hint::spin_loop();
    }
}

/// C9, C12, C13. Fibers that arrive from outside, one at a time after gaps of every length, all
/// start: no gap hits an unprotected moment while a worker parks.
// Proves: B7, C5.
#[test]
fn fibers_that_drip_in_all_start() {
    on_every_shape(|runtime| {
        for i in 0..scaled(2_500) {
            let gap = Duration::from_nanos(scramble(i) as u64 % 60_000);
            spin_for(gap);
            let fiber = runtime.spawn(move || i);
            let end = fiber
                .join_timeout(LONG)
                .unwrap_or_else(|_| panic!("{i} never started"));
            assert_eq!(end.unwrap(), i);
        }
    });
}

/// Of a hundred thousand arriving fibers none waits for a second.
// Proves: C5.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_no_fiber_that_drips_in_waits_long() {
    on_every_shape(|runtime| {
        for i in 0..scaled(12_500) {
            spin_for(Duration::from_nanos(scramble(i) as u64 % 60_000));
            let fiber = runtime.spawn(move || i);
            let end = fiber.join_timeout(SLACK * Duration::from_secs(1));
            assert_eq!(end.expect("it starts within a second").unwrap(), i);
        }
    });
}

/// C5. The same in small bursts from several threads, to cover every number of sleepers and
/// searchers.
#[test]
fn bursts_from_several_threads_all_run() {
    on_every_shape(|runtime| {
        let ran = AtomicUsize::new(0);
        let ran = &ran;
        let each = scaled(4_000) / 8;
        std::thread::scope(|threads| {
            for thread in 0..3 {
                threads.spawn(move || {
                    for i in 0..each {
                        spin_for(Duration::from_nanos(
                            scramble(i * 3 + thread) as u64 % 40_000,
                        ));
                        runtime.scope(|s| {
                            for _ in 0..i % 4 {
                                s.spawn(|| ran.fetch_add(1, Ordering::Relaxed));
                            }
                        });
                    }
                });
            }
        });
        let expected: usize = (0..each).map(|i| i % 4).sum();
        assert_eq!(ran.load(Ordering::Relaxed), 3 * expected);
    });
}

/// C12. A thread wakes parked fibers one at a time: the worker of each notices.
// Proves: C13.
#[test]
fn wakes_that_drip_in_are_noticed() {
    for scheduler in SCHEDULERS {
        for workers in [1, 2, 4] {
            let runtime = shaped(workers, scheduler);
            let woken = Arc::new(AtomicUsize::new(0));
            let rounds = scaled(1_000);
            let fibers: Vec<_> = (0..4)
                .map(|_| {
                    let woken = Arc::clone(&woken);
                    runtime.spawn(move || {
                        for _ in 0..rounds {
                            park();
                            woken.fetch_add(1, Ordering::SeqCst);
                        }
                    })
                })
                .collect();
            for i in 0..rounds * fibers.len() {
                spin_for(Duration::from_nanos(scramble(i) as u64 % 30_000));
                fibers[i % fibers.len()].fiber().unpark();
                eventually("the wake is noticed", || {
                    woken.load(Ordering::SeqCst) == i + 1
                });
            }
            fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
            let rescues = runtime.metrics().total.rescues;
            assert_eq!(rescues, 0, "{workers} workers, {scheduler:?}");
        }
    }
}

/// One fiber for many sleeping workers wakes two of them at most, on average: a worker that waits
/// for a processor counts in a later round.
// Proves: C4.
#[test]
fn one_fiber_wakes_no_crowd() {
    const WORKERS: usize = 8;
    let runtime = runtime(WORKERS);
    let arrived = AtomicUsize::new(0);
    let arrived = &arrived;
    runtime.scope(|s| {
        for _ in 0..WORKERS {
            s.spawn(move || {
                arrived.fetch_add(1, Ordering::SeqCst);
                eventually("all are up", || arrived.load(Ordering::SeqCst) == WORKERS);
            });
        }
    });
    let parks = || runtime.metrics().total.parks;
    let settle = || {
        let mut last = u64::MAX;
        eventually("all sleep again", || {
            std::thread::sleep(Duration::from_millis(20));
            std::mem::replace(&mut last, parks()) == parks()
        });
    };
    settle();
    let before = parks();
    // Enough to average over.
    let rounds = scaled(50).max(20) as u64;
    for _ in 0..rounds {
        runtime.spawn(|| ()).join().unwrap();
        settle();
    }
    let slept = parks() - before;
    assert!(
        slept <= 2 * rounds,
        "{slept} workers were up for {rounds} fibers"
    );
}
