//! Fibers that compute or block start apart from the others.
// Under ThreadSanitizer threads wake so slowly that fibers placed on them are taken back.
#![cfg(not(any(pirn_free, pirn_tsan)))]

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use pirn::cancel::Token;
use pirn::diag::ScaleReason;
use pirn::spawn::checkpoint;
use pirn::sync::Event;
use pirn::time::now;
use pirn::{blocking, compute, sleep, spawn};

use crate::executor_kind::runtime;
use crate::spread::Seen;
use crate::util::{SLACK, compute_until, eventually, scaled, slow_wake};

/// Fibers of a line with a history of blocking get a thread each.
// Proves: E2-lines.
#[test]
fn blocking_lines_get_threads() {
    const FIBERS: usize = 12;
    let runtime = runtime(2);
    let burst = || {
        let seen = Seen::default();
        // None blocks before all have started: the others would start on other threads.
        let (started, go) = (AtomicUsize::new(0), Event::manual());
        runtime.scope(|s| {
            for _ in 0..FIBERS {
                s.spawn(|| {
                    started.fetch_add(1, Ordering::SeqCst);
                    go.wait().unwrap();
                    seen.note();
                    // A little more than makes a fiber one that holds its thread.
                    thread::sleep(Duration::from_millis(40));
                });
            }
            eventually("all start", || started.load(Ordering::SeqCst) == FIBERS);
            go.set();
        });
        seen.shares()
    };
    let first = burst();
    assert!(first.len() <= 3, "{first:?}");
    // The monitor detects which fibers have held their threads for long.
    let mut second = Vec::new();
    let known = (0..10).any(|_| {
        second = burst();
        second.len() == FIBERS
    });
    assert!(known, "{second:?}");
    let decisions = runtime.metrics().scale;
    let apart = decisions
        .iter()
        .find(|(reason, _)| *reason == ScaleReason::Apart);
    assert!(
        apart.is_some_and(|(_, times)| *times >= 10),
        "{decisions:?}"
    );
}

/// Fibers that compute, and then wait for each other in the system, all start, though their line
/// has a history of computing and there are more of them than threads for that.
#[test]
fn computing_fibers_that_block_for_each_other_meet() {
    const FIBERS: usize = 12;
    for asks in [false, true] {
        let runtime = runtime(2);
        let meeting = Barrier::new(FIBERS);
        let met = AtomicUsize::new(0);
        let meet = || {
            let until = now() + Duration::from_millis(15);
            compute_until("a while", || now() > until);
            meeting.wait();
            met.fetch_add(1, Ordering::SeqCst);
        };
        runtime.scope(|s| {
            for _ in 0..FIBERS {
                s.spawn(|| match asks {
                    true => compute(meet),
                    false => meet(),
                });
            }
        });
        assert_eq!(met.into_inner(), FIBERS);
    }
}

/// Uses a thread's processor time until `stop`.
fn hog(stop: &AtomicBool) {
    compute_until("the end", || stop.load(Ordering::SeqCst));
}

/// A fresh fiber starts beside as many computing ones as there are workers, within 5 ms, and no
/// more than twice as many threads as workers compute.
// Proves: E2-fresh.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_a_fresh_fiber_starts_beside_computing_ones() {
    const WORKERS: usize = 2;
    let mut waits = Vec::new();
    let mut slowest = slow_wake();
    for _ in 0..scaled(40) {
        let (runtime, stop) = (runtime(WORKERS), AtomicBool::new(false));
        let inside = AtomicUsize::new(0);
        runtime.scope(|s| {
            for _ in 0..WORKERS {
                s.spawn(|| {
                    inside.fetch_add(1, Ordering::SeqCst);
                    hog(&stop);
                });
            }
            eventually("all compute", || inside.load(Ordering::SeqCst) == WORKERS);
            let spawned = now();
            waits.push(s.spawn(move || now() - spawned).join().unwrap());
            let threads = runtime.metrics().workers.len();
            stop.store(true, Ordering::SeqCst);
            assert!(threads <= 2 * WORKERS, "{threads} threads of workers");
        });
    }
    slowest = slowest.max(slow_wake());
    waits.sort_unstable();
    let (half, most) = (waits[waits.len() / 2], waits[waits.len() - 1]);
    let bound = SLACK * Duration::from_millis(5) + 4 * slowest;
    assert!(
        half < bound,
        "half waited for {half:?} or more, of {waits:?}"
    );
    assert!(
        most < 4 * bound,
        "one waited for {most:?}, threads {slowest:?}"
    );
}

