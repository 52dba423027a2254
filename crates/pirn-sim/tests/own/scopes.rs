//! Scopes and groups: all children are waited for, and panics, errors and cancellations
//! reach the parties that they are for.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use pirn::channel::{self, RecvError};
use pirn::scope::{TaskGroup, all, any, race, supervise};
use pirn::spawn::{JoinError, Rejected};
use pirn::sync::Event;
use pirn::{Interrupt, scope, time, try_scope};

use crate::{Log, MOMENT, check};

/// A scope ends after all its children, those spawned by children too, and then makes its calls.
// Proves: U30-scopes.
#[test]
fn a_scope_waits_for_all() {
    check(|| {
        let log = Log::new();
        scope(|s| {
            s.on_exit(|| log.add("last"));
            s.on_exit(|| log.add("first"));
            for _ in 0..2 {
                s.spawn(|| {
                    s.spawn(|| {
                        pirn::yield_now();
                        log.add("child");
                    });
                });
            }
        });
        assert_eq!(log.take(), ["child", "child", "first", "last"]);
    });
}

/// A panic that is not joined cancels the others, is raised after their ends, and only then.
// Proves: U30-scopes.
#[test]
fn a_panic_of_a_child_ends_its_scope() {
    check(|| {
        let (ended, never) = (AtomicUsize::new(0), Event::manual());
        let raised = catch_unwind(AssertUnwindSafe(|| {
            scope(|s| {
                for _ in 0..2 {
                    s.spawn(|| {
                        assert_eq!(never.wait(), Err(Interrupt::Cancelled));
                        ended.fetch_add(1, Ordering::Relaxed);
                    });
                }
                s.spawn(|| panic!("of a child"));
                let waited = never.wait();
                assert_eq!(waited, Err(Interrupt::Cancelled));
                ended.fetch_add(1, Ordering::Relaxed);
            });
        }));
        let message = *raised.unwrap_err().downcast::<&str>().unwrap();
        assert_eq!(message, "of a child");
        // A child that had not begun when the scope was cancelled never runs.
        assert!((1..=3).contains(&ended.into_inner()));
    });
}

/// Destructors that wait for each other while their fibers unwind.
// Proves: U30-scopes.
#[test]
fn destructors_meet_amid_panics() {
    struct Meets(channel::Sender<()>, channel::Receiver<()>);
    impl Drop for Meets {
        fn drop(&mut self) {
            self.0.send(()).unwrap();
            pirn::yield_now();
            self.1.recv().unwrap();
        }
    }
    check(|| {
        let (one, other) = (channel::bounded(1), channel::bounded(1));
        let first = Meets(one.0, other.1);
        let second = Meets(other.0, one.1);
        let fibers = [first, second].map(|meets| {
            pirn::spawn(move || {
                let _meets = meets;
                std::panic::resume_unwind(Box::new(7))
            })
        });
        let beside = pirn::spawn(|| time::sleep(MOMENT));
        for fiber in fibers {
            let result: Result<(), _> = fiber.join();
            assert_eq!(result.unwrap_err().into_panic().downcast_ref(), Some(&7));
        }
        assert_eq!(beside.join().unwrap(), Ok(()));
    });
}

/// A panic that is joined is the joiner's, and the others continue.
// Proves: U30-scopes.
#[test]
fn a_panic_that_is_joined_ends_nothing() {
    check(|| {
        let go = Event::manual();
        let (result, sum) = scope(|s| {
            let panicking = s.spawn(|| {
                pirn_sim::point();
                std::panic::resume_unwind(Box::new(7))
            });
            let other = s.spawn(|| go.wait().map(|()| 3));
            let result: Result<(), JoinError> = panicking.join();
            go.set();
            (result, other.join().unwrap())
        });
        let payload = result.unwrap_err().into_panic();
        assert_eq!((payload.downcast_ref(), sum), (Some(&7), Ok(3)));
    });
}

