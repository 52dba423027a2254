//! The end of a fiber is a step of its own: other fibers can run between the last operation of its
//! code and the moment its end becomes visible.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use pirn::channel::{self, SendError};
use pirn::scope::TaskGroup;
use pirn::sim::atomic::AtomicU32;
use pirn::{Interrupt, try_scope};
use pirn_sim::{Strategy, campaign};

/// Returns what the runs of `body` return, in all schedules with two preemptions at most.
fn outcomes<R: Ord + Send + 'static>(
    body: impl Fn() -> R + Copy + Send + Sync + 'static,
) -> BTreeSet<R> {
    let seen = Arc::new(std::sync::Mutex::new(BTreeSet::new()));
    let all = Arc::clone(&seen);
    let search = campaign().strategy(Strategy::Exhaustive { preemptions: 2 });
    let outcome = search.explore(move || {
        let result = body();
        all.lock().unwrap().insert(result);
    });
    assert!(outcome.complete, "{:?}", outcome.failure);
    std::mem::take(&mut *seen.lock().unwrap())
}

/// Returns the value, and then whether the caller is cancelled.
fn look(value: &AtomicU32) -> (u32, bool) {
    (value.load(Ordering::SeqCst), pirn::cancel::check().is_err())
}

/// Why a fiber has failed.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Failed {
    /// It was interrupted.
    Stopped,
    /// The other end of its channel is gone.
    NoReceiver,
    /// By itself.
    Own,
}

impl From<Interrupt> for Failed {
    fn from(_: Interrupt) -> Failed {
        Failed::Stopped
    }
}

impl<T> From<SendError<T>> for Failed {
    fn from(error: SendError<T>) -> Failed {
        match error {
            SendError::Interrupted(..) => Failed::Stopped,
            SendError::Disconnected(_) => Failed::NoReceiver,
        }
    }
}

// Proves: U8.
#[test]
fn the_last_operation_is_visible_before_the_end() {
    let seen = outcomes(|| {
        let value = Arc::new(AtomicU32::new(0));
        let own = Arc::clone(&value);
        let fiber = pirn::spawn(move || own.store(1, Ordering::SeqCst));
        let seen = (value.load(Ordering::SeqCst), fiber.is_finished());
        fiber.join().unwrap();
        seen
    });
    let expected = [(0, false), (0, true), (1, false), (1, true)];
    assert_eq!(seen, BTreeSet::from(expected));
}

// Proves: U8.
#[test]
fn a_group_returns_results_in_the_order_of_ends() {
    let seen = outcomes(|| {
        let next = Arc::new(AtomicU32::new(0));
        let group = TaskGroup::new();
        for _ in 0..2 {
            let next = Arc::clone(&next);
            let spawned = group.spawn(move || next.fetch_add(1, Ordering::SeqCst));
            assert!(spawned.is_ok());
        }
        let next = || group.join_next().unwrap().unwrap().unwrap();
        [next(), next()]
    });
    assert_eq!(seen, BTreeSet::from([[0, 1], [1, 0]]));
}

/// The receiver of a failing child is dropped before its error cancels the scope.
// Proves: U8.
#[test]
fn values_of_a_failed_child_are_dropped_before_its_scope_is_cancelled() {
    let seen = outcomes(|| {
        let (tx, rx) = channel::bounded(1);
        let result: Result<(), Failed> = try_scope(|s| {
            s.spawn(move || -> Result<(), Failed> {
                loop {
                    tx.send(1)?;
                }
            });
            s.spawn(move || {
                let _ = rx.recv();
                Err::<(), _>(Failed::Own)
            });
            Ok(())
        });
        result.unwrap_err()
    });
    assert_eq!(seen, BTreeSet::from([Failed::NoReceiver, Failed::Own]));
}

/// A closure of a race drops what it owns before its value is offered.
// Proves: U8.
#[test]
fn values_of_a_racer_are_dropped_before_it_wins() {
    let seen = outcomes(|| {
        let (tx, rx) = channel::bounded(1);
        let sender = move || {
            std::iter::repeat_with(|| tx.send(1))
                .find_map(Result::err)
                .map(Failed::from)
        };
        let receiver = move || {
            let _ = rx.recv();
            Some(Failed::Own)
        };
        let jobs: [Box<dyn FnOnce() -> Option<Failed> + Send>; 2] =
            [Box::new(sender), Box::new(receiver)];
        pirn::scope::race(jobs).flatten()
    });
    let expected = [Failed::NoReceiver, Failed::Own].map(Some);
    assert_eq!(seen, BTreeSet::from(expected));
}

/// The first error is recorded before it cancels the scope: a child that fails second may have ended
/// by then.
// Proves: U8.
#[test]
fn a_second_failure_may_end_before_the_scope_is_cancelled() {
    let seen = outcomes(|| {
        let mut seen = None;
        let result: Result<(), Failed> = try_scope(|s| {
            let _first = s.spawn(|| Err::<(), _>(Failed::Own));
            let second = s.spawn(|| Err::<(), _>(Failed::NoReceiver));
            let failed = second.join().is_none();
            seen = Some((failed, s.token().is_cancelled()));
            Ok(())
        });
        (seen.unwrap(), result.unwrap_err())
    });
    // The error that is recorded stays, though the scope is not cancelled yet.
    let expected = [
        ((true, true), Failed::Own),
        ((true, true), Failed::NoReceiver),
        ((true, false), Failed::Own),
    ];
    assert_eq!(seen, BTreeSet::from(expected));
}

/// A panic of a fiber without a handle cancels its scope after the last operation of the fiber.
// Proves: U8.
#[test]
fn operations_before_a_panic_are_visible_before_its_scope_is_cancelled() {
    let seen = outcomes(|| {
        let value = AtomicU32::new(0);
        let seen = std::sync::Mutex::new(None);
        let scope = || {
            pirn::scope(|s| {
                s.spawn(|| {
                    let looks = look(&value);
                    *seen.lock().unwrap() = Some(looks);
                });
                s.spawn(|| {
                    value.store(1, Ordering::SeqCst);
                    resume_unwind(Box::new("on purpose"));
                });
            });
        };
        let ended = catch_unwind(AssertUnwindSafe(scope));
        assert!(ended.is_err(), "the panic is raised");
        seen.into_inner().unwrap()
    });
    let ran = [(0, false), (0, true), (1, false), (1, true)].map(Some);
    assert!(ran.iter().all(|it| seen.contains(it)), "{seen:?}");
}

/// The drop of a handle that keeps a panic cancels the scope, as a step of its own.
// Proves: U8.
#[test]
fn a_dropped_handle_cancels_the_scope_after_what_came_before() {
    let seen = outcomes(|| {
        let value = AtomicU32::new(0);
        let seen = std::sync::Mutex::new(None);
        let scope = || {
            pirn::scope(|s| {
                let panics = s.spawn(|| resume_unwind(Box::new("on purpose")));
                panics.wait().unwrap();
                s.spawn(|| {
                    let looks = look(&value);
                    *seen.lock().unwrap() = Some(looks);
                });
                value.store(1, Ordering::SeqCst);
                drop(panics);
            });
        };
        let ended = catch_unwind(AssertUnwindSafe(scope));
        assert!(ended.is_err(), "the panic is raised");
        seen.into_inner().unwrap()
    });
    let ran = [(0, false), (0, true), (1, false), (1, true)].map(Some);
    assert!(ran.iter().all(|it| seen.contains(it)), "{seen:?}");
}
