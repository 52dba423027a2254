//! Halves of a join that become fibers: the limits, tokens and locals around the join are theirs,
//! and those of the other half are not.

use std::cell::RefCell;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};

use pirn::cancel::{self, Token};
use pirn::par::join;
use pirn::{channel, time, yield_now};

use crate::{Log, MOMENT, check};

fn is_cancelled() -> bool {
    Token::current().is_cancelled()
}

/// A limit around the join holds for both halves, one that a half enters for that half only.
// Proves: U30-halves.
#[test]
fn a_limit_holds_where_it_was_entered() {
    check(|| {
        let at = time::now() + MOMENT;
        let is_limited = || cancel::deadline().is_some();
        let (tx, rx) = channel::bounded(0);
        let first = || cancel::with_deadline(at, || rx.recv().unwrap());
        let second = || tx.send(is_limited()).unwrap();
        let (other_is_limited, ()) = join(first, second);
        assert!(!other_is_limited);
        let both = cancel::with_deadline(at, || {
            let waits = || {
                yield_now();
                is_limited()
            };
            join(waits, is_limited)
        });
        assert_eq!(both, (true, true));
        assert!(!is_limited());
    });
}

/// A fiber is cancelled at any moment: both halves begin, since one may wait for the other, and
/// both are interrupted.
// Proves: U30-halves.
#[test]
fn a_cancelled_fiber_gets_both_halves() {
    check(|| {
        let begun = Arc::new(AtomicUsize::new(0));
        let own = Arc::clone(&begun);
        let fiber = pirn::spawn(move || {
            own.store(1, Ordering::Relaxed);
            let (tx, rx) = channel::bounded(0);
            let first = || cancel::shield(|| rx.recv().unwrap());
            let second = || {
                cancel::shield(|| tx.send(7).unwrap());
                time::sleep(MOMENT).is_err()
            };
            let both = join(first, second);
            assert_eq!(both.1, cancel::check().is_err());
            both.0
        });
        fiber.cancel();
        match fiber.join() {
            Ok(value) => assert_eq!(value, 7),
            Err(error) => {
                assert!(!error.is_panic(), "{error}");
                assert_eq!(begun.load(Ordering::Relaxed), 0);
            }
        }
    });
}

/// A token that a fiber has entered and left is not cancelled with the fiber, whether or not halves
/// have become fibers before.
// Proves: U30-halves.
#[test]
fn a_token_that_was_left_is_the_fibers_no_more() {
    for promotes in [false, true] {
        check(move || {
            let inside = Arc::new(Log::new());
            let kept = Arc::clone(&inside);
            let fiber = pirn::spawn(move || {
                if promotes {
                    let (tx, rx) = channel::bounded::<()>(0);
                    join(|| rx.recv(), || tx.send(())).0.unwrap();
                }
                let token = Token::new().enter(Token::current);
                kept.add(token);
                assert!(cancel::check().is_ok() || cancel::reason().is_some());
                let _ = pirn::sleep(MOMENT);
                is_cancelled()
            });
            // When it has left the token, unless it is cancelled before that.
            time::sleep(MOMENT / 2).unwrap();
            fiber.cancel();
            let _ = fiber.join();
            let inside = inside.take().pop().unwrap();
            assert!(!inside.is_cancelled());
        });
    }
}

/// Code that runs after the end of its fiber, in a waker, joins: its token is no other fiber's.
// Proves: U30-halves.
#[test]
fn what_joins_after_the_end_of_its_fiber_cancels_no_other() {
    struct Joins(Arc<AtomicUsize>);
    impl Drop for Joins {
        fn drop(&mut self) {
            assert_eq!(join(|| (yield_now(), 1).1, || 2), (1, 2));
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    pirn::fiber_local! {
        static LATE: RefCell<Option<Joins>> = RefCell::new(None);
    }
    struct Makes(Arc<AtomicUsize>);
    impl Wake for Makes {
        fn wake(self: Arc<Self>) {
            let joins = Joins(Arc::clone(&self.0));
            LATE.with_borrow_mut(|late| *late = Some(joins));
        }
    }
    check(|| {
        let dropped = Arc::new(AtomicUsize::new(0));
        let mut fiber = pirn::spawn(yield_now);
        let waker = Waker::from(Arc::new(Makes(Arc::clone(&dropped))));
        let mut context = Context::from_waker(&waker);
        if Pin::new(&mut fiber).poll(&mut context).is_ready() {
            return;
        }
        while dropped.load(Ordering::Relaxed) == 0 {
            yield_now();
        }
        fiber.cancel();
        drop(fiber);
        // One of them has its header.
        let next = || pirn::spawn(|| join(yield_now, is_cancelled).1);
        let all = [next(), next(), next()];
        all.into_iter()
            .for_each(|next| assert!(!next.join().unwrap()));
    });
}

/// Locals that are inherited: a half has a copy of the value of the time of its start.
// Proves: U30-halves.
#[test]
fn a_half_has_the_locals_of_its_fiber() {
    pirn::fiber_local! {
        static NAME: RefCell<u32> = RefCell::new(0), inherit;
    }
    fn name() -> u32 {
        NAME.with_borrow(|name| *name)
    }
    check(|| {
        let fibers = [1, 2].map(|own| {
            pirn::spawn(move || {
                NAME.with_borrow_mut(|name| *name = own);
                let half = || {
                    yield_now();
                    name()
                };
                assert_eq!(join(half, half), (own, own));
                let borrowed = NAME.with_borrow_mut(|_| join(yield_now, || 7).1);
                assert_eq!(borrowed, 7);
                name()
            })
        });
        let names = fibers.map(|fiber| fiber.join().unwrap());
        assert_eq!((names, name()), ([1, 2], 0));
    });
}
