//! Scopes: children may borrow, and a scope ends when all of them have.

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use pirn::dispatcher::Dispatcher;
use pirn::spawn::{Builder, JoinError, Rejected};
use pirn::time::now;
use pirn::{Interrupt, channel};

use crate::executor_kind::{ExecutorKind, Jobs, alone, runtime, until};
use crate::util::{Drops, LONG, on_every_shape, scaled};

/// Children borrow from the frame that spawns them, mutably too, one each.
// Proves: O6.
#[test]
fn children_borrow() {
    on_every_shape(|runtime| {
        let mut parts: Vec<u64> = (0..100).collect();
        let total = AtomicUsize::new(0);
        let returned = runtime.scope(|s| {
            for part in &mut parts {
                s.spawn(|| {
                    *part += 1;
                    pirn::yield_now();
                    total.fetch_add(*part as usize, Ordering::Relaxed);
                });
            }
            "the body's result"
        });
        assert_eq!(returned, "the body's result");
        assert!(parts.into_iter().eq(1..=100));
        assert_eq!(total.into_inner(), 5_050);
    });
}

/// A scope on a plain thread uses the default runtime, or the one that was entered.
#[test]
fn a_scope_on_a_plain_thread() {
    let mut value = 1;
    pirn::scope(|s| drop(s.spawn(|| value += 1)));
    assert_eq!(value, 2);
    let own = pirn::Runtime::builder()
        .name("own")
        .workers(1)
        .build()
        .unwrap();
    own.enter(|| {
        pirn::scope(|s| {
            let name = s.spawn(|| std::thread::current().name().map(str::to_owned));
            assert_eq!(name.join().unwrap().as_deref(), Some("own-0"));
        });
    });
}

/// A worker starts the newest of its children, and then the oldest ones first. A limited dispatcher
/// gives them their turns in order, however many wait.
// Where fibers may migrate, fresh ones are started in advance.
#[cfg(not(pirn_free))]
#[test]
fn children_start_in_the_usual_order() {
    let builder = pirn::Runtime::builder().workers(1).max_threads(1);
    let runtime = builder.build().unwrap();
    let started = Mutex::new(Vec::new());
    let start = |n| started.lock().unwrap().push(n);
    runtime.run(|| {
        pirn::scope(|s| {
            for n in 0..200 {
                s.spawn(move || start(n));
            }
        });
    });
    let usual: Vec<_> = std::iter::once(199).chain(0..199).collect();
    assert_eq!(std::mem::take(&mut *started.lock().unwrap()), usual);
    for most in [1, 4] {
        runtime.run(|| {
            let limited = Dispatcher::default().limited(most);
            pirn::scope(|s| {
                for n in 0..2_000 {
                    s.spawn_on(&limited, move || start(n));
                }
            });
        });
        let started = std::mem::take(&mut *started.lock().unwrap());
        let early = started
            .iter()
            .enumerate()
            .filter(|&(at, &n)| n >= at + most);
        assert_eq!(early.collect::<Vec<_>>(), [], "of {most} at a time");
        assert_eq!(started.len(), 2_000);
    }
}

/// A scope waits for children of children, whatever fiber spawned them last.
// Proves: K1.
#[test]
fn a_scope_waits_for_grandchildren() {
    on_every_shape(|runtime| {
        let ended = AtomicUsize::new(0);
        let ended = &ended;
        runtime.scope(|s| {
            for _ in 0..10 {
                s.spawn(move || {
                    for _ in 0..10 {
                        s.spawn(move || {
                            s.spawn(move || {
                                pirn::yield_now();
                                ended.fetch_add(1, Ordering::SeqCst);
                            });
                        });
                    }
                });
            }
        });
        assert_eq!(ended.load(Ordering::SeqCst), 100);
    });
}

/// Scopes nest to any depth; each level borrows from the one above.
// Proves: K1, O6.
#[test]
fn scopes_nest_deeply() {
    fn nest(depth: usize, sum: &AtomicUsize) {
        if depth > 0 {
            pirn::scope(|s| {
                s.spawn(|| nest(depth - 1, sum));
            });
            sum.fetch_add(1, Ordering::Relaxed);
        }
    }
    let depth = scaled(10_000).min(2_000 + scaled(8_000));
    let runtime = runtime(2);
    let sum = AtomicUsize::new(0);
    runtime.run(|| nest(depth, &sum));
    assert_eq!(sum.into_inner(), depth);
}

