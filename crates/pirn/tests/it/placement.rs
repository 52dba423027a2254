//! Placement: long-lived fibers spread over the workers, short ones stay local, and a fresh fiber
//! may be stolen, once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::time::Duration;

use pirn::diag::Counters;
use pirn::time::now;
use pirn::{Runtime, channel, park};

use crate::executor_kind::{runtime, until};
use crate::util::{
    SCHEDULERS, SLACK, compute_until, eventually, scaled, shaped, slow_wake,
};

/// D6 of the design. Long-lived fibers that one fiber starts, one after another, spread over all
/// workers: each has a fair part, though the spawning one may keep the most.
// Where fibers may migrate, the thread of the start says nothing.
// Proves: B20.
#[cfg(not(pirn_free))]
#[test]
fn long_lived_fibers_spread() {
    const FIBERS: usize = 1_000;
    for workers in [2, 4] {
        let spread = || {
            let runtime = runtime(workers);
            let (tx, rx) = channel::bounded::<()>(0);
            let parked = Arc::new(AtomicUsize::new(0));
            runtime.run(|| {
                for i in 1..=FIBERS {
                    let (rx, count) = (rx.clone(), Arc::clone(&parked));
                    pirn::spawn(move || {
                        count.fetch_add(1, Ordering::SeqCst);
                        let _ = rx.recv();
                    });
                    until(&parked, i);
                }
            });
            drop(tx);
            let metrics = runtime.metrics().workers;
            metrics
                .iter()
                .map(|w| w.counters.started)
                .collect::<Vec<_>>()
        };
        let fair = (FIBERS / workers / 12) as u64;
        let spread = spread();
        assert!(
            spread.iter().all(|&part| part >= fair),
            "spread as {spread:?}"
        );
    }
}

/// Fibers that a thread spawns in a row use several workers.
// Proves: B12.
#[test]
fn siblings_from_a_thread_use_several_workers() {
    let mut several = 0;
    let rounds = 100;
    let runtime = runtime(4);
    for _ in 0..rounds {
        let fibers: Vec<_> = (0..4)
            .map(|_| {
                runtime.spawn(|| {
                    let until = now() + Duration::from_micros(500);
                    while now() < until {}
                    std::thread::current().id()
                })
            })
            .collect();
        let mut used: Vec<_> = fibers
            .into_iter()
            .map(|fiber| fiber.join().unwrap())
            .collect();
        used.dedup();
        several += usize::from(used.len() > 1);
    }
    assert!(
        several >= rounds / 2,
        "{several} of {rounds} rounds used several workers"
    );
}

/// Work on one of very many workers reaches all of them.
// Proves: C1.
#[test]
fn work_spreads_to_every_worker() {
    const WORKERS: usize = 64;
    let runtime = runtime(WORKERS);
    let arrived = AtomicUsize::new(0);
    let arrived = &arrived;
    runtime.scope(|s| {
        s.spawn(move || {
            for _ in 0..WORKERS - 1 {
                s.spawn(move || {
                    arrived.fetch_add(1, Ordering::SeqCst);
                    eventually("every worker takes one", || {
                        arrived.load(Ordering::SeqCst) == WORKERS - 1
                    });
                });
            }
            eventually("the others take all", || {
                arrived.load(Ordering::SeqCst) == WORKERS - 1
            });
        });
    });
}

/// B1. Fibers of one spawner are stolen by the others, every id exactly once.
// Proves: B3.
#[test]
fn stolen_fibers_run_exactly_once() {
    for workers in [2, 4, 8] {
        let runtime = runtime(workers);
        let n = scaled(100_000);
        let runs: Arc<[AtomicU8]> = (0..n).map(|_| AtomicU8::new(0)).collect();
        let mut first = 0;
        // Until thieves had their share, which on a busy machine may take a few bursts.
        while runtime.metrics().total.stolen < 100 {
            assert!(
                first < n,
                "only {} were stolen",
                runtime.metrics().total.stolen
            );
            let burst = (n / 20).max(1).min(n - first);
            runtime.run(|| {
                let all: Vec<_> = (first..first + burst)
                    .map(|i| {
                        let runs = Arc::clone(&runs);
                        pirn::spawn(move || {
                            let until = now() + Duration::from_micros(3);
                            while now() < until {}
                            assert_eq!(runs[i].fetch_add(1, Ordering::Relaxed), 0);
                        })
                    })
                    .collect();
                all.into_iter().for_each(|fiber| fiber.join().unwrap());
            });
            first += burst;
        }
        let ran = runs
            .iter()
            .filter(|runs| runs.load(Ordering::Relaxed) == 1)
            .count();
        assert_eq!(ran, first);
    }
}

/// Stealing takes halves: few steals move many fibers.
// Proves: C2.
#[test]
fn steals_are_few() {
    let runtime = runtime(2);
    let n = scaled(100_000) as u64;
    runtime.run(|| {
        let all: Vec<_> = (0..n)
            .map(|_| {
                pirn::spawn(|| {
                    let until = now() + Duration::from_micros(1);
                    while now() < until {}
                })
            })
            .collect();
        all.into_iter().for_each(|fiber| fiber.join().unwrap());
    });
    let total = runtime.metrics().total;
    assert!(
        total.steals * 20 <= n.max(400),
        "{} steals for {n} fibers",
        total.steals
    );
}

/// B6. The child of a parent that keeps computing is started by another worker, also when it is the
/// only one.
#[test]
fn the_child_of_a_computing_parent_starts() {
    for scheduler in SCHEDULERS {
        for workers in [2, 4] {
            let runtime = shaped(workers, scheduler);
            for _ in 0..scaled(50) {
                runtime.run(|| {
                    let started = Arc::new(AtomicBool::new(false));
                    let flag = Arc::clone(&started);
                    let child = pirn::spawn(move || flag.store(true, Ordering::SeqCst));
                    compute_until("the child starts", || started.load(Ordering::SeqCst));
                    child.join().unwrap();
                });
            }
        }
    }
}

