//! Regions of the code of a join: surrounding ones apply to both halves, on any worker and with any
//! layout of their frames; one entered by a half applies to that half only.

use std::cell::RefCell;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use pirn::cancel::{self, Token};
use pirn::channel;
use pirn::par::{self, join};
use pirn::sync::Mutex;
use pirn::{Runtime, time, yield_now};

use crate::util::{eventually, on_every_shape};

const FAR: Duration = Duration::from_secs(1_000);

fn is_cancelled() -> bool {
    Token::current().is_cancelled()
}

fn is_limited() -> bool {
    cancel::deadline().is_some()
}

fn cancelled() -> Token {
    let token = Token::new();
    token.cancel();
    token
}

// Proves: O9-region.
#[test]
fn what_is_around_a_join_holds_for_both_halves() {
    on_every_shape(|runtime| {
        runtime.run(|| {
            for _ in 0..50 {
                let within = |f: fn() -> bool| {
                    let both = join(
                        || {
                            yield_now();
                            f()
                        },
                        f,
                    );
                    assert_eq!(both.0, both.1);
                    both.1
                };
                let far = time::now() + FAR;
                assert!(cancel::with_deadline(far, || within(is_limited)));
                assert!(!cancel::with_deadline(far, || {
                    cancel::shield(|| within(is_limited))
                }));
                assert!(cancelled().enter(|| within(is_cancelled)));
                assert!(
                    pirn::timeout(FAR, || cancelled().enter(|| within(is_limited)))
                        .unwrap()
                );
                assert!(!within(is_cancelled) && !within(is_limited));
                // A scope is cancelled by its first half.
                let seen = pirn::scope(|s| {
                    let first = || {
                        yield_now();
                        s.cancel();
                        yield_now();
                    };
                    let second = || {
                        while cancel::check().is_ok() {
                            yield_now();
                        }
                    };
                    join(first, second);
                    is_cancelled()
                });
                assert!(seen);
            }
        });
    });
}

// Proves: O9-region.
#[test]
fn what_a_half_enters_holds_for_that_half() {
    #[inline(never)]
    fn beside_a_token(token: &Token) -> bool {
        let mut kept = [0_u64; 30];
        black_box(&mut kept);
        let first = || {
            token.enter(yield_now);
            black_box(&mut kept);
        };
        join(first, is_cancelled).1
    }
    on_every_shape(|runtime| {
        runtime.run(|| {
            let far = time::now() + FAR;
            for _ in 0..50 {
                let token = cancelled();
                assert!(!beside_a_token(&token));
                assert!(!join(|| token.enter(yield_now), is_cancelled).1);
                let scoped = par::scope(|s| {
                    s.join(|_| token.enter(yield_now), |_| is_cancelled())
                });
                assert!(!scoped.1);
                assert!(!join(|| cancel::with_deadline(far, yield_now), is_limited).1);
                // Nested: the inner join is inside a region that the outer one's first half has
                // entered.
                let (inner, outer) = join(
                    || token.enter(|| join(yield_now, is_cancelled).1),
                    is_cancelled,
                );
                assert!(inner && !outer);
                // And after that region has been left.
                let shielded = || cancel::shield(|| join(yield_now, is_limited).1);
                let (inner, outer) = cancel::with_deadline(far, || {
                    join(shielded, || {
                        yield_now();
                        is_limited()
                    })
                });
                assert!(!inner && outer);
            }
        });
    });
}

/// `b` begins though the caller has been cancelled: `a` may wait for it.
// Proves: O9-region.
#[test]
fn a_cancelled_caller_gets_both_halves() {
    on_every_shape(|runtime| {
        let begun = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&begun);
        let fiber = runtime.spawn(move || {
            told.store(true, Ordering::SeqCst);
            while cancel::check().is_ok() {
                yield_now();
            }
            let (tx, rx) = channel::bounded::<u32>(1);
            let wait = || cancel::shield(|| rx.recv().unwrap());
            join(wait, || cancel::shield(|| tx.send(7).unwrap())).0
        });
        eventually("it runs", || begun.load(Ordering::SeqCst));
        fiber.cancel();
        assert_eq!(fiber.join().unwrap(), 7);
    });
}