/// One scope after another, a few children each: no scope ends early, none hangs.
#[test]
fn scopes_in_sequence() {
    let rounds = scaled(20_000) / 8;
    on_every_shape(|runtime| {
        runtime.run(|| {
            for round in 0..rounds {
                let ended = AtomicUsize::new(0);
                let children = round % 4;
                pirn::scope(|s| {
                    for _ in 0..children {
                        s.spawn(|| ended.fetch_add(1, Ordering::Relaxed));
                    }
                });
                assert_eq!(ended.into_inner(), children);
            }
        });
    });
}

/// The first panic of an unjoined child is raised when all have ended, whatever the body returned.
#[test]
fn the_first_panic_of_a_child_is_raised() {
    alone(|| {
        let (started, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let raised = catch_unwind(AssertUnwindSafe(|| {
            pirn::scope(|s| {
                let first = s.spawn(|| panic_any("first"));
                first.wait().unwrap();
                let second = s.spawn(|| {
                    until(&started, 11);
                    panic_any("second")
                });
                for _ in 0..10 {
                    s.spawn(|| {
                        started.fetch_add(1, Ordering::SeqCst);
                        until(&started, 11);
                        (0..10).for_each(|_| pirn::yield_now());
                        ended.fetch_add(1, Ordering::SeqCst);
                    });
                }
                // An unstarted child would no longer start.
                until(&started, 10);
                drop((first, second));
                started.fetch_add(1, Ordering::SeqCst);
            });
        }));
        assert_eq!(raised.unwrap_err().downcast_ref(), Some(&"first"));
        assert_eq!(ended.into_inner(), 10, "siblings were left behind");
    });
}

/// A panic that was joined is reported to its joiner alone.
#[test]
fn a_joined_panic_is_not_raised_again() {
    alone(|| {
        let value = pirn::scope(|s| {
            let fiber = s.spawn(|| panic_any(9));
            let error = fiber.join().unwrap_err();
            assert!(matches!(error, JoinError::Panicked(_)));
            5
        });
        assert_eq!(value, 5);
    });
}

/// When the body panics its children are still waited for, and the panic continues; a child's panic
/// takes precedence.
#[test]
fn a_body_that_panics_waits_for_its_children() {
    alone(|| {
        let (started, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let scope_of = |child_panics: bool| {
            started.store(0, Ordering::SeqCst);
            catch_unwind(AssertUnwindSafe(|| {
                pirn::scope(|s| {
                    for _ in 0..10 {
                        s.spawn(|| {
                            started.fetch_add(1, Ordering::SeqCst);
                            until(&started, 11);
                            ended.fetch_add(1, Ordering::SeqCst);
                        });
                    }
                    s.spawn(|| {
                        started.fetch_add(1, Ordering::SeqCst);
                        until(&started, 11);
                        if child_panics {
                            panic_any("child");
                        }
                    });
                    // An unstarted child would no longer start.
                    until(&started, 11);
                    panic_any("body");
                })
            }))
            .unwrap_err()
        };
        assert_eq!(scope_of(false).downcast_ref(), Some(&"body"));
        assert_eq!(ended.load(Ordering::SeqCst), 10);
        assert_eq!(scope_of(true).downcast_ref(), Some(&"child"));
        assert_eq!(ended.load(Ordering::SeqCst), 20);
    });
}

/// Results are returned by handles; a dropped one detaches, and the scope still waits.
// Proves: O6.
#[test]
fn handles_of_a_scope() {
    alone(|| {
        let drops = Drops::default();
        pirn::scope(|s| {
            let joined = s.spawn(|| String::from("result"));
            assert_eq!(joined.join().unwrap(), "result");
            drop(s.spawn(|| drops.one()));
            let waited = s.spawn(|| drops.one());
            waited.wait().unwrap();
            assert!(waited.is_finished());
            let slow = s.spawn(|| pirn::sleep(Duration::from_millis(20)).unwrap());
            let slow = slow.join_timeout(Duration::from_millis(1)).unwrap_err();
            assert!(slow.join_timeout(LONG).unwrap().is_ok());
        });
        assert_eq!(drops.count(), 2);
    });
}

/// A forgotten handle is equivalent to a dropped one, but for its fiber's memory: the scope
/// waits for the fiber, which borrows, and raises its panic.
// Proves: O6.
#[test]
#[expect(clippy::mem_forget, reason = "what is tested")]
fn a_forgotten_handle() {
    on_every_shape(|runtime| {
        let mut parts = [1, 2, 3];
        runtime.scope(|s| {
            for part in &mut parts {
                std::mem::forget(s.spawn(|| {
                    pirn::yield_now();
                    *part *= 10;
                }));
            }
        });
        assert_eq!(parts, [10, 20, 30]);
        let raised = catch_unwind(AssertUnwindSafe(|| {
            runtime.scope(|s| std::mem::forget(s.spawn(|| panic_any("on purpose"))));
        }));
        assert_eq!(raised.unwrap_err().downcast_ref(), Some(&"on purpose"));
    });
}

/// `wait` returns when the present children have ended, and the scope remains usable.
#[test]
fn waiting_inside_the_body() {
    on_every_shape(|runtime| {
        let ended = AtomicUsize::new(0);
        runtime.scope(|s| {
            for round in 1..=20 {
                for _ in 0..5 {
                    s.spawn(|| {
                        pirn::yield_now();
                        ended.fetch_add(1, Ordering::SeqCst);
                    });
                }
                s.wait().unwrap();
                assert_eq!(ended.load(Ordering::SeqCst), round * 5);
                assert!(s.is_empty());
            }
            let waits = s.spawn(pirn::park);
            assert!(!s.is_empty());
            waits.fiber().unpark();
        });
    });
}

/// `wait_timeout` returns whether all have ended, and waits no longer than asked.
#[test]
fn waiting_with_a_limit() {
    for executor in [ExecutorKind::Fibers, ExecutorKind::Threads] {
        let other = runtime(1);
        let mut jobs = Jobs::new();
        jobs.add(|| {
            let (tx, rx) = channel::bounded::<()>(0);
            let limit = Duration::from_millis(10);
            other.scope(|s| {
                assert!(s.wait_timeout(LONG).unwrap(), "no children yet");
                s.spawn(|| rx.recv().is_err());
                let start = now();
                assert!(!s.wait_timeout(limit).unwrap());
                assert!(now() - start >= limit);
                assert_eq!(s.len(), 1);
                drop(tx);
                assert!(s.wait_timeout(LONG).unwrap());
                assert_eq!(s.len(), 0);
            });
        });
        jobs.run(executor, 1);
    }
}

/// A cancelled fiber's waits in the body are interrupted; the end of its scope is not.
#[test]
fn an_interrupted_body_still_waits_at_the_end() {
    alone(|| {
        let (go, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let (go, ended) = (&go, &ended);
        pirn::scope(|s| {
            let fiber = s.spawn(move || {
                pirn::scope(|inner| {
                    inner.spawn(|| {
                        until(go, 1);
                        ended.fetch_add(1, Ordering::SeqCst);
                    });
                    assert_eq!(inner.wait(), Err(Interrupt::Cancelled));
                    let limited = inner.wait_timeout(LONG);
                    assert_eq!(limited, Err(Interrupt::Cancelled));
                    assert_eq!(ended.load(Ordering::SeqCst), 0);
                });
                assert_eq!(ended.load(Ordering::SeqCst), 1);
            });
            pirn::yield_now();
            fiber.cancel();
            (0..10).for_each(|_| pirn::yield_now());
            assert!(!fiber.is_finished(), "the scope did not wait");
            go.store(1, Ordering::SeqCst);
            fiber.join().unwrap();
        });
    });
}

/// Several threads and fibers may wait for the same scope at once.
#[test]
fn many_wait_for_one_scope() {
    let runtime = runtime(2);
    for _ in 0..scaled(100) {
        let ended = AtomicUsize::new(0);
        runtime.scope(|s| {
            for _ in 0..4 {
                s.spawn(|| {
                    pirn::yield_now();
                    ended.fetch_add(1, Ordering::SeqCst);
                });
            }
            std::thread::scope(|threads| {
                for _ in 0..4 {
                    threads.spawn(|| {
                        s.wait().unwrap();
                        assert_eq!(ended.load(Ordering::SeqCst), 4);
                    });
                }
            });
        });
    }
}

/// Children have names and stacks of their own, which do not apply to other fibers.
#[test]
fn children_are_built_like_other_fibers() {
    alone(|| {
        let names = Mutex::new(Vec::new());
        pirn::scope(|s| {
            let named = || {
                names
                    .lock()
                    .unwrap()
                    .push(pirn::current().name().map(str::to_owned));
            };
            Builder::new()
                .name("child")
                .stack_size(1 << 20)
                .spawn_scoped(s, named)
                .unwrap();
            s.try_spawn(named).unwrap();
        });
        let names = names.into_inner().unwrap();
        assert!(names.contains(&Some("child".to_owned())) && names.contains(&None));
    });
}

/// A builder spawns nothing in a cancelled scope, and returns the closure.
#[test]
fn a_cancelled_scope_takes_no_fiber_of_a_builder() {
    pirn::scope(|s| {
        s.cancel();
        let refused = Builder::new().spawn_scoped(s, || 3);
        let refused = refused.map(drop).unwrap_err();
        assert_eq!(refused.reason(), Rejected::Cancelled);
        assert_eq!(refused.into_inner()(), 3);
    });
}

/// A9. A scope on an ended runtime admits nothing: closures are dropped or returned, and the scope
/// ends.
#[test]
fn a_scope_on_a_runtime_that_ended() {
    let drops = Drops::default();
    let ended = runtime(1).handle();
    ended.scope(|s| {
        let capture = drops.one();
        let fiber = s.spawn(move || drop(capture));
        assert!(matches!(fiber.join(), Err(JoinError::NotRun)));
        assert_eq!(drops.count(), 1);
        let capture = drops.one();
        let refused = s.try_spawn(move || drop(capture)).unwrap_err();
        drop(refused.into_inner());
        assert_eq!(drops.count(), 2);
        assert!(s.is_empty());
    });
}

/// A waiter for a scope is not forgotten while spawns into the scope are rejected: a rejected child
/// counts for a moment only.
#[test]
fn refused_spawns_wake_the_waiter() {
    let ended = runtime(1).handle();
    ended.scope(|s| {
        let over = AtomicBool::new(false);
        std::thread::scope(|threads| {
            threads.spawn(|| {
                for _ in 0..scaled(100_000) {
                    assert!(s.try_spawn(|| ()).is_err());
                }
                over.store(true, Ordering::SeqCst);
            });
            while !over.load(Ordering::SeqCst) {
                assert_eq!(s.wait_timeout(LONG), Ok(true), "it waits for nothing");
            }
        });
    });
}

/// A channel is independent of the scopes that used it: when one ends, by a panic too, or is
/// cancelled, the channel stays open and keeps its values.
// Proves: A7.
#[test]
fn channels_outlive_scopes() {
    alone(|| {
        let (tx, rx) = channel::bounded(4);
        let begun = AtomicUsize::new(0);
        let raised = catch_unwind(AssertUnwindSafe(|| {
            pirn::scope(|s| {
                // Joined: an unstarted child does not start after the scope's panic.
                s.spawn(|| tx.send(1).unwrap()).join().unwrap();
                let waiting = s.spawn(|| {
                    begun.fetch_add(1, Ordering::SeqCst);
                    let (_quiet, never) = channel::bounded::<()>(0);
                    never.recv()
                });
                until(&begun, 1);
                waiting.cancel();
                assert!(waiting.join().unwrap().is_err());
                panic_any("the scope's end");
            });
        }));
        assert!(raised.is_err());
        assert!(!tx.is_closed());
        assert_eq!(rx.recv(), Ok(1));
        pirn::scope(|s| {
            s.spawn(|| {
                begun.fetch_add(1, Ordering::SeqCst);
                let cancelled = channel::RecvError::Interrupted(Interrupt::Cancelled);
                assert_eq!(rx.recv(), Err(cancelled));
            });
            until(&begun, 2);
            s.cancel();
        });
        assert!(!tx.is_closed());
        pirn::scope(|s| {
            s.spawn(|| tx.send(2).unwrap());
        });
        assert_eq!(rx.recv(), Ok(2));
        drop(tx);
        assert!(rx.recv().is_err());
    });
}

/// A million short children in one scope need no more memory than a few.
// Proves: K10, M7.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_a_scope_of_many_children_stays_flat() {
    let runtime = runtime(2);
    runtime.scope(|s| {
        let batch = || {
            for _ in 0..1_000 {
                s.spawn(|| ());
            }
            s.wait().unwrap();
        };
        (0..20).for_each(|_| batch());
        let before = crate::util::resident();
        (0..scaled(1_000)).for_each(|_| batch());
        let grown = crate::util::resident().saturating_sub(before);
        assert!(
            grown < crate::util::SLACK as usize * (4 << 20),
            "grew by {grown} bytes"
        );
    });
}

/// A channel created inside a scope's fiber works after the scope has ended, and a channel from
/// outside is not closed by the end of a scope that used it.
// Proves: A7, I22.
#[test]
fn channels_live_apart_from_scopes() {
    on_every_shape(|runtime| {
        let (tx, rx) = channel::bounded(4);
        let (from_inside, kept) = runtime.scope(|s| {
            s.spawn(|| tx.send(1).unwrap());
            s.spawn(|| channel::bounded(4)).join().unwrap()
        });
        assert_eq!(rx.recv(), Ok(1));
        tx.send(2).unwrap();
        assert_eq!(rx.recv(), Ok(2));
        assert!(!tx.is_closed());
        from_inside.send(3).unwrap();
        assert_eq!(kept.recv(), Ok(3));
    });
}
