//! Parallel operations on one worker: results, order, panics, and graphs of tasks.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use pirn::par::graph::{Access, Graph};
use pirn::par::{self, join};
use pirn::{Interrupt, channel};

use crate::{Log, check};

fn busy(n: usize) -> usize {
    (0..n % 3).for_each(|_| pirn::yield_now());
    n
}

/// Nested joins, with yields in them: the results are those of plain calls.
// Proves: U30-parallel.
#[test]
fn joins_have_the_results_of_plain_calls() {
    check(|| {
        let sum = |from: usize| {
            let half = |n: usize| move || join(|| busy(n), || busy(n + 1));
            let ((a, b), (c, d)) = join(half(from), half(from + 2));
            a + b + c + d
        };
        assert_eq!(join(|| sum(1), || sum(5)), (10, 26));
    });
}

/// Halves that wait for each other, in both directions.
// Proves: U30-parallel.
#[test]
fn halves_wait_for_each_other() {
    check(|| {
        let (ask, asked) = channel::bounded(0);
        let (answer, answered) = channel::bounded(0);
        let first = || {
            ask.send(7).unwrap();
            answered.recv().unwrap()
        };
        let second = || {
            let value = asked.recv().unwrap();
            answer.send(value + 1).unwrap();
            value
        };
        assert_eq!(join(first, second), (8, 7));
        let inner = || join(|| busy(2), || asked.recv().unwrap()).1;
        assert_eq!(join(inner, || ask.send(9).unwrap()).0, 9);
    });
}

/// A panic of one half, or of both: the other half ends first, and the first panic is raised.
// Proves: U30-parallel.
#[test]
fn a_panic_of_a_half_waits_for_the_other() {
    check(|| {
        for (first, second) in [(true, false), (false, true), (true, true)] {
            let ended = AtomicUsize::new(0);
            let half = |n: u32, fails: bool| {
                let ended = &ended;
                move || {
                    busy(2);
                    ended.fetch_add(1, Ordering::Relaxed);
                    if fails {
                        std::panic::resume_unwind(Box::new(n));
                    }
                }
            };
            let both = || join(half(1, first), half(2, second));
            let panic = catch_unwind(AssertUnwindSafe(both)).unwrap_err();
            let expected = if first { 1_u32 } else { 2 };
            assert_eq!(panic.downcast_ref(), Some(&expected));
            assert_eq!(ended.into_inner(), 2);
        }
    });
}

/// Each operation has the result of its loop.
// Proves: U30-parallel.
#[test]
fn operations_have_the_results_of_loops() {
    check(|| {
        let items: Vec<usize> = (0..8).rev().collect();
        let called = AtomicUsize::new(0);
        par::for_each(&items[..], |n| {
            _ = called.fetch_add(busy(*n), Ordering::Relaxed);
        });
        assert_eq!(called.into_inner(), 28);
        let doubled = par::map(&items[..], |n| busy(*n) * 2);
        assert!(
            doubled
                .iter()
                .eq(items.iter().map(|n| n * 2).collect::<Vec<_>>().iter())
        );
        assert_eq!(
            par::map_reduce(&items[..], || 0, |n| busy(*n), |a, b| a + b),
            28
        );
        assert_eq!(par::find_any(&items[..], |n| busy(**n) == 5), Some(&5));
        let mut sorted = items.clone();
        par::sort_by_key(&mut sorted, |n| busy(*n));
        assert!(sorted.iter().copied().eq(0..8));
        par::scan(&mut sorted, |a, b| busy(*a) + b);
        assert_eq!(sorted, [0, 1, 3, 6, 10, 15, 21, 28]);
    });
}

/// Errors: one of them is the result, and no item is called twice.
// Proves: U30-parallel.
#[test]
fn an_error_ends_an_operation() {
    #[derive(Debug)]
    struct Failed(usize);
    impl From<Interrupt> for Failed {
        fn from(_: Interrupt) -> Failed {
            Failed(usize::MAX)
        }
    }
    check(|| {
        let items: Vec<usize> = (0..6).collect();
        let called = Log::new();
        let failed = par::try_for_each(&items[..], |n| {
            called.add(busy(*n));
            match n % 3 {
                2 => Err(Failed(*n)),
                _ => Ok(()),
            }
        });
        assert!([2, 5].contains(&failed.unwrap_err().0));
        let mut called = called.take();
        let all = called.len();
        called.sort_unstable();
        called.dedup();
        assert_eq!(called.len(), all);
    });
}

struct Place;
struct Speed;

/// Nodes that conflict run one after the other, in their order; the others may overlap.
// Proves: U30-parallel.
#[test]
fn a_graph_keeps_conflicting_nodes_apart() {
    check(|| {
        let (writing, reading) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let order = Log::new();
        let write = |name: char| {
            let (writing, reading, order) = (&writing, &reading, &order);
            move || {
                order.add(name);
                assert_eq!(writing.fetch_add(1, Ordering::Relaxed), 0);
                pirn::yield_now();
                assert_eq!(reading.load(Ordering::Relaxed), 0);
                writing.fetch_sub(1, Ordering::Relaxed);
            }
        };
        let read = |name: char| {
            let (writing, reading, order) = (&writing, &reading, &order);
            move || {
                order.add(name);
                reading.fetch_add(1, Ordering::Relaxed);
                pirn::yield_now();
                assert_eq!(writing.load(Ordering::Relaxed), 0);
                reading.fetch_sub(1, Ordering::Relaxed);
            }
        };
        let mut graph = Graph::new();
        let first = graph.add("a", Access::new().write::<Place>(), write('a'));
        graph.add("b", Access::new().read::<Place>(), read('b'));
        graph.add("c", Access::new().read::<Place>(), read('c'));
        graph.add("d", Access::new().write::<Place>(), write('d'));
        let free = Access::new().read::<Speed>().after(first);
        graph.add("e", free, || order.add('e'));
        for _ in 0..2 {
            graph.run().unwrap();
            let order = order.take();
            let place = |name: char| order.iter().position(|it| *it == name).unwrap();
            assert_eq!((order.len(), place('a')), (5, 0));
            assert!(place('b').max(place('c')) < place('d'), "{order:?}");
        }
    });
}

/// A node that panics: its successors do not run, and the graph can be run again.
// Proves: U30-parallel.
#[test]
fn a_panic_of_a_node_ends_the_run() {
    check(|| {
        let (fails, ran) = (AtomicUsize::new(1), Log::new());
        let mut graph = Graph::new();
        let first = graph.add("fails", Access::new(), || {
            pirn::yield_now();
            ran.add("fails");
            assert_eq!(fails.load(Ordering::Relaxed), 0, "on purpose");
        });
        graph.add("after", Access::new().after(first), || ran.add("after"));
        graph.add("beside", Access::new(), || ran.add("beside"));
        assert!(catch_unwind(AssertUnwindSafe(|| graph.run())).is_err());
        assert!(!ran.take().contains(&"after"));
        fails.store(0, Ordering::Relaxed);
        graph.run().unwrap();
        let ran = ran.take();
        let place = |name| ran.iter().position(|it| *it == name).unwrap();
        assert!(ran.len() == 3 && place("fails") < place("after"));
    });
}
