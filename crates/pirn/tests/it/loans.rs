//! A fiber for which there is no stack runs on that of a fiber that waits for its end.

use std::cell::Cell;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use pirn::par::graph::{Access, Graph};
use pirn::runtime::Scheduler;
use pirn::scope::TaskGroup;
use pirn::spawn::{Builder, JoinError};
use pirn::{Interrupt, Runtime, channel};

use crate::rig::{SCHEDULERS, eventually, scaled};

pirn::fiber_local! {
    static MARK: Cell<usize> = Cell::new(0);
}

/// Stacks of a size in which the frames of a sanitized debug build nest deeply.
const STACK: usize = 1 << 20;

fn scarce(workers: usize, scheduler: Scheduler, stacks: usize) -> Runtime {
    let builder = Runtime::builder().workers(workers).scheduler(scheduler);
    let builder = builder.stack_size(STACK).max_stacks(stacks);
    builder.build().expect("a runtime starts")
}

fn on_every_scarce_shape(stacks: usize, test: impl Fn(&Runtime)) {
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

/// L11. All tasks inline: no thread but the caller's, and one stack for all of them.
// The caller's thread: settled.
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

/// Without want of stacks every fiber has its own.
#[test]
fn nobody_lends_while_stacks_suffice() {
    on_every_scarce_shape(1_000, |runtime| {
        assert_eq!(runtime.spawn(|| nest(64)).join().unwrap(), 65);
        assert_eq!(runtime.spawn(|| sum(0..200)).join().unwrap(), 19_900);
        let total = runtime.metrics().total;
        assert_eq!((total.loans, total.stack_waits), (0, 0));
    });
}

/// Children are joined by the scope's owner, two by two.
#[test]
fn joins_of_children_that_find_no_stack() {
    on_every_scarce_shape(3, |runtime| {
        let total = runtime.spawn(|| sum(0..1_000)).join().unwrap();
        assert_eq!(total, 499_500);
    });
}

/// Fibers that belong to no scope are joined.
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

/// One fan of many, on one stack.
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

/// A graph whose nodes run graphs.
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

/// A group is waited for, taken from one by one, and waited for room in.
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

/// A borrower is a fiber like any other: it parks, for events of fibers on the same thread and
/// on others, while the lender is buried; it has locals, a name and a panic of its own.
#[test]
fn a_borrower_is_a_fiber() {
    on_every_scarce_shape(2, |runtime| {
        let (tx, rx) = channel::bounded::<usize>(0);
        let holder = {
            let rx = rx.clone();
            // Waits for nobody's end, so it lends nothing.
            runtime.spawn(move || rx.recv().unwrap())
        };
        eventually("it has a stack", || runtime.metrics().total.started == 1);
        let lender = runtime.spawn(move || {
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
        assert_eq!(lender.join().unwrap(), 5);
        assert_eq!(holder.join().unwrap(), 7);
    });
}

/// A wait that may end without the fiber lends nothing; the scope's end, which may not, does.
#[test]
fn a_wait_with_a_limit_lends_nothing() {
    on_every_scarce_shape(1, |runtime| {
        let lender = runtime.handle();
        let lender = runtime.spawn(move || {
            let loans = || lender.metrics().total.loans;
            let mut ran = false;
            pirn::scope(|s| {
                let child = s.spawn(|| ran = true);
                let child = child.join_timeout(Duration::from_millis(5)).unwrap_err();
                assert!(!s.wait_timeout(Duration::from_millis(5)).unwrap());
                let limited = pirn::timeout(Duration::from_millis(5), || child.wait());
                assert!(limited.is_err());
                assert_eq!(loans(), 0);
            });
            assert_eq!(loans(), 1);
            ran
        });
        assert!(lender.join().unwrap());
    });
}

/// What is asked of a lender meanwhile comes when the borrower has ended.
#[test]
fn a_lender_hears_of_its_cancellation_later() {
    on_every_scarce_shape(1, |runtime| {
        let (tx, rx) = channel::bounded::<usize>(0);
        let lender = runtime.spawn(move || {
            let borrower = pirn::spawn(move || rx.recv().unwrap());
            let borrowed = borrower.join().unwrap();
            (borrowed, pirn::sleep(Duration::from_millis(1)))
        });
        eventually("it lends", || runtime.metrics().total.loans == 1);
        lender.cancel();
        lender.fiber().unpark();
        tx.send(3).unwrap();
        let (borrowed, slept) = lender.join().unwrap();
        assert_eq!((borrowed, slept), (3, Err(Interrupt::Cancelled)));
    });
}

/// A scope that is cancelled tells those of its fibers that borrow.
#[test]
fn a_borrower_is_cancelled_with_its_scope() {
    on_every_scarce_shape(1, |runtime| {
        let (tx, rx) = channel::bounded::<usize>(0);
        let runs = Arc::new(AtomicBool::new(false));
        let begun = Arc::clone(&runs);
        let lender = runtime.spawn(move || {
            let borrow = || {
                begun.store(true, Ordering::SeqCst);
                rx.recv().is_err()
            };
            pirn::scope(|s| s.spawn(borrow).join().unwrap())
        });
        // Who is cancelled before it runs does not run.
        eventually("the borrower runs", || runs.load(Ordering::SeqCst));
        assert_eq!(runtime.metrics().total.loans, 1);
        lender.cancel();
        assert!(lender.join().unwrap());
        drop(tx);
    });
}

/// A report knows who lends: it waits, and what for, and has no stack.
// Where fibers may migrate, a lender is told as one that could run (design note 024).
#[test]
#[cfg(not(pirn_free))]
fn a_report_on_a_lender() {
    on_every_scarce_shape(1, |runtime| {
        let (tx, rx) = channel::bounded::<usize>(0);
        let lender = runtime.spawn(move || pirn::scope(|s| _ = s.spawn(|| rx.recv())));
        eventually("the borrower waits", || {
            let mut text = Vec::new();
            runtime.handle().dump(&mut text).unwrap();
            let text = String::from_utf8(text).unwrap();
            text.contains("(Scope)")
                && text.contains("its stack is lent")
                && text.contains("(Recv)")
        });
        tx.send(1).unwrap();
        lender.join().unwrap();
    });
}

/// Trees of fibers that yield, sleep, talk, panic and are cancelled, on few stacks: all end, and
/// every one of them ran once or was cancelled.
#[test]
fn a_storm_of_loans() {
    static RAN: AtomicUsize = AtomicUsize::new(0);
    fn tree(depth: usize, seed: usize) {
        RAN.fetch_add(1, Ordering::Relaxed);
        if seed.is_multiple_of(3) {
            pirn::yield_now();
        }
        if depth == 0 {
            if seed.is_multiple_of(11) {
                let _ = pirn::sleep(Duration::from_micros(50));
            }
            if seed.is_multiple_of(13) {
                resume_unwind(Box::new("on purpose"));
            }
            return;
        }
        match seed % 4 {
            0 => pirn::scope::supervise(|s| {
                for child in 0..3 {
                    s.spawn(move || tree(depth - 1, seed * 7 + child));
                }
            }),
            1 => {
                let (tx, rx) = channel::bounded(3);
                pirn::scope::supervise(|s| {
                    let fibers: Vec<_> = (0..3)
                        .map(|child| {
                            let tx = tx.clone();
                            s.spawn(move || {
                                tree(depth - 1, seed * 5 + child);
                                tx.send(child).unwrap();
                            })
                        })
                        .collect();
                    drop(tx);
                    let ended = fibers.into_iter().map(|fiber| fiber.join());
                    let sent = ended.filter(Result::is_ok).count();
                    assert_eq!(rx.iter().count(), sent);
                });
            }
            2 => {
                let group = TaskGroup::new();
                for child in 0..3 {
                    group
                        .spawn(move || tree(depth - 1, seed * 3 + child))
                        .unwrap();
                }
                while group.join_next().unwrap().is_some() {}
            }
            _ => {
                for child in 0..3 {
                    let fiber = pirn::spawn(move || tree(depth - 1, seed + child));
                    if seed.is_multiple_of(17) {
                        fiber.cancel();
                    }
                    drop(fiber.join());
                }
            }
        }
    }
    let mut loans = 0;
    for scheduler in SCHEDULERS {
        for workers in [1, 2, 4, 8] {
            for stacks in [1, 3, 8] {
                let runtime = scarce(workers, scheduler, stacks);
                let fibers: Vec<_> = (0..scaled(12))
                    .map(|seed| runtime.spawn(move || tree(4, seed)))
                    .collect();
                for fiber in fibers {
                    drop(fiber.join());
                }
                runtime.wait_idle().unwrap();
                let total = runtime.metrics().total;
                assert_eq!(total.spawned, total.completed);
                assert_eq!(total.rescues, 0);
                loans += total.loans;
            }
        }
    }
    assert!(loans > 0);
    assert!(RAN.load(Ordering::Relaxed) > 0);
}
