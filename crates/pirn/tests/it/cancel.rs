//! Tokens form a tree, and cancelling one interrupts the code under it, and nothing else.

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use pirn::cancel::{self, Token, check, shield, with_deadline};
use pirn::channel::{RecvError, bounded};
use pirn::spawn::{Builder, JoinError, Rejected};
use pirn::time::{now, sleep, timeout};
use pirn::{Interrupt, JoinHandle};

use crate::executor_kind::{alone, for_ever, runtime, until};
use crate::util::{Drops, LONG, eventually, on_every_shape, scaled};

/// A scope's cancellation ends the waits of its body and its children, and unstarted children do
/// not start. Outside the scope it has no effect.
// Proves: K2, K3.
#[test]
fn a_cancelled_scope_interrupts_body_and_children() {
    on_every_shape(|runtime| {
        let (began, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
        runtime.run(|| {
            pirn::scope(|s| {
                for _ in 0..10 {
                    s.spawn(|| {
                        began.fetch_add(1, Ordering::SeqCst);
                        assert_eq!(for_ever(), Interrupt::Cancelled);
                        ended.fetch_add(1, Ordering::SeqCst);
                    });
                }
                until(&began, 10);
                assert_eq!(check(), Ok(()));
                s.cancel();
                assert!(s.token().is_cancelled());
                assert_eq!(check(), Err(Interrupt::Cancelled));
                assert_eq!(sleep(LONG), Err(Interrupt::Cancelled));
                let late = s.spawn(|| unreachable!("it must not start"));
                assert!(matches!(shield(|| late.join()), Err(JoinError::NotRun)));
                let refused = s.try_spawn(|| 7).unwrap_err();
                assert_eq!(refused.reason(), Rejected::Cancelled);
                assert_eq!(refused.into_inner()(), 7);
            });
            assert_eq!(check(), Ok(()), "the scope is over");
        });
        assert_eq!(ended.into_inner(), 10);
    });
}

/// A cancellation propagates down the tree, through nested scopes, and not up or sideways.
// Proves: K7.
#[test]
fn cancellation_goes_down_and_not_up() {
    on_every_shape(|runtime| {
        let (inner_ended, sibling_free) = (AtomicUsize::new(0), AtomicBool::new(false));
        runtime.run(|| {
            let ready = AtomicUsize::new(0);
            pirn::scope(|outer| {
                let token = outer.spawn(|| {
                    pirn::scope(|inner| {
                        for _ in 0..3 {
                            inner.spawn(|| {
                                pirn::scope(|innermost| {
                                    innermost.spawn(|| {
                                        ready.fetch_add(1, Ordering::SeqCst);
                                        for_ever();
                                        inner_ended.fetch_add(1, Ordering::SeqCst);
                                    });
                                });
                            });
                        }
                        until(&ready, 3);
                        inner.cancel();
                    });
                    assert_eq!(check(), Ok(()));
                });
                token.join().unwrap();
                sibling_free.store(check().is_ok(), Ordering::SeqCst);
            });
        });
        assert_eq!(inner_ended.into_inner(), 3);
        assert!(
            sibling_free.into_inner(),
            "the outer scope was not cancelled"
        );
    });
}

/// A cancellation of a fiber by its handle cancels the children that it has spawned in scopes,
/// while it waits for something unrelated.
// Proves: K7.
#[test]
fn cancelling_a_fiber_cancels_its_scopes() {
    on_every_shape(|runtime| {
        let waiting = Arc::new(AtomicUsize::new(0));
        let ended = Arc::new(AtomicUsize::new(0));
        let (count, done) = (Arc::clone(&waiting), Arc::clone(&ended));
        let fiber: JoinHandle<()> = runtime.spawn(move || {
            let lock = pirn::sync::Mutex::new(());
            let held = lock.lock();
            pirn::scope(|s| {
                for _ in 0..4 {
                    s.spawn(|| {
                        pirn::scope(|s| {
                            s.spawn(|| {
                                count.fetch_add(1, Ordering::SeqCst);
                                for_ever();
                                done.fetch_add(1, Ordering::SeqCst);
                            });
                        });
                    });
                }
            });
            drop(held);
        });
        eventually("all wait", || waiting.load(Ordering::SeqCst) == 4);
        fiber.cancel();
        fiber.join().unwrap();
        assert_eq!(ended.load(Ordering::SeqCst), 4);
    });
}

/// A fiber that was cancelled before it opened a scope has its children cancelled too.
// Proves: K3.
#[test]
fn a_scope_of_a_cancelled_fiber_is_cancelled() {
    alone(|| {
        let fiber = pirn::spawn(|| {
            assert_eq!(for_ever(), Interrupt::Cancelled);
            pirn::scope(|s| {
                let child = s.spawn(|| 1);
                assert!(matches!(shield(|| child.join()), Err(JoinError::NotRun)));
                assert!(s.token().is_cancelled());
            });
        });
        pirn::yield_now();
        fiber.cancel();
        fiber.join().unwrap();
    });
}

/// A child that is queued when its scope is cancelled does not start.
// Proves: K3.
#[test]
fn a_queued_child_of_a_cancelled_scope_does_not_start() {
    alone(|| {
        pirn::scope(|s| {
            let queued = s.spawn(|| unreachable!("it must not start"));
            s.cancel();
            assert!(matches!(shield(|| queued.join()), Err(JoinError::NotRun)));
        });
    });
}

/// A thousand parked receivers of a cancelled scope end, each with the interrupt.
// Proves: K2.
#[test]
fn a_thousand_parked_receivers_end() {
    for workers in [1, 2, 4, 8] {
        let n = scaled(1_000);
        let (began, interrupted) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let (_tx, rx) = bounded::<u8>(0);
        let runtime = runtime(workers);
        runtime.run(|| {
            pirn::scope(|s| {
                for _ in 0..n {
                    s.spawn(|| {
                        began.fetch_add(1, Ordering::SeqCst);
                        if rx.recv() == Err(RecvError::Interrupted(Interrupt::Cancelled))
                        {
                            interrupted.fetch_add(1, Ordering::SeqCst);
                        }
                    });
                }
                until(&began, n);
                s.cancel();
            });
        });
        assert_eq!(interrupted.into_inner(), n);
    }
}

/// Spawns during a cancellation: each fiber that was admitted and started has ended, and each
/// closure was run or dropped, once.
// Proves: F-X-free (free), K4.
#[test]
fn spawning_while_cancelling() {
    on_every_shape(|runtime| {
        let drops = Drops::default();
        let (started, finished) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let n = scaled(2_000);
        runtime.run(|| {
            pirn::scope(|s| {
                let token = s.token().clone();
                s.spawn(move || {
                    for _ in 0..20 {
                        pirn::yield_now();
                    }
                    token.cancel();
                });
                for i in 0..n {
                    let capture = drops.one();
                    let (started, finished) = (&started, &finished);
                    let job = move || {
                        let _capture = capture;
                        started.fetch_add(1, Ordering::SeqCst);
                        if i % 2 == 0 {
                            for_ever();
                        }
                        finished.fetch_add(1, Ordering::SeqCst);
                    };
                    match s.try_spawn(job) {
                        Ok(handle) => drop(handle),
                        Err(error) => assert_eq!(error.reason(), Rejected::Cancelled),
                    }
                    if i % 64 == 0 {
                        pirn::yield_now();
                    }
                }
                while check().is_ok() {
                    pirn::yield_now();
                }
                let refused = s.try_spawn(|| 7).unwrap_err();
                assert_eq!(refused.reason(), Rejected::Cancelled);
                assert_eq!(refused.into_inner()(), 7);
            });
        });
        assert_eq!(started.into_inner(), finished.into_inner());
        assert_eq!(drops.count(), n);
    });
}

/// A shielded section runs to its end despite a cancellation; afterwards the interrupt is
/// reported.
// Proves: K8.
#[test]
fn a_shield_defers_every_interrupt() {
    alone(|| {
        let (tx, rx) = bounded(1);
        // By its handle.
        let sender = tx.clone();
        let fiber = pirn::spawn(move || {
            for_ever();
            assert_eq!(check(), Err(Interrupt::Cancelled));
            let inside = shield(|| {
                assert_eq!(check(), Ok(()));
                sleep(Duration::from_millis(1)).unwrap();
                sender.send(1)
            });
            assert_eq!(inside, Ok(()));
            check()
        });
        pirn::yield_now();
        fiber.cancel();
        assert_eq!(fiber.join().unwrap(), Err(Interrupt::Cancelled));
        assert_eq!(rx.try_recv(), Ok(1));
        // By its scope, while it waits in the shield.
        pirn::scope(|s| {
            let fiber = s.spawn(|| {
                let inside = shield(|| rx.recv());
                (inside, check())
            });
            pirn::yield_now();
            s.cancel();
            tx.try_send(2).unwrap();
            let ended = shield(|| fiber.join()).unwrap();
            assert_eq!(ended, (Ok(2), Err(Interrupt::Cancelled)));
        });
        // By a deadline.
        let passed = now();
        with_deadline(passed, || {
            assert_eq!(check(), Err(Interrupt::TimedOut));
            assert_eq!(shield(check), Ok(()));
            assert_eq!(shield(cancel::deadline), None);
            assert_eq!(check(), Err(Interrupt::TimedOut));
        });
    });
}

/// Regions entered inside a shield apply there: deadlines, tokens, scopes.
// Proves: K8.
#[test]
fn a_shield_is_no_shield_from_what_is_inside() {
    alone(|| {
        let outer = Token::new();
        outer.enter(|| {
            outer.cancel();
            assert_eq!(check(), Err(Interrupt::Cancelled));
            shield(|| {
                assert_eq!(check(), Ok(()));
                let late = timeout(Duration::from_millis(1), || sleep(LONG));
                assert!(late.is_err());
                let inner = Token::new();
                inner.enter(|| {
                    assert_eq!(check(), Ok(()));
                    inner.cancel();
                    assert_eq!(check(), Err(Interrupt::Cancelled));
                    assert_eq!(sleep(LONG), Err(Interrupt::Cancelled));
                });
                assert_eq!(check(), Ok(()));
                let child = pirn::scope(|s| {
                    let fiber = s.spawn(for_ever);
                    pirn::yield_now();
                    s.cancel();
                    shield(|| fiber.join()).unwrap()
                });
                assert_eq!(child, Interrupt::Cancelled);
            });
            assert_eq!(check(), Err(Interrupt::Cancelled));
        });
        assert_eq!(check(), Ok(()));
    });
}

/// Both set: cancellation is reported. Nested: the nearest deadline, and each by its own
/// `timeout`.
// Proves: K9.
#[test]
fn cancellation_comes_before_a_deadline() {
    alone(|| {
        let token = Token::new();
        token.enter(|| {
            with_deadline(now(), || {
                assert_eq!(check(), Err(Interrupt::TimedOut));
                token.cancel();
                assert_eq!(check(), Err(Interrupt::Cancelled));
                assert_eq!(sleep(LONG), Err(Interrupt::Cancelled));
            });
            assert_eq!(check(), Err(Interrupt::Cancelled));
        });
        assert_eq!(check(), Ok(()));
    });
}

/// A plain thread is under the tokens that it enters, and in the scopes that it opens.
#[test]
fn plain_threads_are_interrupted_too() {
    let token = Token::new();
    let canceller = token.clone();
    let waits = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&waits);
    let other = std::thread::spawn(move || {
        eventually("it waits", || seen.load(Ordering::SeqCst));
        std::thread::sleep(Duration::from_millis(5));
        canceller.cancel();
    });
    token.enter(|| {
        waits.store(true, Ordering::SeqCst);
        assert_eq!(sleep(LONG), Err(Interrupt::Cancelled));
    });
    other.join().unwrap();
    pirn::scope(|s| {
        s.spawn(|| s.cancel());
        assert_eq!(sleep(LONG), Err(Interrupt::Cancelled));
    });
    assert_eq!(check(), Ok(()));
}

