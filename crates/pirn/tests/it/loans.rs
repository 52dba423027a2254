//! A fiber for which no stack is available gets one beyond the bound, if a fiber waits for its end.

use std::cell::Cell;
#[cfg(not(any(pirn_asan, pirn_tsan)))]
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
#[cfg(not(any(pirn_asan, pirn_tsan)))]
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use pirn::par::graph::{Access, Graph};
use pirn::runtime::{Scheduler, Spread};
use pirn::scope::TaskGroup;
use pirn::spawn::{Builder, JoinError};
use pirn::{Interrupt, Runtime, channel};

#[cfg(not(any(pirn_asan, pirn_tsan)))]
use crate::util::apart;
use crate::util::{SCHEDULERS, eventually, scaled};

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

/// A wait that may end without the fiber lends nothing; the end of a scope, which cannot, does.
// Proves: O10.
#[test]
fn a_wait_with_a_limit_borrows_nothing() {
    on_every_scarce_shape(1, |runtime| {
        let handle = runtime.handle();
        let waiter = runtime.spawn(move || {
            let loans = || handle.metrics().total.loans;
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
        assert!(waiter.join().unwrap());
    });
}

/// The end of a scope is not interrupted, so it lends, under a limit or a cancellation too.
#[test]
fn a_scope_in_a_limit_borrows() {
    on_every_scarce_shape(1, |runtime| {
        let handle = runtime.handle();
        let waiter = runtime.spawn(move || {
            let mut ran = 0;
            let limit = Duration::from_secs(3_600);
            pirn::timeout(limit, || pirn::scope(|s| _ = s.spawn(|| ran += 1))).unwrap();
            assert_eq!(handle.metrics().total.loans, 1);
            ran
        });
        assert_eq!(waiter.join().unwrap(), 1);
    });
}

/// A wait that is interrupted before it begins lends nothing.
#[test]
fn an_interrupted_wait_borrows_nothing() {
    on_every_scarce_shape(1, |runtime| {
        let handle = runtime.handle();
        let waiter = runtime.spawn(move || {
            let group = TaskGroup::new();
            group.spawn(|| ()).unwrap();
            // The fiber finds no stack meanwhile.
            while handle.metrics().waiting_for_stack == 0 {
                pirn::yield_now();
            }
            let token = pirn::cancel::Token::new();
            token.cancel();
            let waited = token.enter(|| group.wait());
            assert_eq!(waited, Err(Interrupt::Cancelled));
            assert_eq!(handle.metrics().total.loans, 0);
            group.wait().unwrap();
            assert_eq!(handle.metrics().total.loans, 1);
        });
        waiter.join().unwrap();
    });
}

/// A wait inside a poll panics, and lends nothing before.
#[test]
fn a_wait_inside_a_poll_borrows_nothing() {
    on_every_scarce_shape(1, |runtime| {
        let handle = runtime.handle();
        let waiter = runtime.spawn(move || {
            let group = TaskGroup::new();
            group.spawn(|| ()).unwrap();
            // The fiber finds no stack meanwhile.
            while handle.metrics().waiting_for_stack == 0 {
                pirn::yield_now();
            }
            let poll = AssertUnwindSafe(|| pirn::future::wait(async { group.wait() }));
            assert!(catch_unwind(poll).is_err());
            assert_eq!(handle.metrics().total.loans, 0);
            group.wait().unwrap();
            assert_eq!(handle.metrics().total.loans, 1);
        });
        waiter.join().unwrap();
    });
}

/// A waiter for several fibers lends to one at a time.
#[test]
fn borrowers_of_one_waiter_come_one_by_one() {
    on_every_scarce_shape(1, |runtime| {
        let (tx, rx) = channel::bounded::<()>(0);
        let waiter = runtime.spawn(move || {
            pirn::scope(|s| {
                for _ in 0..3 {
                    s.spawn(|| assert!(rx.recv().is_ok()));
                }
            });
        });
        for loan in 1..=3 {
            eventually("one borrows", || runtime.metrics().total.loans == loan);
            std::thread::sleep(Duration::from_millis(3));
            assert_eq!(runtime.metrics().total.loans, loan);
            tx.send(()).unwrap();
        }
        waiter.join().unwrap();
    });
}

/// A waiter is interrupted while the borrower lives.
// Proves: O10.
#[test]
fn a_waiter_is_cancelled_at_once() {
    on_every_scarce_shape(1, |runtime| {
        let (tx, rx) = channel::bounded::<usize>(0);
        let waiter = runtime.spawn(move || {
            let borrower = pirn::spawn(move || rx.recv().unwrap());
            (borrower.wait(), borrower)
        });
        eventually("it borrows", || runtime.metrics().total.loans == 1);
        waiter.fiber().unpark();
        waiter.cancel();
        let (waited, borrower) = waiter.join().unwrap();
        assert_eq!(waited, Err(Interrupt::Cancelled));
        tx.send(3).unwrap();
        assert_eq!(borrower.join().unwrap(), 3);
    });
}

/// A cancelled scope interrupts those of its fibers that borrow.
#[test]
fn a_borrower_is_cancelled_with_its_scope() {
    on_every_scarce_shape(1, |runtime| {
        let (tx, rx) = channel::bounded::<usize>(0);
        let runs = Arc::new(AtomicBool::new(false));
        let begun = Arc::clone(&runs);
        let waiter = runtime.spawn(move || {
            let mut cancelled = false;
            let borrow = || {
                begun.store(true, Ordering::SeqCst);
                cancelled = rx.recv().is_err();
            };
            pirn::scope(|s| _ = s.spawn(borrow));
            cancelled
        });
        // A fiber that is cancelled before it runs does not run.
        eventually("the borrower runs", || runs.load(Ordering::SeqCst));
        assert_eq!(runtime.metrics().total.loans, 1);
        waiter.cancel();
        assert!(waiter.join().unwrap());
        drop(tx);
    });
}

/// Every waiter for a group is asked to lend, since the first one may not.
#[test]
fn the_second_waiter_borrows_if_the_first_may_not() {
    let runtime = scarce(1, Scheduler::WorkStealing, 3);
    let group = Arc::new(TaskGroup::new());
    let (tx, rx) = channel::bounded::<()>(0);
    let parked = |count| {
        eventually("as many are parked", || {
            runtime.metrics().total.fiber_parks == count
        });
    };
    let holds = move || _ = rx.recv();
    runtime.enter(|| group.spawn(holds).unwrap());
    parked(1);
    let first = Arc::clone(&group);
    let limit = Duration::from_secs(3_600);
    let first = runtime.spawn(move || first.wait_timeout(limit));
    parked(2);
    let second = Arc::clone(&group);
    let second = runtime.spawn(move || second.wait());
    parked(3);
    runtime.enter(|| group.spawn(|| ()).unwrap());
    eventually("it runs", || runtime.metrics().total.loans == 1);
    drop(tx);
    assert_eq!(first.join().unwrap(), Ok(true));
    assert_eq!(second.join().unwrap(), Ok(()));
}

/// A waiter for the next one of a group to end lends nothing while a fiber of the group runs: that one may
/// end first. The same for a waiter for room in the group.
#[test]
fn a_waiter_for_the_next_end_borrows_if_none_runs() {
    for waits_for_room in [false, true] {
        for comes_late in [false, true] {
            let runtime = scarce(1, Scheduler::WorkStealing, 2);
            let metrics = || runtime.metrics();
            let (tx, rx) = channel::bounded::<()>(0);
            let (open, gate) = channel::bounded::<()>(0);
            let group = Arc::new(TaskGroup::new().limit(2));
            runtime.enter(|| group.spawn(move || _ = rx.recv()).unwrap());
            let waiter = Arc::clone(&group);
            let waiter = runtime.spawn(move || {
                let _ = gate.recv();
                match waits_for_room {
                    true => drop(waiter.spawn(|| ()).unwrap()),
                    false => drop(waiter.join_next().unwrap()),
                }
            });
            eventually("both wait", || metrics().total.fiber_parks == 2);
            let mut open = Some(open);
            if !comes_late && !waits_for_room {
                open.take();
                eventually("it waits", || metrics().total.fiber_parks == 3);
            }
            runtime.enter(|| group.spawn(|| ()).unwrap());
            eventually("none is left", || metrics().waiting_for_stack == 1);
            open.take();
            eventually("it waits", || metrics().total.fiber_parks == 3);
            drop(tx);
            waiter.join().unwrap();
            runtime.wait_idle().unwrap();
            assert_eq!(metrics().total.loans, 0, "{waits_for_room}, {comes_late}");
        }
    }
}

/// A waiter for the next end lends when the last fiber of the group that ran has ended. That one
/// belonged to another runtime, so no stack becomes available by its end.
#[test]
fn a_waiter_for_the_next_end_borrows_after_the_last_one_that_ran() {
    let (own, other) = (
        scarce(1, Scheduler::WorkStealing, 2),
        scarce(1, Scheduler::WorkStealing, 1),
    );
    let metrics = || own.metrics();
    let group = Arc::new(TaskGroup::new());
    let (tx, rx) = channel::bounded::<()>(0);
    other.enter(|| group.spawn(move || _ = rx.recv()).unwrap());
    eventually("it runs", || other.metrics().total.fiber_parks == 1);
    // The waiters stay, so their stacks remain in use.
    let (leave, stay) = channel::bounded::<()>(0);
    let waiters = [(); 2].map(|()| {
        let (group, stay) = (Arc::clone(&group), stay.clone());
        own.spawn(move || {
            let next = group.join_next();
            let _ = stay.recv();
            matches!(next, Ok(Some(Ok(()))))
        })
    });
    eventually("both wait", || metrics().total.fiber_parks == 2);
    own.enter(|| group.spawn(|| ()).unwrap());
    eventually("it finds no stack", || metrics().waiting_for_stack == 1);
    assert_eq!(metrics().total.loans, 0);
    drop(tx);
    eventually("it borrows", || metrics().total.loans == 1);
    drop(leave);
    assert_eq!(waiters.map(|waiter| waiter.join().unwrap()), [true; 2]);
}

/// A waiter that could not lend is asked again. The first fiber without a stack belongs to another runtime,
/// so only the second one can borrow.
#[test]
fn a_waiter_that_was_asked_in_vain_is_asked_again() {
    let (own, other) = (
        scarce(1, Scheduler::WorkStealing, 1),
        scarce(1, Scheduler::WorkStealing, 1),
    );
    let third = pirn::dispatcher::Dispatcher::single().unwrap();
    let (tx, rx) = channel::bounded::<()>(0);
    let holder = other.spawn(move || _ = rx.recv());
    eventually("it holds the stack", || {
        other.metrics().total.fiber_parks == 1
    });
    let elsewhere = other.dispatcher();
    let (mine, theirs) = (own.handle(), other.handle());
    let waiter = own.spawn(move || {
        let metrics = || mine.metrics().total;
        pirn::scope(|s| {
            s.spawn_on(&elsewhere, || ());
            eventually("it finds no stack", || {
                theirs.metrics().waiting_for_stack == 1
            });
            s.spawn_on(&third, || {
                eventually("the scope waits", || metrics().fiber_parks == 1);
                s.spawn(|| ());
                eventually("that one runs", || metrics().loans == 1);
                drop(tx);
            });
        });
    });
    waiter.join().unwrap();
    holder.join().unwrap();
}

/// A report shows the waiter and the borrower, each on a stack of its own.
// Proves: P4.
#[test]
fn a_report_on_a_loan() {
    on_every_scarce_shape(1, |runtime| {
        let (tx, rx) = channel::bounded::<usize>(0);
        let waiter = runtime.spawn(move || pirn::scope(|s| _ = s.spawn(|| rx.recv())));
        eventually("the borrower waits", || {
            let mut text = Vec::new();
            runtime.handle().dump(&mut text).unwrap();
            let text = String::from_utf8(text).unwrap();
            text.contains("(Scope)")
                && text.contains("(Recv)")
                && text.matches("bytes of stack").count() == 2
        });
        tx.send(1).unwrap();
        waiter.join().unwrap();
    });
}

/// Uses `bytes` of stack, and calls `last` there.
#[cfg(not(any(pirn_asan, pirn_tsan)))]
fn deep<T>(bytes: usize, last: impl FnOnce() -> T) -> T {
    fn from<T>(top: usize, bytes: usize, last: impl FnOnce() -> T) -> T {
        let frame = black_box([0_u8; 1 << 10]);
        let result = match top - frame.as_ptr().addr() < bytes {
            true => from(top, bytes, last),
            false => last(),
        };
        black_box(&frame);
        result
    }
    from(ptr::from_ref(&black_box(0_u8)).addr(), bytes, last)
}

/// A fiber without a stack gets one of the promised size, however deep the frames of its waiter
/// are.
// Proves: O10.
#[test]
#[cfg(not(any(pirn_asan, pirn_tsan)))]
fn a_borrower_has_the_stack_that_it_was_promised() {
    /// Of the 256 KiB of a stack.
    const DEEP: usize = 150 << 10;
    fn chain(left: usize) -> usize {
        deep(DEEP, || match left {
            0 => 0,
            _ => 1 + pirn::spawn(move || chain(left - 1)).join().unwrap(),
        })
    }
    let part = || {
        for scheduler in SCHEDULERS {
            for workers in [1, 2] {
                let builder = Runtime::builder().workers(workers).max_stacks(8);
                let runtime = builder.scheduler(scheduler).build().unwrap();
                assert_eq!(runtime.spawn(|| chain(20)).join().unwrap(), 20);
                assert_eq!(runtime.metrics().total.loans, 13);
            }
        }
    };
    let name = "loans::a_borrower_has_the_stack_that_it_was_promised";
    if let Some(ended) = apart(name, &[], part) {
        assert!(ended.status.success(), "{}: {}", ended.status, ended.stderr);
    }
}

/// Stacks beyond the bound are released when their fibers have ended: loans do not accumulate,
/// though other fibers wait for a stack all the time, which would keep one.
// Proves: O10.
#[test]
fn loans_do_not_add_up() {
    // With a hundred stacks a worker caches one.
    for stacks in [1, 2, 100] {
        let runtime = scarce(2, Scheduler::WorkStealing, stacks);
        let (tx, rx) = channel::bounded::<()>(0);
        let hold = move || {
            let rx = rx.clone();
            move || assert!(rx.recv().is_err())
        };
        for _ in 1..stacks {
            runtime.spawn(hold()).detach();
        }
        let started = || runtime.metrics().total.started;
        eventually("the holders hold", || started() == stacks as u64 - 1);
        let waiter = runtime.spawn(move || {
            for _ in 0..100 {
                let more = hold();
                let child = pirn::spawn(move || pirn::spawn(more).detach());
                child.join().unwrap();
            }
        });
        waiter.join().unwrap();
        let metrics = runtime.metrics();
        assert_eq!(metrics.total.loans, 100);
        let alive = metrics.total.started - metrics.total.completed;
        // The waiter's stack goes to a fiber that waits for one; the waiter, and its last child,
        // may not have been counted off.
        assert!(alive <= stacks as u64 + 2, "{alive} on {stacks} stacks");
        drop(tx);
        runtime.wait_idle().unwrap();
    }
}

/// An interrupted waiter continues beside the fiber that it waited for. That one has a stack beyond the
/// bound, which no later fiber of its worker inherits.
// Proves: O10.
#[test]
fn a_stack_beyond_the_bound_is_not_inherited() {
    // The line of a fiber that holds has no history.
    let builder = Runtime::builder().workers(1).spread(Spread::Never);
    let builder = builder.stack_size(STACK).max_stacks(2);
    let runtime = builder.build().expect("a runtime");
    let (tx, rx) = channel::bounded::<()>(0);
    let hold = || {
        let rx = rx.clone();
        move || assert!(rx.recv().is_err())
    };
    let metrics = || runtime.metrics();
    runtime.spawn(hold()).detach();
    eventually("one holds", || metrics().total.started == 1);
    let (go, gate) = channel::bounded::<()>(0);
    let more = hold();
    let waiter = runtime.spawn(move || {
        let child = pirn::spawn(move || {
            gate.recv().unwrap();
            // The next fiber is then switched to without a detour.
            (0..3).for_each(|_| pirn::yield_now());
            pirn::spawn(more).detach();
        });
        assert!(child.wait().is_err(), "it is interrupted");
        child.detach();
    });
    eventually("the child borrows", || metrics().total.loans == 1);
    waiter.cancel();
    waiter.join().unwrap();
    go.send(()).unwrap();
    let parked = || metrics().total.started == 4 && metrics().total.completed == 2;
    eventually("the child has made another one", parked);
    // That one and the holder have the two stacks.
    runtime.spawn(hold()).detach();
    let waits = || metrics().waiting_for_stack == 1;
    eventually("another one finds none", || {
        waits() || metrics().total.started > 4
    });
    assert!(waits());
    drop(tx);
    runtime.wait_idle().unwrap();
}

/// A fiber that unwinds lends to the fiber that it waits for, too.
// Proves: O10.
#[test]
fn a_wait_amid_a_panic_borrows() {
    struct Joins(&'static AtomicUsize);
    impl Drop for Joins {
        fn drop(&mut self) {
            let ran = self.0;
            let child = pirn::spawn(move || _ = ran.fetch_add(1, Ordering::SeqCst));
            let _ = child.join();
        }
    }
    static RAN: AtomicUsize = AtomicUsize::new(0);
    on_every_scarce_shape(1, |runtime| {
        let before = RAN.load(Ordering::SeqCst);
        let panics = runtime.spawn(|| {
            let _joins = Joins(&RAN);
            resume_unwind(Box::new("on purpose"));
        });
        assert!(panics.join().unwrap_err().is_panic());
        assert_eq!(RAN.load(Ordering::SeqCst), before + 1);
    });
}

/// Trees of fibers that yield, sleep, communicate, panic and are cancelled, on few stacks: all end,
/// and each of them ran once or was cancelled.
// Proves: O10.
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
