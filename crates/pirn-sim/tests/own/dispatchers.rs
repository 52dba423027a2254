//! Dispatchers on the runtime of the campaign: bounds on fibers that are active, or that wait.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pirn::dispatcher::{Dispatcher, spawn_on};
use pirn::runtime::Handle;
use pirn::scope;
use pirn::spawn::JoinError;
use pirn::sync::Event;

use crate::{Log, check};

fn here() -> Dispatcher {
    Handle::current().dispatcher()
}

/// So many fibers are active at most, those that wait included, and they begin in order.
// Proves: U30-dispatchers.
#[test]
fn a_limit_holds_from_start_to_end() {
    check(|| {
        for limited in [here().limited(1), here().limited(1).limited(2)] {
            let (active, order) = (AtomicUsize::new(0), Log::new());
            scope(|s| {
                for n in 0..3 {
                    let (active, order) = (&active, &order);
                    let job = move || {
                        assert_eq!(active.fetch_add(1, Ordering::Relaxed), 0);
                        order.add(n);
                        pirn::yield_now();
                        active.fetch_sub(1, Ordering::Relaxed);
                    };
                    s.spawn_on(&limited, job);
                }
                // On the dispatcher itself it takes no second turn.
                limited.run(|| limited.run(|| order.add(3)));
            });
            assert_eq!(order.take(), [0, 1, 2, 3]);
        }
    });
}

/// A turn is given up by each end: of one that panics, and of one that is cancelled unrun.
// Proves: U30-dispatchers.
#[test]
fn a_turn_is_always_given_up() {
    check(|| {
        let limited = here().limited(1);
        let ran = Arc::new(AtomicUsize::new(0));
        let spawn = |fails: bool| {
            let ran = Arc::clone(&ran);
            spawn_on(&limited, move || {
                ran.fetch_add(1, Ordering::Relaxed);
                pirn_sim::point();
                assert!(!fails, "on purpose");
            })
        };
        let (panics, cancelled, last) = (spawn(true), spawn(false), spawn(false));
        cancelled.cancel();
        assert!(panics.join().is_err_and(|error| error.is_panic()));
        last.join().unwrap();
        let unrun = match cancelled.join() {
            Ok(()) => 0,
            Err(error) => usize::from(matches!(error, JoinError::NotRun)),
        };
        assert_eq!(ran.load(Ordering::Relaxed) + unrun, 3);
    });
}

/// A spawn that panics takes no turn, and gives none up.
// Proves: U30-dispatchers.
#[test]
fn a_spawn_that_panics_takes_no_turn() {
    struct Fragile;
    impl Clone for Fragile {
        fn clone(&self) -> Self {
            panic!("no copies")
        }
    }
    pirn::fiber_local! {
        static FRAGILE: Fragile = Fragile, inherit;
    }
    check(|| {
        let limited = here().limited(1);
        let active = AtomicUsize::new(0);
        scope(|s| {
            let panicking = s.spawn(|| {
                FRAGILE.with(|_| ());
                let raised = catch_unwind(AssertUnwindSafe(|| {
                    scope(|s| drop(s.spawn_on(&limited, || ())));
                }));
                assert!(raised.is_err());
            });
            for _ in 0..2 {
                s.spawn_on(&limited, || {
                    assert_eq!(active.fetch_add(1, Ordering::Relaxed), 0);
                    pirn::yield_now();
                    active.fetch_sub(1, Ordering::Relaxed);
                });
            }
            panicking.join().unwrap();
        });
    });
}

/// A bounded queue has as many fibers as it may, and each of them runs.
// Proves: U30-dispatchers.
#[test]
fn a_queue_has_as_many_as_it_may() {
    check(|| {
        let bounded = here().limited(1).queue_limit(1);
        let (spawned, begun) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let go = Event::manual();
        scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    for _ in 0..2 {
                        s.spawn_on(&bounded, || {
                            begun.fetch_add(1, Ordering::Relaxed);
                            go.wait().unwrap();
                        });
                        let spawned = spawned.fetch_add(1, Ordering::Relaxed) + 1;
                        assert!(spawned <= begun.load(Ordering::Relaxed) + 1);
                    }
                });
            }
            pirn_sim::point();
            go.set();
        });
        assert_eq!((spawned.into_inner(), begun.into_inner()), (4, 4));
    });
}
