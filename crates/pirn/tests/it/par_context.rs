//! `par::join_context`: a join with halves that know whether they have moved to another thread.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use pirn::cancel::Token;
use pirn::channel;
use pirn::par::{FnContext, join, join_context};

use crate::executor_kind::runtime;
use crate::util::on_every_shape;

/// Returns whether the half has moved, after a comparison with the threads as `std` sees them.
#[track_caller]
fn checked(caller: thread::ThreadId, context: FnContext) -> bool {
    let moved = context.migrated();
    assert_eq!(moved, thread::current().id() != caller);
    moved
}

/// The context says what `std` says, for halves that run in place, wait, and are taken by others.
// Proves: O9-join.
#[test]
fn contexts_agree_with_the_threads() {
    fn tree(depth: usize) -> usize {
        if depth == 0 {
            return 1;
        }
        let caller = thread::current().id();
        let (a, b) = join_context(
            |context| {
                let moved = checked(caller, context);
                if depth.is_multiple_of(3) {
                    pirn::yield_now();
                }
                assert_eq!(context.migrated(), moved);
                tree(depth - 1)
            },
            |context| {
                checked(caller, context);
                tree(depth - 1)
            },
        );
        a + b
    }
    on_every_shape(|runtime| {
        assert_eq!(runtime.run(|| tree(10)), 1 << 10);
    });
}

/// An idle worker takes a second half, which has moved; the first one never has.
// Proves: O9-join.
#[test]
fn a_half_that_another_worker_takes_has_moved() {
    let moved = AtomicBool::new(false);
    runtime(2).run(|| {
        while !moved.load(Ordering::Acquire) {
            let caller = thread::current().id();
            join_context(
                |context| {
                    checked(caller, context);
                    // Each join serves a request for the second half.
                    for _ in 0..100 {
                        join(|| (), || ());
                    }
                },
                |context| moved.fetch_or(checked(caller, context), Ordering::Release),
            );
        }
    });
}

/// On one worker no half moves, even one that becomes a fiber while the other waits for it. From a
/// plain thread both do.
// Proves: O9-join.
#[test]
fn a_half_on_its_own_worker_has_not_moved() {
    let runtime = runtime(1);
    let talk = || {
        let (tx, rx) = channel::bounded::<bool>(0);
        join_context(
            |context| (context.migrated(), rx.recv().unwrap()),
            |context| tx.send(context.migrated()).unwrap(),
        )
        .0
    };
    assert_eq!(runtime.run(talk), (false, false));
    assert_eq!(runtime.enter(talk), (true, true));
    // Where waiting is forbidden, one half runs after the other.
    let in_poll = || {
        pirn::future::block_on(async { join_context(|a| a.migrated(), |b| b.migrated()) })
    };
    assert_eq!(runtime.run(in_poll), (false, false));
}

/// Panics are raised when both halves have ended, the first half's before the second's.
// Proves: O9-join.
#[test]
fn panics_are_raised_as_by_a_join() {
    on_every_shape(|runtime| {
        for (left, right, expected) in [
            (true, false, "left"),
            (false, true, "right"),
            (true, true, "left"),
        ] {
            let ended = AtomicUsize::new(0);
            let half = |fails: bool, name: &'static str| {
                pirn::yield_now();
                ended.fetch_add(1, Ordering::SeqCst);
                if fails {
                    resume_unwind(Box::new(name));
                }
            };
            let raised = runtime.run(|| {
                catch_unwind(AssertUnwindSafe(|| {
                    join_context(|_| half(left, "left"), |_| half(right, "right"))
                }))
            });
            let raised = raised.unwrap_err().downcast::<&str>().unwrap();
            assert_eq!((*raised, ended.into_inner()), (expected, 2));
        }
    });
}

/// Both halves run under a token that is cancelled, and their waits end.
// Proves: O9-region.
#[test]
fn a_cancellation_reaches_both_halves() {
    on_every_shape(|runtime| {
        let (_tx, rx) = channel::bounded::<()>(0);
        let token = Token::new();
        let (a, b) = runtime.run(|| {
            token.enter(|| {
                join_context(
                    |_| rx.recv().is_err(),
                    |_| {
                        token.cancel();
                        rx.recv().is_err()
                    },
                )
            })
        });
        assert!(a && b);
    });
}
