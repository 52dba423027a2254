//! Ends of fibers: joins, detached fibers, cancellations, and the token of `unpark`.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use pirn::channel::{self, RecvError};
use pirn::runtime::{Handle, Runtime};
use pirn::spawn::{self, JoinError};
use pirn::{Interrupt, cancel, scope, time};

use crate::{Log, MOMENT, assert_passed, check};

/// A result is joined, returned after a limit, or dropped with its handle: it has one end.
// Proves: U30-ends.
#[test]
fn a_result_has_one_end() {
    check(|| {
        let value = Arc::new(());
        let fiber = |waits: bool| {
            let value = Arc::clone(&value);
            pirn::spawn(move || {
                if waits {
                    time::sleep(MOMENT).unwrap();
                }
                value
            })
        };
        let (joined, limited, dropped) = (fiber(false), fiber(true), fiber(false));
        dropped.detach();
        let limited = match limited.join_timeout(MOMENT) {
            Ok(ended) => ended.unwrap(),
            Err(handle) => handle.join().unwrap(),
        };
        let detached = fiber(true);
        pirn_sim::point();
        drop(detached);
        drop((joined.join().unwrap(), limited));
        // Until the detached fibers have ended.
        time::sleep(2 * MOMENT).unwrap();
        assert_eq!(Arc::strong_count(&value), 1);
    });
}

/// Several parties wait for one end.
// Proves: U30-ends.
#[test]
fn all_that_wait_for_an_end_notice_it() {
    check(|| {
        let done = Arc::new(AtomicUsize::new(0));
        let flag = Arc::clone(&done);
        let fiber = pirn::spawn(move || {
            pirn_sim::point();
            flag.store(1, Ordering::Relaxed);
        });
        scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    fiber.wait().unwrap();
                    assert!(fiber.is_finished());
                    assert_eq!(done.load(Ordering::Relaxed), 1);
                });
            }
            s.spawn(|| {
                while !fiber.is_finished() {
                    pirn::yield_now();
                }
                assert_eq!(fiber.wait(), Ok(()));
            });
        });
        fiber.join().unwrap();
    });
}

/// A cancellation comes before the start of a fiber, while it waits, or after its end.
// Proves: U30-ends.
#[test]
fn a_cancelled_fiber_ends_in_one_way() {
    check(|| {
        let (tx, rx) = channel::bounded(0);
        let fiber = pirn::spawn(move || {
            let received = rx.recv();
            // A cancellation of the fiber itself stays.
            let later = cancel::check();
            if received.is_err() {
                assert_eq!(later, Err(Interrupt::Cancelled));
            }
            received
        });
        let sent = scope(|s| {
            let sender = s.spawn(move || tx.send(7).is_ok());
            s.spawn(|| fiber.cancel());
            fiber.wait().unwrap();
            assert!(fiber.is_finished());
            sender.join().unwrap()
        });
        match fiber.join() {
            Ok(Ok(7)) => assert!(sent),
            Ok(received) => {
                let interrupt = RecvError::Interrupted(Interrupt::Cancelled);
                assert!(received == Err(interrupt) && !sent);
            }
            Err(error) => assert!(matches!(error, JoinError::NotRun) && !sent),
        }
    });
}

/// A wait for an end that is interrupted does not end the fiber.
// Proves: U30-ends.
#[test]
fn a_cancelled_join_leaves_its_fiber() {
    check(|| {
        let (tx, rx) = channel::bounded(1);
        let (ended, end) = channel::bounded(1);
        let joiner = pirn::spawn(move || {
            let inner = pirn::spawn(move || {
                let received = rx.recv();
                ended.send(received).unwrap();
                received
            });
            inner.join()
        });
        scope(|s| {
            s.spawn(|| joiner.cancel());
            s.spawn(move || tx.send(7));
        });
        match joiner.join() {
            Ok(Ok(received)) => assert_eq!((received, end.recv()), (Ok(7), Ok(Ok(7)))),
            Ok(Err(error)) => {
                let interrupt =
                    matches!(error, JoinError::Interrupted(Interrupt::Cancelled));
                assert!(interrupt, "{error}");
                assert_eq!(end.recv(), Ok(Ok(7)));
            }
            Err(error) => {
                assert!(matches!(error, JoinError::NotRun), "{error}");
                assert_eq!(end.recv(), Err(RecvError::Disconnected));
            }
        }
    });
}