/// In a supervised scope a panic stays with its child.
// Proves: U30-scopes.
#[test]
fn a_supervised_panic_ends_nothing() {
    check(|| {
        let passed = AtomicUsize::new(0);
        supervise(|s| {
            let panicking = [1, 2].map(|n| s.spawn(move || panic!("child {n}")));
            for _ in 0..2 {
                s.spawn(|| {
                    time::sleep(MOMENT).unwrap();
                    passed.fetch_add(1, Ordering::Relaxed);
                });
            }
            assert_eq!(s.wait(), Ok(()));
            for child in panicking {
                let result: Result<(), _> = child.join();
                assert!(result.unwrap_err().is_panic());
            }
        });
        assert_eq!(passed.into_inner(), 2);
    });
}

/// A scope that is cancelled: children are interrupted, or never run, or were done before.
// Proves: U30-scopes.
#[test]
fn a_cancelled_scope_interrupts_all() {
    check(|| {
        let (tx, rx) = channel::bounded::<()>(0);
        scope(|s| {
            s.spawn(|| s.cancel());
            let receive = || {
                let rx = &rx;
                s.spawn(move || rx.recv())
            };
            for child in [receive(), receive()] {
                match pirn::cancel::shield(|| child.join()) {
                    Ok(received) => {
                        let end = RecvError::Interrupted(Interrupt::Cancelled);
                        assert_eq!(received, Err(end));
                    }
                    Err(error) => assert!(matches!(error, JoinError::NotRun), "{error}"),
                }
            }
            let refused = s.try_spawn(|| ());
            assert_eq!(refused.unwrap_err().reason(), Rejected::Cancelled);
        });
        drop(tx);
    });
}

/// A wait for all children beside a limit.
// Proves: U30-scopes.
#[test]
fn a_scope_is_waited_for_within_a_limit() {
    check(|| {
        let done = AtomicUsize::new(0);
        scope(|s| {
            for n in 1..=2 {
                let done = &done;
                s.spawn(move || {
                    time::sleep(n * MOMENT).unwrap();
                    done.fetch_add(1, Ordering::Relaxed);
                });
            }
            assert_eq!(s.wait_timeout(MOMENT), Ok(false));
            assert!(!s.is_empty());
            let ended = s.wait_timeout(2 * MOMENT);
            assert_eq!((ended, s.len()), (Ok(true), 0));
            assert_eq!(done.load(Ordering::Relaxed), 2);
        });
    });
}

#[derive(Debug, PartialEq)]
enum Failed {
    Own(u32),
    By(Interrupt),
}

impl From<Interrupt> for Failed {
    fn from(interrupt: Interrupt) -> Failed {
        Failed::By(interrupt)
    }
}

/// The first error ends the scope and is its result; the others are interrupted.
// Proves: U30-scopes.
#[test]
fn the_first_error_is_the_result() {
    check(|| {
        let slept = AtomicUsize::new(0);
        let result: Result<(), Failed> = try_scope(|s| {
            for n in 1..=2 {
                s.spawn(move || {
                    pirn_sim::point();
                    // Fails if the other child's error has cancelled the scope; that error is then the result.
                    pirn::cancel::check()?;
                    Err::<(), _>(Failed::Own(n))
                });
            }
            s.spawn(|| {
                time::sleep(3_600_000 * MOMENT)?;
                slept.fetch_add(1, Ordering::Relaxed);
                Ok(())
            });
            Ok(())
        });
        assert!(matches!(result, Err(Failed::Own(1 | 2))), "{result:?}");
        assert_eq!(slept.into_inner(), 0, "not interrupted");
    });
}

/// All results in their order, the first success, the first end.
// Proves: U30-scopes.
#[test]
fn several_closures_at_once() {
    check(|| {
        let job = |n: u32, fails: bool| {
            move || {
                (0..n % 3).for_each(|_| pirn::yield_now());
                match fails {
                    true => Err(Failed::Own(n)),
                    false => Ok(n),
                }
            }
        };
        assert_eq!(all([2, 1, 3].map(|n| job(n, false))), Ok(vec![2, 1, 3]));
        assert_eq!(any([2, 1, 3].map(|n| job(n, n != 3))), Ok(3));
        let none = any([2, 1].map(|n| job(n, true)));
        assert_eq!(none, Err(vec![Failed::Own(2), Failed::Own(1)]));
        // The one that waits for the other's cancellation is not the first to end.
        let winner = race([1, 2].map(|n| {
            move || match n {
                1 => time::sleep(3_600_000 * MOMENT).map_or(n, |()| 3),
                _ => n,
            }
        }));
        assert_eq!(winner, Some(2));
    });
}

