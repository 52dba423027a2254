//! Stacks beyond the bound: their size, their number, their end, and their place in reports.

#[cfg(not(any(pirn_asan, pirn_tsan)))]
use std::hint::black_box;
use std::panic::resume_unwind;
#[cfg(not(any(pirn_asan, pirn_tsan)))]
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pirn::runtime::{Scheduler, Spread};
use pirn::scope::TaskGroup;
use pirn::{Runtime, channel};

use crate::loans::{STACK, on_every_scarce_shape, scarce};
#[cfg(not(any(pirn_asan, pirn_tsan)))]
use crate::util::apart;
use crate::util::{SCHEDULERS, eventually, scaled};

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
    let name = "loans_stacks::a_borrower_has_the_stack_that_it_was_promised";
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

/// An interrupted waiter continues beside the fiber that it waited for. That one has a stack beyond
/// the bound, which no later fiber of its worker inherits.
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
