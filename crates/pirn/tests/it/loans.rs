//! A fiber for which no stack is available gets one beyond the bound, if a fiber waits for its end.

use std::cell::Cell;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pirn::par::graph::{Access, Graph};
use pirn::runtime::Scheduler;
use pirn::scope::TaskGroup;
use pirn::spawn::{Builder, JoinError};
use pirn::{Interrupt, Runtime, channel};

use crate::util::{SCHEDULERS, eventually};

pirn::fiber_local! {
    static MARK: Cell<usize> = Cell::new(0);
}

/// Stacks of a size in which the frames of a sanitized debug build nest deeply.
pub(crate) const STACK: usize = 1 << 20;

pub(crate) fn scarce(workers: usize, scheduler: Scheduler, stacks: usize) -> Runtime {
    let builder = Runtime::builder().workers(workers).scheduler(scheduler);
    let builder = builder.stack_size(STACK).max_stacks(stacks);
    builder.build().expect("a runtime starts")
}

pub(crate) fn on_every_scarce_shape(stacks: usize, test: impl Fn(&Runtime)) {
    for scheduler in SCHEDULERS {
        for workers in [1, 2, 4, 8] {
            let runtime = scarce(workers, scheduler, stacks);
            test(&runtime);
            let metrics = runtime.metrics();
            assert_eq!(metrics.total.rescues, 0, "{workers}, {scheduler:?}");
            assert_eq!(metrics.waiting_for_stack, 0, "{workers}, {scheduler:?}");
        }
    }
}

fn nest(depth: usize) -> usize {
    let mut below = 0;
    if depth > 0 {
        pirn::scope(|s| _ = s.spawn(|| below = nest(depth - 1)));
    }
    below + 1
}

/// Scopes nest sixteen times deeper than there are stacks.
// Proves: O10.
#[test]
fn nested_scopes_on_four_stacks() {
    on_every_scarce_shape(4, |runtime| {
        assert_eq!(runtime.spawn(|| nest(64)).join().unwrap(), 65);
        assert!(runtime.metrics().total.loans >= 60);
    });
}

/// The same on stacks of the usual size.
#[test]
#[cfg(not(any(debug_assertions, pirn_asan, pirn_tsan)))]
fn nested_scopes_on_four_usual_stacks() {
    let runtime = Runtime::builder().workers(2).max_stacks(4).build().unwrap();
    assert_eq!(runtime.spawn(|| nest(64)).join().unwrap(), 65);
}

fn sum(range: std::ops::Range<u64>) -> u64 {
    let len = range.end - range.start;
    if len <= 2 {
        return range.sum();
    }
    let middle = range.start + len / 2;
    pirn::scope(|s| {
        let left = s.spawn(|| sum(range.start..middle));
        let right = s.spawn(|| sum(middle..range.end));
        left.join().unwrap() + right.join().unwrap()
    })
}

/// All tasks inline: no thread but the caller's, and one stack beside those that wait for
/// another task.
// The caller's thread: settled.
// Proves: L11.
#[test]
#[cfg(not(pirn_free))]
fn everything_on_one_thread_and_one_stack() {
    let builder = Runtime::builder().workers(0).stack_size(STACK);
    let runtime = builder.max_stacks(1).build().unwrap();
    let caller = std::thread::current().id();
    let total = runtime.run(|| {
        assert_eq!(nest(32), 33);
        pirn::scope(|s| {
            let here = s.spawn(|| std::thread::current().id());
            assert_eq!(here.join().unwrap(), caller);
        });
        sum(0..300)
    });
    assert_eq!(total, 44_850);
    let metrics = runtime.metrics().total;
    assert_eq!(metrics.started - metrics.loans, 1);
}

/// Without a shortage of stacks there are no loans.
// Proves: O10.
#[test]
fn no_loans_while_stacks_suffice() {
    on_every_scarce_shape(1_000, |runtime| {
        assert_eq!(runtime.spawn(|| nest(64)).join().unwrap(), 65);
        assert_eq!(runtime.spawn(|| sum(0..200)).join().unwrap(), 19_900);
        let total = runtime.metrics().total;
        assert_eq!((total.loans, total.stack_waits), (0, 0));
    });
}

/// The scope's owner joins the children in pairs.
// Proves: O10.
#[test]
fn joins_of_children_that_find_no_stack() {
    on_every_scarce_shape(3, |runtime| {
        let total = runtime.spawn(|| sum(0..1_000)).join().unwrap();
        assert_eq!(total, 499_500);
    });
}

