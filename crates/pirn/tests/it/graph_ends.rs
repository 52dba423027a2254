//! Runs of a graph that are interrupted: by a panic, a cancellation, a deadline, a shutdown.

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use pirn::Interrupt;
use pirn::cancel::{Token, check, with_deadline};
use pirn::par::graph::{Access, Graph};
use pirn::sync::Barrier;

use crate::executor_kind::{for_ever, runtime, until};
use crate::util::{LONG, compute_until, on_every_shape};

/// `run` raises a panic when all started nodes have ended; the nodes after it do not run; the next
/// run starts anew.
// Proves: O14-panic.
#[test]
fn a_panic_of_a_node() {
    on_every_shape(|runtime| {
        let fails = AtomicBool::new(true);
        let (started, calls) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let ended = AtomicBool::new(false);
        let after_both = AtomicUsize::new(0);
        let mut graph = Graph::new();
        let root = graph.add("root", Access::new(), || {});
        let bad = graph.add("bad", Access::new().after(root), || {
            until(&started, 1);
            calls.fetch_add(1, Ordering::SeqCst);
            if fails.load(Ordering::SeqCst) {
                panic_any("on purpose");
            }
        });
        let good = graph.add("good", Access::new().after(root), || {
            started.fetch_add(1, Ordering::SeqCst);
            if fails.load(Ordering::SeqCst) {
                // The panic cancels it; it would wait indefinitely.
                assert_eq!(for_ever(), Interrupt::Cancelled);
            }
            ended.store(true, Ordering::SeqCst);
        });
        graph.add("behind", Access::new().after(bad).after(good), || {
            after_both.fetch_add(1, Ordering::SeqCst);
        });
        for round in 0..3 {
            started.store(0, Ordering::SeqCst);
            ended.store(false, Ordering::SeqCst);
            fails.store(round % 2 == 0, Ordering::SeqCst);
            let run = AssertUnwindSafe(|| runtime.run(|| graph.run().unwrap()));
            let raised = catch_unwind(run);
            assert!(ended.load(Ordering::SeqCst), "left behind");
            match raised {
                Ok(()) => assert_eq!(round, 1),
                Err(panic) => assert_eq!(panic.downcast_ref(), Some(&"on purpose")),
            }
        }
        drop(graph);
        assert_eq!(calls.into_inner(), 3);
        assert_eq!(after_both.into_inner(), 1);
    });
}

/// All nodes run though the caller has been cancelled, before or meanwhile, and their waits report
/// it.
// Proves: O14-whole.
#[test]
fn the_cancellation_of_a_run() {
    on_every_shape(|runtime| {
        let meanwhile = Token::new();
        let (told, seen) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let together = Barrier::new(3);
        let mut graph = Graph::new();
        let first = graph.add("first", Access::new(), || meanwhile.cancel());
        let nodes: Vec<_> = (0..3)
            .map(|_| {
                graph.add("waits", Access::new().after(first), || {
                    // That is no interruption point: all three run concurrently.
                    together.wait();
                    assert_eq!(for_ever(), Interrupt::Cancelled);
                    told.fetch_add(1, Ordering::SeqCst);
                })
            })
            .collect();
        let last = graph.add("last", Access::new(), || {
            assert_eq!(check(), Err(Interrupt::Cancelled));
            seen.fetch_add(1, Ordering::SeqCst);
        });
        nodes.iter().for_each(|node| graph.order(*node, last));
        runtime.run(|| {
            for _ in 0..2 {
                // The second time the token is already cancelled.
                meanwhile.enter(|| graph.run().unwrap());
            }
        });
        drop(graph);
        assert_eq!((told.into_inner(), seen.into_inner()), (6, 2));
    });
}

/// A deadline of the caller applies in the nodes.
// Proves: O14-whole.
#[test]
fn the_deadline_of_a_run() {
    let runtime = runtime(2);
    let mut said = None;
    let mut graph = Graph::new();
    graph.add("waits", Access::new(), || said = Some(for_ever()));
    runtime.run(|| {
        let soon = pirn::time::now() + Duration::from_millis(1);
        with_deadline(soon, || graph.run().unwrap());
    });
    drop(graph);
    assert_eq!(said, Some(Interrupt::TimedOut));
}

/// A runtime that is shut down meanwhile admits no more fibers; the rest of a run is run all the
/// same.
// Proves: O14-whole.
#[test]
fn a_shutdown_amid_a_run() {
    for workers in [1, 2, 4] {
        let runtime = runtime(workers);
        let handle = runtime.handle();
        let (waits, ran) = (AtomicBool::new(false), AtomicUsize::new(0));
        std::thread::scope(|threads| {
            threads.spawn(|| {
                let mut graph = Graph::new();
                let first = graph.add("first", Access::new(), || {
                    waits.store(true, Ordering::SeqCst);
                    assert_eq!(for_ever(), Interrupt::Cancelled);
                });
                let middle = (0..10).map(|_| {
                    graph.add("middle", Access::new().after(first), || {
                        ran.fetch_add(1, Ordering::SeqCst);
                    })
                });
                let middle: Vec<_> = middle.collect();
                let last = graph.add("last", Access::new(), || {
                    assert_eq!(ran.load(Ordering::SeqCst), 10);
                    ran.fetch_add(1, Ordering::SeqCst);
                });
                middle.iter().for_each(|node| graph.order(*node, last));
                handle.enter(|| graph.run().unwrap());
            });
            crate::util::eventually("it waits", || waits.load(Ordering::SeqCst));
            runtime.shutdown(LONG).unwrap();
        });
        assert_eq!(ran.into_inner(), 11);
    }
}

/// Nor is a node skipped that was queued when the shutdown began.
// Proves: O14-whole.
#[test]
fn a_shutdown_leaves_no_node_out() {
    for workers in [1, 2, 4] {
        let runtime = runtime(workers);
        let handle = runtime.handle();
        let all = runtime.run(Token::current);
        let (begun, ran) = (AtomicBool::new(false), AtomicUsize::new(0));
        std::thread::scope(|threads| {
            threads.spawn(|| {
                let mut graph = Graph::new();
                for _ in 0..20 {
                    graph.add("node", Access::new(), || {
                        begun.store(true, Ordering::SeqCst);
                        // Meanwhile the worker is blocked.
                        compute_until("the shutdown", || all.is_cancelled());
                        ran.fetch_add(1, Ordering::SeqCst);
                    });
                }
                handle.enter(|| graph.run().unwrap());
            });
            crate::util::eventually("one runs", || begun.load(Ordering::SeqCst));
            runtime.shutdown(LONG).unwrap();
        });
        assert_eq!(ran.into_inner(), 20);
    }
}