/// Each result of a group is taken once, by any of those that wait.
// Proves: U30-scopes.
#[test]
fn each_result_of_a_group_is_taken_once() {
    check(|| {
        let group = TaskGroup::new();
        for n in 0..3 {
            let job = move || {
                pirn_sim::point();
                assert_ne!(n, 1, "on purpose");
                n
            };
            group.spawn(job).unwrap();
        }
        let results = Log::new();
        scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    while let Some(result) = group.join_next().unwrap() {
                        results.add(result.ok());
                    }
                    assert!(group.is_empty());
                });
            }
            group.wait().unwrap();
            assert!(group.is_empty());
        });
        let mut results = results.take();
        results.sort_unstable();
        assert_eq!(results, [None, Some(0), Some(2)]);
    });
}

/// Results without a value are counted.
// Proves: U30-scopes.
#[test]
fn results_of_a_group_are_counted() {
    check(|| {
        let group = TaskGroup::new();
        let counted = AtomicUsize::new(0);
        scope(|s| {
            s.spawn(|| (0..3).for_each(|_| drop(group.spawn(|| ()).unwrap())));
            for _ in 0..2 {
                s.spawn(|| {
                    while counted.load(Ordering::Relaxed) < 3 {
                        match group.join_next().unwrap() {
                            Some(result) => {
                                result.unwrap();
                                counted.fetch_add(1, Ordering::Relaxed);
                            }
                            // All that were spawned so far have ended.
                            None => pirn::yield_now(),
                        }
                    }
                });
            }
        });
        assert_eq!((counted.into_inner(), group.len()), (3, 0));
    });
}

/// A limited group has so many fibers at most; a spawn waits for one to end.
// Proves: U30-scopes.
#[test]
fn a_limited_group_has_as_many_as_it_may() {
    check(|| {
        let group = TaskGroup::new().limit(2);
        let alive = std::sync::Arc::new(AtomicUsize::new(0));
        scope(|s| {
            for _ in 0..2 {
                let (group, alive) = (&group, &alive);
                s.spawn(move || {
                    for _ in 0..2 {
                        let alive = std::sync::Arc::clone(alive);
                        let job = move || {
                            assert!(alive.fetch_add(1, Ordering::Relaxed) < 2);
                            pirn_sim::point();
                            alive.fetch_sub(1, Ordering::Relaxed);
                        };
                        group.spawn(job).unwrap();
                        assert!(group.len() <= 2);
                    }
                });
            }
        });
        group.wait().unwrap();
        assert_eq!(alive.load(Ordering::Relaxed), 0);
        let mut results = 0;
        while let Some(result) = group.join_next().unwrap() {
            result.unwrap();
            results += 1;
        }
        assert_eq!(results, 4);
    });
}

/// A group that is cancelled, or dropped: each fiber is interrupted, has ended before, or never
/// runs.
// Proves: U30-scopes.
#[test]
fn a_cancelled_group_ends() {
    check(|| {
        let never = std::sync::Arc::new(Event::manual());
        let (group, dropped) = (TaskGroup::new(), TaskGroup::new());
        for group in [&group, &dropped] {
            let never = std::sync::Arc::clone(&never);
            group.spawn(move || never.wait()).unwrap();
        }
        scope(|s| {
            s.spawn(|| drop(dropped));
            s.spawn(|| group.cancel());
            let result = group.join_next().unwrap().unwrap();
            match result {
                Ok(waited) => assert_eq!(waited, Err(Interrupt::Cancelled)),
                Err(error) => assert!(matches!(error, JoinError::NotRun), "{error}"),
            }
            assert!(group.join_next().unwrap().is_none());
            let refused = group.spawn(|| Ok(())).unwrap_err();
            assert_eq!(refused.reason(), Rejected::Cancelled);
        });
    });
}
