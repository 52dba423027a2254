//! The end of a fiber is a step of its own: other fibers can run between the last operation of its
//! code and the moment from which its end shows.

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
fn what_a_fiber_did_last_shows_before_its_end() {
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
fn a_group_gives_results_in_the_order_of_ends() {
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

/// The receiver goes with the code of the fiber that fails, before that cancels the scope.
// Proves: U8.
#[test]
fn values_of_a_fiber_that_fails_go_before_its_scope_is_cancelled() {
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

/// A panic cancels the scope of a fiber without a handle, as the last of all that the fiber does.
// Proves: U8.
#[test]
fn what_a_fiber_did_before_its_panic_shows_before_its_scope_is_cancelled() {
    let seen = outcomes(|| {
        let value = AtomicU32::new(0);
        let seen = std::sync::Mutex::new(None);
        let scope = || {
            pirn::scope(|s| {
                s.spawn(|| {
                    let before = value.load(Ordering::SeqCst);
                    let cancelled = pirn::cancel::check().is_err();
                    *seen.lock().unwrap() = Some((before, cancelled));
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