/// A token that a waker has created on an ended fiber is dropped with it, and joins where it is
/// dropped: the next fiber in the same memory is not cancelled with the ended one.
// Proves: O9-region.
#[test]
fn what_joins_after_a_fibers_end_cancels_no_other() {
    static DROPPED: AtomicUsize = AtomicUsize::new(0);
    struct Joins;
    impl Drop for Joins {
        fn drop(&mut self) {
            assert_eq!(join(|| (yield_now(), 1).1, || 2), (1, 2));
            DROPPED.fetch_add(1, Ordering::SeqCst);
        }
    }
    pirn::fiber_local! {
        static LATE: Joins = Joins;
    }
    struct MakesOne;
    impl Wake for MakesOne {
        fn wake(self: Arc<Self>) {
            LATE.with(|_| ());
        }
    }
    for (round, workers) in [1, 2].into_iter().enumerate() {
        let runtime = Runtime::builder().workers(workers).build().unwrap();
        runtime.run(|| {
            let polled = Arc::new(AtomicBool::new(false));
            let may_end = polled.clone();
            let mut fiber = pirn::spawn(move || {
                while !may_end.load(Ordering::SeqCst) {
                    yield_now();
                }
            });
            let waker = Waker::from(Arc::new(MakesOne));
            let mut context = Context::from_waker(&waker);
            assert!(Pin::new(&mut fiber).poll(&mut context).is_pending());
            polled.store(true, Ordering::SeqCst);
            while DROPPED.load(Ordering::SeqCst) <= round {
                yield_now();
            }
            // By now it has notified all joiners.
            fiber.cancel();
            drop(fiber);
            // Many at once, so that one of them gets its header.
            let next = || pirn::spawn(|| join(yield_now, is_cancelled).1);
            let all: Vec<_> = (0..50).map(|_| next()).collect();
            for next in all {
                assert!(!next.join().unwrap());
            }
        });
    }
}