/// An unpark before, during or after the decision to park is not lost, and two may count once.
// Proves: U30-ends.
#[test]
fn an_unpark_is_not_lost() {
    check(|| {
        let set = AtomicUsize::new(0);
        scope(|s| {
            let parked = s.spawn(|| {
                while set.load(Ordering::Relaxed) < 2 {
                    spawn::park();
                }
            });
            for _ in 0..2 {
                let (set, fiber) = (&set, parked.fiber().clone());
                s.spawn(move || {
                    pirn_sim::point();
                    set.fetch_add(1, Ordering::Relaxed);
                    fiber.unpark();
                });
            }
        });
        assert_eq!(set.into_inner(), 2);
    });
}

/// A limited park ends by its limit or by the token, which is there once.
// Proves: U30-ends.
#[test]
fn a_token_is_taken_once() {
    check(|| {
        scope(|s| {
            let begun = time::now();
            let parked = s.spawn(move || {
                spawn::park_timeout(MOMENT);
                assert_passed(begun, 1);
                // The token has come, or it comes now.
                spawn::park_timeout(MOMENT);
                time::now() - begun > 3 * MOMENT / 2
            });
            let fiber = parked.fiber().clone();
            s.spawn(move || {
                time::sleep(MOMENT).unwrap();
                fiber.unpark();
            });
            let is_late = parked.join().unwrap();
            // The first park took the token, or the second one.
            assert_passed(begun, 1 + u32::from(is_late));
        });
    });
}

/// Locals are dropped before the end of their fiber is noticed.
// Proves: U30-ends.
#[test]
fn locals_end_before_their_fiber() {
    struct Logs(Arc<Log<&'static str>>);
    impl Drop for Logs {
        fn drop(&mut self) {
            pirn_sim::point();
            self.0.add("local");
        }
    }
    pirn::fiber_local! {
        static KEPT: std::cell::RefCell<Option<Logs>> = std::cell::RefCell::new(None);
    }
    check(|| {
        let log = Arc::new(Log::new());
        let own = Arc::clone(&log);
        let fiber = pirn::spawn(move || {
            KEPT.with_borrow_mut(|kept| *kept = Some(Logs(Arc::clone(&own))));
            own.add("body");
        });
        fiber.join().unwrap();
        log.add("joined");
        assert_eq!(log.take(), ["body", "local", "joined"]);
    });
}

/// A child that no runtime accepts leaves its locals to no later fiber.
// Proves: U30-ends.
#[test]
fn a_refused_fiber_leaves_nothing_behind() {
    pirn::fiber_local! {
        static LENT: Cell<u32> = Cell::new(0), inherit;
    }
    fn ended() -> &'static Handle {
        static ENDED: OnceLock<Handle> = OnceLock::new();
        ENDED.get_or_init(|| {
            let runtime = Runtime::builder().workers(1).build().unwrap();
            let handle = runtime.handle();
            runtime.shutdown(Duration::from_secs(60)).unwrap();
            handle
        })
    }
    let over = ended();
    check(move || {
        let fibers = [1, 2].map(|own| {
            pirn::spawn(move || {
                LENT.set(own);
                over.scope(|s| {
                    pirn_sim::point();
                    assert!(s.try_spawn(|| ()).is_err());
                });
                let seen = pirn::spawn(|| LENT.get());
                (seen.join().unwrap(), LENT.get())
            })
        });
        let seen = fibers.map(|fiber| fiber.join().unwrap());
        assert_eq!(seen, [(0, 1), (0, 2)]);
    });
}