/// Sleeps end in time beside computing fibers, if the spawn line of those has a history of
/// computing.
// Proves: E2-lines.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_sleeps_beside_known_hogs() {
    let runtime = runtime(2);
    let mut late = Vec::new();
    for round in 0..4 {
        let stop = AtomicBool::new(false);
        runtime.scope(|s| {
            let sleeper = s.spawn(|| {
                let mut late = Vec::new();
                while !stop.load(Ordering::SeqCst) {
                    let began = now();
                    sleep(Duration::from_millis(1)).unwrap();
                    late.push((now() - began).saturating_sub(Duration::from_millis(1)));
                }
                late
            });
            thread::sleep(Duration::from_millis(5));
            let hogs = [0, 1].map(|_| {
                s.spawn(|| {
                    let until = now() + Duration::from_millis(300);
                    compute_until("a while", || now() > until);
                })
            });
            hogs.into_iter().for_each(|hog| hog.join().unwrap());
            stop.store(true, Ordering::SeqCst);
            let seen = sleeper.join().unwrap();
            if round > 0 {
                late.extend(seen);
            }
        });
    }
    late.sort_unstable();
    let (p99, n) = (late[late.len() * 99 / 100], late.len());
    let bound = SLACK * Duration::from_millis(5) + 4 * slow_wake();
    assert!(
        p99 <= bound,
        "{p99:?} late in one of a hundred of {n} sleeps"
    );
    assert!(n > 300, "only {n} sleeps ended");
}

/// A computation runs beside the workers, under the caller's token; its result, and its panic, are
/// the caller's.
// Proves: E2-apart.
#[test]
fn a_computation_runs_apart() {
    // On a plain thread it is a call.
    let own = thread::current().id();
    assert_eq!(compute(|| thread::current().id()), own);
    for workers in [1, 2, 4] {
        let runtime = runtime(workers);
        let text = String::from("borrowed");
        runtime.run(|| {
            let own = thread::current().id();
            let (there, length) = compute(|| (thread::current().id(), text.len()));
            assert_eq!(length, 8);
            // A runtime with one worker has no other thread.
            assert_eq!(there == own, workers == 1);
            // Inside another one it is a call.
            let nested = compute(|| {
                let own = thread::current().id();
                compute(|| thread::current().id()) == own
            });
            assert!(nested || workers == 1);
            let raised = std::panic::catch_unwind(|| compute(|| panic!("so")));
            assert_eq!(raised.unwrap_err().downcast_ref(), Some(&"so"));
        });
    }
}

/// A computation that checks for interrupts ends when its caller is cancelled; one that began under
/// a cancelled token runs all the same.
// Proves: E2-apart.
#[test]
fn a_computation_is_cancelled_with_its_caller() {
    let runtime = runtime(2);
    let (token, began) = (Token::new(), AtomicBool::new(false));
    let rounds = runtime.scope(|s| {
        let (token, began) = (&token, &began);
        let caller = s.spawn(move || {
            token.enter(|| {
                compute(|| {
                    began.store(true, Ordering::SeqCst);
                    (0..).find(|_| checkpoint().is_err())
                })
            })
        });
        eventually("it computes", || began.load(Ordering::SeqCst));
        token.cancel();
        caller.join().unwrap()
    });
    assert!(rounds.is_some());
    runtime.run(|| {
        let token = Token::new();
        token.cancel();
        assert_eq!(token.enter(|| compute(|| 5)), 5);
    });
}

/// Computations take turns on as many threads as there are workers, or twice as many where they
/// wait for long, and all of them end.
// Proves: E2-apart.
#[test]
fn computations_take_turns() {
    let runtime = runtime(2);
    let (now_inside, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let total: usize = runtime.scope(|s| {
        let each = |n: usize| {
            let (now_inside, most) = (&now_inside, &most);
            s.spawn(move || {
                compute(|| {
                    let inside = now_inside.fetch_add(1, Ordering::SeqCst) + 1;
                    most.fetch_max(inside, Ordering::SeqCst);
                    let until = now() + Duration::from_millis(2);
                    compute_until("a moment", || now() > until);
                    now_inside.fetch_sub(1, Ordering::SeqCst);
                    n
                })
            })
        };
        let all: Vec<_> = (0..40).map(each).collect();
        all.into_iter().map(|fiber| fiber.join().unwrap()).sum()
    });
    assert_eq!(total, 40 * 39 / 2);
    assert!(most.into_inner() <= 4);
}

/// A fiber configured to start apart does, and one configured not to does not, with any history of
/// its line.
// Proves: E2-apart.
#[test]
fn apart_is_obeyed() {
    let runtime = runtime(2);
    let place = |apart: Option<bool>, hold: Duration| {
        runtime.run(|| {
            let mut builder = spawn::Builder::new();
            if let Some(apart) = apart {
                builder = builder.apart(apart);
            }
            let placed = builder.spawn(move || {
                blocking::block_in_place(|| thread::sleep(hold));
                thread::current().name().map(str::to_owned)
            });
            placed.unwrap().join().unwrap().unwrap()
        })
    };
    let is_member = |name: &str| name == "pirn-0" || name == "pirn-1";
    assert!(!is_member(&place(Some(true), Duration::ZERO)));
    // The line gets a history of holding its thread.
    eventually("it is known", || {
        let name = place(None, Duration::from_millis(60));
        !is_member(&name)
    });
    assert!(is_member(&place(Some(false), Duration::ZERO)));
    // In a scope too.
    let name = runtime.run(|| {
        pirn::scope(|s| {
            let apart = spawn::Builder::new().apart(true);
            let name = || thread::current().name().map(str::to_owned);
            apart.spawn_scoped(s, name).unwrap().join().unwrap()
        })
    });
    assert!(!is_member(&name.unwrap()));
}