/// Fibers outside any scope are joined.
// Proves: O10.
#[test]
fn joins_of_fibers_that_find_no_stack() {
    fn chain(depth: usize) -> usize {
        match depth {
            0 => 0,
            _ => 1 + pirn::spawn(move || chain(depth - 1)).join().unwrap(),
        }
    }
    on_every_scarce_shape(2, |runtime| {
        assert_eq!(runtime.spawn(|| chain(50)).join().unwrap(), 50);
    });
}

/// Many children of one parent, on one stack.
// Proves: O10.
#[test]
fn a_fan_on_one_stack() {
    on_every_scarce_shape(1, |runtime| {
        let sums = runtime.spawn(|| {
            let squares = (0..300_u64).map(|n| move || Ok::<_, Interrupt>(n * n));
            let all = pirn::scope::all(squares).unwrap();
            let mut parts = vec![1; 300];
            pirn::scope(|s| {
                for part in &mut parts {
                    s.spawn(move || *part += 1);
                }
            });
            (all.iter().sum::<u64>(), parts.iter().sum::<u64>())
        });
        assert_eq!(sums.join().unwrap(), (8_955_050, 600));
    });
}

/// A graph with nodes that run graphs.
// Proves: O10.
#[test]
fn graphs_on_one_stack() {
    fn layers<'env>(node: impl Fn() + Send + Copy + 'env) -> Graph<'env> {
        struct Shared;
        let mut graph = Graph::new();
        for _ in 0..3 {
            graph.add("writes", Access::new().write::<Shared>(), node);
            for _ in 0..5 {
                graph.add("reads", Access::new().read::<Shared>(), node);
            }
        }
        graph
    }
    on_every_scarce_shape(1, |runtime| {
        let ran = AtomicUsize::new(0);
        let inner = || _ = ran.fetch_add(1, Ordering::Relaxed);
        let mut outer = layers(|| layers(inner).run().unwrap());
        runtime.run(|| (0..2).for_each(|_| outer.run().unwrap()));
        drop(outer);
        assert_eq!(ran.into_inner(), 2 * 18 * 18);
    });
}

/// Waits for a whole group, for one result at a time, and for room in the group.
// Proves: O10.
#[test]
fn groups_on_one_stack() {
    on_every_scarce_shape(1, |runtime| {
        let body = || {
            let group = TaskGroup::new();
            for n in 0..20 {
                group.spawn(move || n).unwrap();
            }
            group.wait().unwrap();
            for n in 20..40 {
                group.spawn(move || n).unwrap();
            }
            let mut total = 0;
            while let Some(n) = group.join_next().unwrap() {
                total += n.unwrap();
            }
            let narrow = TaskGroup::new().limit(2);
            for n in 0..20_usize {
                narrow.spawn(move || drop(vec![0_u8; n])).unwrap();
            }
            narrow.wait().unwrap();
            total
        };
        assert_eq!(runtime.spawn(body).join().unwrap(), 780);
    });
}

/// A borrower behaves like any fiber: it parks, for events of fibers on the same thread and on
/// others; it has locals, a name and its own panics.
// Proves: O10.
#[test]
fn a_borrower_is_a_fiber() {
    on_every_scarce_shape(2, |runtime| {
        let (tx, rx) = channel::bounded::<usize>(0);
        let holder = {
            let rx = rx.clone();
            // Waits for no fiber's end, so it borrows nothing.
            runtime.spawn(move || rx.recv().unwrap())
        };
        eventually("it has a stack", || runtime.metrics().total.started == 1);
        let waiter = runtime.spawn(move || {
            MARK.set(1);
            let outer = pirn::current().id();
            pirn::scope::supervise(|s| {
                let borrower = Builder::new().name("borrower").spawn_scoped(s, || {
                    assert_ne!(pirn::current().id(), outer);
                    assert_eq!(pirn::current().name(), Some("borrower"));
                    assert_eq!(MARK.get(), 0);
                    MARK.set(2);
                    pirn::yield_now();
                    let n = rx.recv().unwrap();
                    pirn::sleep(Duration::from_millis(1)).unwrap();
                    assert_eq!(n, 7);
                    resume_unwind(Box::new("on purpose"));
                });
                let Err(JoinError::Panicked(payload)) = borrower.unwrap().join() else {
                    panic!("no panic of the borrower's");
                };
                assert_eq!(payload.message(), Some("on purpose".to_owned()));
            });
            assert_eq!(pirn::current().id(), outer);
            assert_eq!(MARK.get(), 1);
            pirn::yield_now();
            5
        });
        eventually("the borrower runs", || runtime.metrics().total.loans == 1);
        tx.send(7).unwrap();
        tx.send(7).unwrap();
        assert_eq!(waiter.join().unwrap(), 5);
        assert_eq!(holder.join().unwrap(), 7);
    });
}
