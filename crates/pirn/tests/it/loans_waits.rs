//! Which waits borrow a stack, and how a waiter that borrows is woken or interrupted.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pirn::runtime::Scheduler;
use pirn::scope::TaskGroup;
use pirn::{Interrupt, channel};

use crate::loans::{on_every_scarce_shape, scarce};
use crate::util::eventually;

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

/// A waiter for the next one of a group to end lends nothing while a fiber of the group runs: that
/// one may end first. The same for a waiter for room in the group.
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

/// A waiter that could not lend is asked again. The first fiber without a stack belongs to another
/// runtime, so only the second one can borrow.
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