/// A clone of an inherited value waits while a half becomes a fiber, after the caller has
/// registered for a wake: the clone's wait must not use that registration.
// Proves: O9-region.
#[test]
fn clones_wait_for_themselves() {
    struct Waits(&'static Mutex<u32>);
    impl Drop for Waits {
        fn drop(&mut self) {
            let _ = self.0.lock_timeout(Duration::from_millis(2));
        }
    }
    struct Fails(bool);
    impl Clone for Fails {
        fn clone(&self) -> Self {
            static LATER: Mutex<u32> = Mutex::new(0);
            let _waits = Waits(&LATER);
            let held = LATER.lock();
            if self.0 {
                let _again = Waits(&LATER);
                std::panic::resume_unwind(Box::new("no clone"));
            }
            drop(held);
            Fails(false)
        }
    }
    pirn::fiber_local! {
        static VALUE: Fails = Fails(true), inherit;
    }
    for workers in [1, 2] {
        let runtime = Runtime::builder().workers(workers).build().unwrap();
        runtime.run(|| {
            let lock = Mutex::new(0);
            let (tx, rx) = channel::bounded::<()>(0);
            pirn::scope(|s| {
                let (lock, ended) = (&lock, AtomicUsize::new(0));
                s.spawn(move || {
                    let held = lock.lock();
                    rx.recv().unwrap();
                    drop(held);
                });
                yield_now();
                s.spawn(move || tx.send(()).unwrap());
                VALUE.with(|_| ());
                let both = catch_unwind(AssertUnwindSafe(|| {
                    join(
                        || {
                            *lock.lock() += 1;
                            yield_now();
                        },
                        || ended.fetch_add(1, Ordering::SeqCst),
                    )
                }));
                assert!(both.is_ok() && ended.into_inner() == 1);
            });
            assert_eq!(*lock.lock(), 1);
        });
    }
}

/// A `RefCell` that is mutably borrowed has no copy. So it makes no difference whether a half
/// inside the borrow becomes a fiber: it runs, and panics if it uses the value.
// Proves: O9-region.
#[test]
fn halves_inside_a_borrow_run_alike() {
    pirn::fiber_local! {
        static VALUE: RefCell<u32> = RefCell::new(7), inherit;
    }
    fn value() -> u32 {
        VALUE.with_borrow(|value| *value)
    }
    fn first(waits: bool) {
        for _ in 0..u32::from(waits) * 3 {
            yield_now();
        }
        join(|| (), || ());
    }
    on_every_shape(|runtime| {
        runtime.run(|| {
            for waits in [false, true] {
                let both = VALUE.with_borrow_mut(|_| join(|| first(waits), || 2));
                assert_eq!(both, ((), 2));
                let inner = || {
                    let inner = || join(|| first(waits), value);
                    catch_unwind(inner).is_err()
                };
                let both = VALUE.with_borrow_mut(|_| join(|| first(waits), inner));
                assert_eq!(both, ((), true));
                let spawns = || {
                    let spawns = || pirn::scope(|s| s.spawn(|| 3).join().unwrap());
                    catch_unwind(spawns).is_err()
                };
                let both = VALUE.with_borrow_mut(|_| join(|| first(waits), spawns));
                assert_eq!(both, ((), true));
                assert_eq!(value(), 7);
                assert_eq!(join(|| first(waits), value), ((), 7));
            }
        });
    });
}

/// A half that became a fiber panics with the reason for the missing copy.
// Proves: O9-region.
#[test]
fn a_half_without_a_copy_says_why() {
    struct Fragile;
    impl Clone for Fragile {
        fn clone(&self) -> Self {
            panic!("no copies of this")
        }
    }
    pirn::fiber_local! {
        static FRAGILE: Fragile = Fragile, inherit;
        static VALUE: RefCell<u32> = RefCell::new(7), inherit;
    }
    fn panic_of(second: fn()) -> String {
        let both = || join(yield_now, second);
        let panic = catch_unwind(AssertUnwindSafe(both)).unwrap_err();
        *panic.downcast::<String>().unwrap()
    }
    on_every_shape(|runtime| {
        runtime.run(|| {
            FRAGILE.with(|_| ());
            let message = panic_of(|| FRAGILE.with(|_| ()));
            assert!(
                message.contains("its clone panicked: no copies of this"),
                "{message}"
            );
            VALUE.with_borrow_mut(|_| {
                let message = panic_of(|| VALUE.with(|_| ()));
                assert!(message.contains("it was mutably borrowed"), "{message}");
            });
            assert_eq!(
                join(yield_now, || VALUE.with_borrow(|value| *value)),
                ((), 7)
            );
        });
    });
}

/// Without a stack for it a half runs at its join, at any depth.
// Proves: O9-join.
#[test]
fn halves_without_a_stack() {
    struct Joins;
    impl Drop for Joins {
        fn drop(&mut self) {
            assert_eq!(join(|| (yield_now(), 1), || 2), (((), 1), 2));
        }
    }
    #[inline(never)]
    fn deep(n: usize) -> usize {
        let kept = black_box([n; 64]);
        match n {
            0 => join(|| (yield_now(), 1).1, || 2).1 + kept[0],
            _ => deep(n - 1) + kept[3] - n,
        }
    }
    for workers in [1, 2] {
        let builder = Runtime::builder().workers(workers).max_stacks(workers);
        let runtime = builder.stack_size(1 << 20).build().unwrap();
        runtime.run(|| {
            let _joins = Joins;
        });
        let panicked = runtime.run(|| {
            catch_unwind(|| {
                let _joins = Joins;
                std::panic::resume_unwind(Box::new("on purpose"));
            })
        });
        assert!(panicked.is_err());
        for depth in (0..300).step_by(10) {
            assert_eq!(runtime.run(|| deep(depth)), 2);
        }
        eventually("all are counted", || {
            let total = runtime.metrics().total;
            total.spawned == total.completed
        });
        assert_eq!(
            runtime.metrics().pressure,
            0,
            "halves that ran at their joins"
        );
    }
}

/// A kept token that a fiber has entered and left no longer reports on that fiber, with or without
/// promoted jobs.
// Proves: O9-region.
#[test]
fn a_token_that_was_left_is_the_fibers_no_more() {
    for promotes in [false, true] {
        on_every_shape(|runtime| {
            let (tx, kept) = std::sync::mpsc::channel();
            let fiber = runtime.spawn(move || {
                if promotes {
                    let (tx, rx) = channel::bounded::<()>(0);
                    join(|| rx.recv(), || tx.send(())).0.unwrap();
                }
                let inside = Token::new().enter(Token::current);
                tx.send(inside).unwrap();
                while cancel::check().is_ok() {
                    yield_now();
                }
            });
            let inside = kept.recv().unwrap();
            fiber.cancel();
            fiber.join().unwrap();
            assert!(!inside.is_cancelled());
        });
    }
}
