//! Short-lived fibers by the million.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::time::Duration;

use pirn::time::now;
use pirn::{JoinHandle, Runtime};

use crate::util::{Dice, Drops, LONG, SLACK, on_every_shape, resident, scaled};

const MILLION: usize = 1_000_000;

/// Which of so many have run.
fn tally(n: usize) -> Arc<[AtomicU8]> {
    (0..n).map(|_| AtomicU8::new(0)).collect()
}

fn mark(runs: &[AtomicU8], i: usize) {
    assert_eq!(runs[i].fetch_add(1, Ordering::Relaxed), 0, "{i} ran twice");
}

fn all_ran(runs: &[AtomicU8]) {
    let missing = runs
        .iter()
        .position(|runs| runs.load(Ordering::Relaxed) != 1);
    assert_eq!(missing, None, "did not run");
}

/// B1, B16. Spawned by a tree of fibers and by threads at once: each runs once.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn spawns_from_fibers_and_threads() {
    let n = scaled(MILLION);
    on_every_shape(|runtime| {
        let runs = tally(n);
        let quarter = n / 4;
        std::thread::scope(|threads| {
            for part in 0..4 {
                let (runs, handle) = (Arc::clone(&runs), runtime.handle());
                threads.spawn(move || {
                    let ids = part * quarter..(part + 1) * quarter;
                    if part % 2 == 0 {
                        // A thread spawns them itself, in batches.
                        for first in ids.step_by(500) {
                            let last = (first + 500).min((part + 1) * quarter);
                            let batch: Vec<_> = (first..last)
                                .map(|i| {
                                    let runs = Arc::clone(&runs);
                                    handle.spawn(move || mark(&runs, i))
                                })
                                .collect();
                            batch.into_iter().for_each(|fiber| fiber.join().unwrap());
                        }
                    } else {
                        handle.run(|| halve(&runs, ids.start, ids.end));
                    }
                });
            }
        });
        all_ran(&runs[..quarter * 4]);
    });
}

/// Runs the ids of a range by splitting it in two fibers until it is one id.
fn halve(runs: &Arc<[AtomicU8]>, first: usize, end: usize) {
    if end - first <= 1 {
        (first..end).for_each(|i| mark(runs, i));
        return;
    }
    let middle = first.midpoint(end);
    let right = {
        let runs = Arc::clone(runs);
        pirn::spawn(move || halve(&runs, middle, end))
    };
    halve(runs, first, middle);
    right.join().unwrap();
}

/// B3. One fiber spawns, all the others steal: each id exactly once.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn steals_exactly_once() {
    let n = scaled(MILLION);
    for workers in [2, 4, 8] {
        let runtime = Runtime::builder().workers(workers).build().unwrap();
        let runs = tally(n);
        runtime.run(|| {
            for first in (0..n).step_by(2_000) {
                let burst: Vec<_> = (first..(first + 2_000).min(n))
                    .map(|i| {
                        let runs = Arc::clone(&runs);
                        pirn::spawn(move || {
                            if i % 64 == 0 {
                                let until = now() + Duration::from_micros(2);
                                while now() < until {}
                            }
                            mark(&runs, i);
                        })
                    })
                    .collect();
                burst.into_iter().for_each(|fiber| fiber.join().unwrap());
            }
        });
        all_ran(&runs);
        let total = runtime.metrics().total;
        assert_eq!(total.rescues, 0);
        assert!(total.stolen > 0, "nothing was stolen");
    }
}

/// M7, H-5. A million spawned and joined, or dropped, or cancelled: memory stays flat, and every
/// capture and result is dropped once.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn alone_spawn_and_join_with_flat_memory() {
    let n = scaled(MILLION);
    on_every_shape(|runtime| {
        let drops = Drops::default();
        let round = |n: usize| {
            runtime.run(|| {
                for i in 0..n {
                    let capture = drops.one();
                    let fiber = pirn::spawn(move || {
                        if i % 7 == 0 {
                            pirn::yield_now();
                        }
                        capture
                    });
                    match i % 5 {
                        0 => fiber.detach(),
                        1 => {
                            fiber.cancel();
                            let _ = fiber.join();
                        }
                        _ => drop(fiber.join().unwrap()),
                    }
                }
            });
            runtime.wait_idle().unwrap();
        };
        round(n / 20);
        let before = resident();
        round(n);
        let grown = resident().saturating_sub(before);
        assert!(grown < SLACK as usize * (16 << 20), "grew by {grown} bytes");
        assert_eq!(drops.count(), n / 20 + n);
    });
}

/// H-1, H-2. Many joiners, fibers and threads, for handles that end meanwhile.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn many_joiners() {
    let rounds = scaled(MILLION) / 8 / 16;
    on_every_shape(|runtime| {
        let waits = AtomicUsize::new(0);
        std::thread::scope(|threads| {
            for _ in 0..2 {
                threads.spawn(|| {
                    for round in 0..rounds / 2 {
                        let awaited = runtime.spawn(move || {
                            (0..round % 3).for_each(|_| pirn::yield_now());
                            round
                        });
                        let awaited = Arc::new(awaited);
                        let joiners: Vec<JoinHandle<()>> = (0..14)
                            .map(|_| {
                                let awaited = Arc::clone(&awaited);
                                runtime.spawn(move || awaited.wait().unwrap())
                            })
                            .collect();
                        awaited.wait().unwrap();
                        joiners.into_iter().for_each(|fiber| fiber.join().unwrap());
                        let awaited =
                            Arc::into_inner(awaited).expect("the others are done");
                        assert_eq!(awaited.join().unwrap(), round);
                        waits.fetch_add(16, Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(waits.into_inner(), rounds / 2 * 2 * 16);
    });
}

/// C5. A million fibers arrive from outside with gaps of every length, some of which coincide with
/// a worker that parks: none stalls.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn fibers_that_drip_in() {
    let n = scaled(MILLION) / 4;
    on_every_shape(|runtime| {
        let ran = Arc::new(AtomicUsize::new(0));
        let mut longest = Duration::ZERO;
        for i in 0..n {
            let gap = (i ^ 0x5bd1).wrapping_mul(0x9e37_79b9) >> 7;
            (0..gap % 256).for_each(|_| std::hint::spin_loop());
            let count = Arc::clone(&ran);
            runtime
                .spawn(move || count.fetch_add(1, Ordering::Relaxed))
                .detach();
            // Until all have run, so that the workers park in between.
            if gap % 16 == 0 {
                let start = now();
                while ran.load(Ordering::Relaxed) <= i {
                    assert!(now() - start < LONG, "{i} never started");
                    std::thread::yield_now();
                }
                longest = longest.max(now() - start);
            }
        }
        runtime.wait_idle().unwrap();
        assert_eq!(ran.load(Ordering::Relaxed), n);
        assert!(longest < LONG / 10, "one took {longest:?}");
    });
}

/// A million fibers arrive from outside, one at a time after gaps of every length: none waits for a
/// second.
// Proves: C5.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn a_million_drip_in() {
    let n = scaled(MILLION) / 8;
    on_every_shape(|runtime| {
        let mut dice = Dice(5);
        for i in 0..n {
            let until = now() + Duration::from_nanos(dice.below(40_000) as u64);
            while now() < until {
                std::hint::spin_loop();
            }
            let fiber = runtime.spawn(move || i);
            let end = fiber.join_timeout(SLACK * Duration::from_secs(1));
            assert_eq!(end.expect("it starts within a second").unwrap(), i);
        }
    });
}