/// A panic that unwinds through regions leaves them.
// Proves: K-X-entered.
#[test]
fn regions_are_left_by_unwinding() {
    alone(|| {
        let token = Token::new();
        for _ in 0..3 {
            let caught = catch_unwind(AssertUnwindSafe(|| {
                token.enter(|| shield(|| token.child().enter(|| panic_any(1))))
            }));
            assert!(caught.is_err());
        }
        token.cancel();
        assert_eq!(check(), Ok(()));
        let fiber = Builder::new().name("after").spawn(for_ever).unwrap();
        pirn::yield_now();
        fiber.cancel();
        assert_eq!(fiber.join().unwrap(), Interrupt::Cancelled);
    });
}

/// Cancellation at random moments while fibers use every primitive: each call returns, and no
/// admitted value is lost.
// Proves: K2.
#[test]
fn cancelled_at_random_points() {
    let rounds = scaled(30);
    for workers in [1, 2, 4, 8] {
        let runtime = runtime(workers);
        for round in 0..rounds {
            let (sent, received) = (AtomicUsize::new(0), AtomicUsize::new(0));
            runtime.run(|| {
                let (tx, rx) = bounded(round % 4);
                let lock = pirn::sync::Mutex::new(0);
                let permits = pirn::sync::Semaphore::new(2);
                pirn::scope(|s| {
                    for _ in 0..4 {
                        s.spawn(|| {
                            while tx.send(1).is_ok() {
                                sent.fetch_add(1, Ordering::SeqCst);
                            }
                        });
                        s.spawn(|| {
                            while rx.recv().is_ok() {
                                received.fetch_add(1, Ordering::SeqCst);
                            }
                        });
                        s.spawn(|| {
                            while let Ok(mut held) = lock.lock_interruptible() {
                                *held += 1;
                                pirn::yield_now();
                            }
                        });
                        s.spawn(|| {
                            while let Ok(permit) = permits.acquire(1) {
                                if sleep(Duration::from_micros(50)).is_err() {
                                    break;
                                }
                                drop(permit);
                            }
                        });
                        s.spawn(|| {
                            while timeout(Duration::from_micros(70), || {
                                pirn::scope(|s| drop(s.spawn(|| sleep(LONG))));
                                check()
                            }) != Ok(Err(Interrupt::Cancelled))
                            {
                            }
                        });
                    }
                    for _ in 0..round * 7 {
                        pirn::yield_now();
                    }
                    s.cancel();
                });
                // Values that were sent and not received are in the buffer.
                let left = rx.try_iter().count();
                assert_eq!(
                    sent.load(Ordering::SeqCst),
                    received.load(Ordering::SeqCst) + left
                );
            });
        }
    }
}