/// How soon: a millisecond is the aim. The bound is generous, and grows with the time that the
/// wake of a plain thread takes in the same period.
// Proves: B6.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_the_child_of_a_computing_parent_starts_soon() {
    let runtime = runtime(2);
    let mut slowest = slow_wake();
    let mut waits: Vec<Duration> = (0..200)
        .map(|_| {
            runtime.run(|| {
                let started = Arc::new(AtomicBool::new(false));
                let flag = Arc::clone(&started);
                let spawned = now();
                let child = pirn::spawn(move || {
                    let waited = now() - spawned;
                    flag.store(true, Ordering::SeqCst);
                    waited
                });
                compute_until("the child starts", || started.load(Ordering::SeqCst));
                child.join().unwrap()
            })
        })
        .collect();
    slowest = slowest.max(slow_wake());
    waits.sort_unstable();
    let (half, most, last) = (waits[100], waits[180], waits[197]);
    let bound = SLACK * Duration::from_millis(5) + 4 * slowest;
    assert!(
        half < bound,
        "half waited more than {half:?}, threads {slowest:?}"
    );
    assert!(
        most < 4 * bound,
        "a tenth waited more than {most:?}, threads {slowest:?}"
    );
    assert!(
        last < 10 * bound,
        "three waited {last:?} or more, threads {slowest:?}"
    );
}

/// Two communicating fibers stay on one worker while the other idles, in every run during which no
/// fiber is stolen (see `undisturbed_talk`). Nine of ten of their wakes stay local, and half of
/// them run at once, out of the `next` slot.
// Proves: C14.
#[test]
fn two_that_talk_stay_together() {
    let rounds = scaled(20_000) as u64;
    for run in 0..7 {
        let talk = undisturbed_talk(rounds);
        let wakes = talk.total.fiber_wakes;
        assert!(
            talk.total.remote_wakes * 10 <= wakes,
            "wakes cross over in run {run}: {talk:?}"
        );
        assert!(wakes * 10 >= 9 * 2 * rounds, "run {run}: {talk:?}");
        // Where fibers may migrate, both may have moved.
        #[cfg(not(pirn_free))]
        {
            assert!(talk.together, "two workers in run {run}: {talk:?}");
            assert!(
                talk.total.next_hits * 2 >= wakes,
                "wakes are not run at once in run {run}: {talk:?}"
            );
        }
    }
}

/// The result of two communicating fibers.
#[derive(Debug)]
struct Talk {
    /// They have ended on one thread.
    #[cfg_attr(pirn_free, allow(dead_code, reason = "says nothing there"))]
    together: bool,
    total: Counters,
}

/// Returns an exchange during which no fiber was stolen. On a busy machine a worker may lose its
/// processor with a fresh fiber in its slot, and the other worker takes that fiber.
fn undisturbed_talk(rounds: u64) -> Talk {
    let mut talks = (0..8).map(|_| talk(rounds));
    let talk = talks.find(|talk| talk.total.stolen == 0);
    talk.expect("none is stolen in one of eight talks")
}

fn talk(rounds: u64) -> Talk {
    // No third thread, which a busy machine would activate.
    let runtime = Runtime::builder().workers(2).max_threads(2);
    let runtime = runtime.build().unwrap();
    let together = runtime.run(|| {
        let main = pirn::current();
        let started = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&started);
        let partner = pirn::spawn(move || {
            flag.store(true, Ordering::SeqCst);
            for _ in 0..rounds {
                park();
                main.unpark();
            }
            std::thread::current().id()
        });
        while !started.load(Ordering::SeqCst) {
            pirn::yield_now();
        }
        for _ in 0..rounds {
            partner.fiber().unpark();
            park();
        }
        partner.join().unwrap() == std::thread::current().id()
    });
    Talk {
        together,
        total: runtime.metrics().total,
    }
}

/// On a machine that is not busy most of such pairs stay together: 30 of 40.
// Proves: C14.
#[cfg(not(any(pirn_free, pirn_tsan)))]
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_most_pairs_that_talk_stay_together() {
    let talks: Vec<_> = (0..40).map(|_| talk(scaled(2_000) as u64)).collect();
    let stays = |talk: &&Talk| {
        let total = &talk.total;
        let local = total.remote_wakes * 10 <= total.fiber_wakes;
        talk.together && total.stolen == 0 && local
    };
    let together = talks.iter().filter(stays).count();
    assert!(together >= 30, "{together} of 40: {talks:?}");
}

/// Fibers from outside are fetched in fair shares: no worker does more than twice its part, or less
/// than half.
// Proves: B9.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_fetches_are_fair_shares() {
    const WORKERS: usize = 8;
    const PART: u64 = 1_000 / WORKERS as u64;
    // No other threads: each would have a share.
    let runtime = Runtime::builder().workers(WORKERS).max_threads(WORKERS);
    let runtime = runtime.prewarm(0).build().unwrap();
    let all: Vec<_> = (0..1_000)
        .map(|_| runtime.spawn(|| std::thread::sleep(Duration::from_millis(1))))
        .collect();
    all.into_iter().for_each(|fiber| fiber.join().unwrap());
    let workers = runtime.metrics().workers;
    let shares: Vec<_> = workers
        .iter()
        .map(|worker| worker.counters.started)
        .collect();
    let (least, most) = (*shares.iter().min().unwrap(), *shares.iter().max().unwrap());
    assert!(
        least >= PART / 2 && most <= 2 * PART,
        "shares of 1000 on 8 workers: {shares:?}"
    );
}
