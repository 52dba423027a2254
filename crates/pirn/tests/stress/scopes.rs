//! Scopes by the million, nested and in sequence.

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::atomic::{AtomicUsize, Ordering};

use pirn::Runtime;

use crate::util::{SLACK, on_every_shape, resident, scaled};

const MILLION: usize = 1_000_000;

/// One scope after another, each with a few children of which some wait.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn scopes_in_sequence() {
    let rounds = scaled(MILLION) / 8;
    on_every_shape(|runtime| {
        runtime.run(|| {
            for round in 0..rounds {
                let ended = AtomicUsize::new(0);
                let children = round % 4;
                pirn::scope(|s| {
                    for child in 0..children {
                        let ended = &ended;
                        s.spawn(move || {
                            if (round + child) % 5 == 0 {
                                pirn::yield_now();
                            }
                            ended.fetch_add(1, Ordering::Relaxed);
                        });
                    }
                });
                assert_eq!(ended.into_inner(), children);
            }
        });
    });
}

/// Trees of scopes: every node waits for its children, which borrow from it.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn scopes_nested() {
    fn tree(depth: usize, leaves: &AtomicUsize) -> usize {
        if depth == 0 {
            leaves.fetch_add(1, Ordering::Relaxed);
            return 1;
        }
        let below = AtomicUsize::new(0);
        pirn::scope(|s| {
            for _ in 0..4 {
                s.spawn(|| below.fetch_add(tree(depth - 1, leaves), Ordering::Relaxed));
            }
        });
        below.into_inner()
    }
    let depth = if scaled(4) == 4 { 9 } else { 6 };
    on_every_shape(|runtime| {
        let leaves = AtomicUsize::new(0);
        assert_eq!(runtime.run(|| tree(depth, &leaves)), 1 << (2 * depth));
        assert_eq!(leaves.into_inner(), 1 << (2 * depth));
    });
}

/// Scopes of threads and of fibers at once, on one runtime.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn scopes_from_many_threads() {
    let rounds = scaled(MILLION) / 8 / 12;
    on_every_shape(|runtime| {
        let ended = AtomicUsize::new(0);
        std::thread::scope(|threads| {
            for _ in 0..4 {
                threads.spawn(|| {
                    for _ in 0..rounds {
                        runtime.scope(|s| {
                            for _ in 0..3 {
                                s.spawn(|| ended.fetch_add(1, Ordering::Relaxed));
                            }
                        });
                    }
                });
            }
        });
        assert_eq!(ended.into_inner(), 12 * rounds);
    });
}

/// Children that panic among children that do not: the panic is raised, every started child is
/// waited for, and the others do not start.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn scopes_with_panics() {
    std::panic::set_hook(Box::new(|_| {}));
    let rounds = scaled(MILLION) / 8 / 20;
    on_every_shape(|runtime| {
        runtime.run(|| {
            for round in 0..rounds {
                let (begun, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
                let (begun, ended) = (&begun, &ended);
                let raised = catch_unwind(AssertUnwindSafe(|| {
                    pirn::scope(|s| {
                        for child in 0..20_usize {
                            s.spawn(move || {
                                begun.fetch_add(1, Ordering::Relaxed);
                                if child % 7 == round % 7 {
                                    pirn::yield_now();
                                }
                                ended.fetch_add(1, Ordering::Relaxed);
                                if child == round % 20 {
                                    panic_any(round);
                                }
                            });
                        }
                    });
                }));
                assert_eq!(raised.unwrap_err().downcast_ref(), Some(&round));
                let begun = begun.load(Ordering::Relaxed);
                assert_eq!(ended.load(Ordering::Relaxed), begun);
            }
        });
    });
    drop(std::panic::take_hook());
}

/// Ten million children with half a KiB of captures each through one scope, as in a server
/// that never closes its scope: memory use stays constant.
// Proves: K10.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn alone_ten_million_large_children() {
    let n = scaled(10 * MILLION);
    let runtime = Runtime::builder().workers(2).build().unwrap();
    runtime.run(|| {
        let sum = AtomicUsize::new(0);
        pirn::scope(|s| {
            let wave = |wave: usize| {
                for child in 0..1_000 {
                    let (capture, sum) = ([wave ^ child; 64], &sum);
                    s.spawn(move || {
                        let one = usize::from(capture[child % 64] == wave ^ child);
                        sum.fetch_add(one, Ordering::Relaxed);
                    });
                }
                s.wait().unwrap();
            };
            (0..100).for_each(wave);
            let before = resident();
            (0..n / 1_000).for_each(wave);
            let grown = resident().saturating_sub(before);
            assert!(grown < SLACK as usize * (4 << 20), "grew by {grown} bytes");
        });
        assert_eq!(sum.into_inner(), 100_000 + n / 1_000 * 1_000);
    });
}

/// Nested scopes, in which some children panic, under a token that is cancelled sooner or
/// later: every started child has ended when the outermost scope is left.
// Proves: K5.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn nested_scopes_that_panic_and_are_cancelled() {
    fn tree(depth: usize, seed: usize, alive: &AtomicUsize) {
        alive.fetch_add(1, Ordering::SeqCst);
        let ended = catch_unwind(AssertUnwindSafe(|| {
            pirn::scope(|s| {
                for child in 0..if depth > 0 { 3 } else { 0 } {
                    s.spawn(move || tree(depth - 1, seed * 3 + child, alive));
                }
                if seed % 11 == 1 {
                    s.spawn(|| panic_any("child"));
                }
                if seed % 13 == 1 {
                    s.cancel();
                }
                if seed % 17 == 1 {
                    panic_any("body");
                }
                let _ = s.wait();
                let _ = pirn::sleep(std::time::Duration::from_micros(seed as u64 % 50));
            });
        }));
        alive.fetch_sub(1, Ordering::SeqCst);
        if let (Err(panic), true) = (ended, seed.is_multiple_of(3)) {
            std::panic::resume_unwind(panic);
        }
    }
    std::panic::set_hook(Box::new(|_| {}));
    on_every_shape(|runtime| {
        for seed in 1..=scaled(2_000) {
            let alive = AtomicUsize::new(0);
            let _ = catch_unwind(AssertUnwindSafe(|| {
                runtime.run(|| tree(4, seed, &alive));
            }));
            assert_eq!(alive.into_inner(), 0);
        }
    });
    drop(std::panic::take_hook());
}
