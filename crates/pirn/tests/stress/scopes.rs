//! Scopes by the million, nested and in sequence.

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::rig::{on_every_shape, scaled};

const MILLION: usize = 1_000_000;

/// One scope after another, each with a few children of which some wait.
#[test]
#[ignore = "storm"]
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

/// Trees of scopes: every node waits for its children, who borrow from it.
#[test]
#[ignore = "storm"]
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
#[ignore = "storm"]
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

/// Children that panic among children that do not: the first is raised, all are waited for.
#[test]
#[ignore = "storm"]
fn scopes_with_panics() {
    std::panic::set_hook(Box::new(|_| {}));
    let rounds = scaled(MILLION) / 8 / 20;
    on_every_shape(|runtime| {
        runtime.run(|| {
            for round in 0..rounds {
                let ended = AtomicUsize::new(0);
                let ended = &ended;
                let raised = catch_unwind(AssertUnwindSafe(|| {
                    pirn::scope(|s| {
                        for child in 0..20_usize {
                            s.spawn(move || {
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
                assert_eq!(ended.load(Ordering::Relaxed), 20);
            }
        });
    });
    drop(std::panic::take_hook());
}
