//! Borrowing scopes, nested, with panics, from threads.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU32, Ordering};

use pirn::{scope, yield_now};

use crate::rig::{explore, explore_with, thread};

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
                s.wait().expect("nobody is cancelled");
            });
        });
        assert_eq!(ran.load(Ordering::Relaxed), 2);
    });
}

/// The first panic that nobody joins comes out of the scope, after all children have ended;
/// one that a sibling joins does not. (No panic hook: shuttle's would print a schedule.)
#[test]
fn panics_come_out_of_scopes() {
    explore(|world| {
        let runtime = world.runtime();
        let ran = AtomicU32::new(0);
        let panic = catch_unwind(AssertUnwindSafe(|| {
            runtime.run(|| {
                scope(|s| {
                    let joined = s.spawn(|| resume_unwind(Box::new("joined")));
                    s.spawn(|| {
                        let _: pirn::spawn::JoinError =
                            joined.join().map(|()| ()).expect_err("it panicked");
                    });
                    s.spawn(|| {
                        scope(|inner| {
                            inner.spawn(|| resume_unwind(Box::new("raised")));
                            inner.spawn(|| ran.fetch_add(1, Ordering::Relaxed));
                        });
                    });
                    s.spawn(|| ran.fetch_add(1, Ordering::Relaxed));
                });
            });
        }));
        let payload = panic.expect_err("a panic comes out");
        assert_eq!(payload.downcast_ref(), Some(&"raised"));
        assert_eq!(ran.load(Ordering::Relaxed), 2, "a scope ended too early");
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
