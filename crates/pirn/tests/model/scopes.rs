//! Borrowing scopes, nested, with panics, from threads.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU32, Ordering};

use pirn::{scope, yield_now};

use crate::util::{explore, explore_with, thread};

#[test]
fn nested_scopes_borrow() {
    explore_with(&[1, 2], |world| {
        let runtime = world.runtime();
        let mut parts = [1, 2, 3];
        runtime.run(|| {
            scope(|s| {
                for part in &mut parts {
                    s.spawn(move || {
                        let mut halves = [*part, *part];
                        scope(|inner| {
                            for half in &mut halves {
                                inner.spawn(move || *half += 1);
                            }
                        });
                        *part = halves.iter().sum();
                    });
                }
            });
        });
        assert_eq!(parts, [4, 6, 8]);
    });
}

#[test]
fn a_scope_of_a_plain_thread() {
    explore(|world| {
        let runtime = world.runtime();
        let ran = AtomicU32::new(0);
        runtime.scope(|s| {
            for _ in 0..3 {
                s.spawn(|| {
                    yield_now();
                    ran.fetch_add(1, Ordering::Relaxed)
                });
            }
        });
        assert_eq!(ran.load(Ordering::Relaxed), 3);
    });
}

/// Children spawn siblings; the scope waits for those too.
#[test]
fn children_spawn_siblings() {
    explore(|world| {
        let runtime = world.runtime();
        let ran = AtomicU32::new(0);
        runtime.run(|| {
            let ran = &ran;
            scope(|s| {
                s.spawn(move || {
                    s.spawn(move || ran.fetch_add(1, Ordering::Relaxed));
                    ran.fetch_add(1, Ordering::Relaxed);
                });
                s.wait().expect("not cancelled");
            });
        });
        assert_eq!(ran.load(Ordering::Relaxed), 2);
    });
}

/// A panic that a sibling joins goes to that sibling. One that no fiber can join cancels the scopes
/// around it and propagates out of them, when all started children have ended. (No panic hook:
/// shuttle's would print a schedule.)
#[test]
fn panics_come_out_of_scopes() {
    explore(|world| {
        let runtime = world.runtime();
        let (started, ended) = (AtomicU32::new(0), AtomicU32::new(0));
        let sibling = || {
            started.fetch_add(1, Ordering::Relaxed);
            pirn::yield_now();
            ended.fetch_add(1, Ordering::Relaxed);
        };
        let panic = catch_unwind(AssertUnwindSafe(|| {
            runtime.run(|| {
                scope(|s| {
                    let joined = s.spawn(|| resume_unwind(Box::new("joined")));
                    s.spawn(|| {
                        let _: pirn::spawn::JoinError =
                            joined.join().map(|()| ()).expect_err("it panicked");
                    });
                });
                scope(|s| {
                    s.spawn(|| {
                        scope(|inner| {
                            inner.spawn(|| resume_unwind(Box::new("raised")));
                            inner.spawn(sibling);
                        });
                    });
                    s.spawn(sibling);
                });
            });
        }));
        let payload = panic.expect_err("a panic comes out");
        assert_eq!(payload.downcast_ref(), Some(&"raised"));
        let started = started.load(Ordering::Relaxed);
        assert_eq!(
            started,
            ended.load(Ordering::Relaxed),
            "a scope ended too early"
        );
    });
}

/// Cancels a scope while its children start, wait, and end: every wait ends, every started child
/// ends, and no later wait reports the cancellation.
// Proves: K2.
#[test]
fn cancelling_meets_children_at_every_point() {
    explore(|world| {
        let runtime = world.runtime();
        let (started, ended) = (AtomicU32::new(0), AtomicU32::new(0));
        runtime.run(|| {
            scope(|s| {
                for _ in 0..2 {
                    s.spawn(|| {
                        started.fetch_add(1, Ordering::Relaxed);
                        // Nothing else ends this.
                        let end = pirn::spawn::park_interruptible();
                        assert_eq!(end, Err(pirn::Interrupt::Cancelled));
                        ended.fetch_add(1, Ordering::Relaxed);
                    });
                }
                s.spawn(|| s.cancel());
            });
            assert_eq!(pirn::cancel::check(), Ok(()), "the scope is over");
        });
        let started = started.load(Ordering::Relaxed);
        assert_eq!(started, ended.load(Ordering::Relaxed));
    });
}

/// A fiber is cancelled by its handle while it opens a scope and waits for its children, which
/// would wait indefinitely.
#[test]
fn cancelling_a_fiber_reaches_its_scopes() {
    explore(|world| {
        let runtime = world.runtime();
        runtime.run(|| {
            let fiber = pirn::spawn(|| {
                scope(|s| {
                    s.spawn(|| {
                        scope(|s| drop(s.spawn(pirn::spawn::park_interruptible)));
                    });
                });
            });
            fiber.cancel();
            match fiber.join() {
                Ok(()) | Err(pirn::spawn::JoinError::NotRun) => {}
                Err(other) => panic!("{other:?}"),
            }
        });
    });
}

/// A token is cancelled while fibers enter and leave it, and one inside it.
// Proves: K2.
#[test]
fn cancelling_meets_entering_and_leaving() {
    explore(|world| {
        let runtime = world.runtime();
        runtime.run(|| {
            let token = pirn::cancel::Token::new();
            scope(|s| {
                for _ in 0..2 {
                    s.spawn(|| {
                        token.enter(|| {
                            let inner = token.child();
                            inner.enter(|| _ = pirn::cancel::check());
                            // Nothing else ends this.
                            let end = pirn::spawn::park_interruptible();
                            assert_eq!(end, Err(pirn::Interrupt::Cancelled));
                        });
                        assert_eq!(pirn::cancel::check(), Ok(()));
                    });
                }
                s.spawn(|| token.cancel());
            });
        });
    });
}

/// Scopes of threads and of fibers at once, on one runtime.
#[test]
fn scopes_side_by_side() {
    explore(|world| {
        let runtime = world.runtime();
        let threads = [1, 2].map(|n| {
            let handle = runtime.handle();
            thread(move || {
                let mut sum = n;
                handle.scope(|s| {
                    s.spawn(|| sum += 1);
                });
                sum
            })
        });
        let sums = threads.map(|thread| thread.join().expect("it passes"));
        assert_eq!(sums, [2, 3]);
    });
}
