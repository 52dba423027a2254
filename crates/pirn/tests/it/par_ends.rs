//! Joins, loops and sorts on a runtime that ends: started work runs to its end, with both halves,
//! and may wait for the other half as usual.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pirn::cancel::{check, shield};
use pirn::channel::bounded;
use pirn::par::join;
use pirn::sync::Event;
use pirn::{Runtime, yield_now};

use crate::par_games::end_amid;
use crate::util::{LONG, SCHEDULERS, SLACK, eventually, scaled, shaped};

/// First halves that wait for second ones, each in a way that no cancellation ends.
fn wait_for_second_halves(depth: usize) -> usize {
    let (tx, rx) = bounded(0);
    let told = Event::manual();
    let talk = || {
        join(
            || shield(|| rx.recv().unwrap()),
            || shield(|| tx.send(7).unwrap()),
        )
    };
    let (inner, ()) = join(
        || {
            shield(|| told.wait().unwrap());
            match depth {
                0 => 0,
                _ => wait_for_second_halves(depth - 1),
            }
        },
        || told.set(),
    );
    let (got, ()) = talk();
    inner + got
}

/// A fiber that reports its start, waits for `go` and joins.
fn begin(
    runtime: &Runtime,
    go: impl Fn() -> bool + Send + 'static,
) -> pirn::JoinHandle<usize> {
    let begun = Arc::new(AtomicBool::new(false));
    let says = Arc::clone(&begun);
    let fiber = runtime.spawn(move || {
        says.store(true, Ordering::SeqCst);
        while !go() {
            yield_now();
        }
        wait_for_second_halves(20)
    });
    eventually("it has begun", || begun.load(Ordering::SeqCst));
    fiber
}

/// Second halves become fibers of a runtime that admits no more fibers.
// Proves: O9-end.
#[test]
fn halves_wait_for_each_other_in_a_runtime_that_is_cancelled() {
    for scheduler in SCHEDULERS {
        for workers in [1, 2, 4] {
            for _ in 0..scaled(20) {
                let runtime = shaped(workers, scheduler);
                let handle = runtime.handle();
                let fibers: Vec<_> = (0..2 * workers)
                    .map(|_| begin(&runtime, || check().is_err()))
                    .collect();
                runtime.shutdown(LONG * SLACK).expect("all of them end");
                for fiber in fibers {
                    assert_eq!(fiber.join().unwrap(), 21 * 7);
                }
                let total = handle.metrics().total;
                assert_eq!(total.spawned, total.completed);
            }
        }
    }
}

/// The same after the runtime has given up on its fibers, and other workers have ended.
// Proves: O9-end.
#[test]
fn halves_wait_for_each_other_in_a_runtime_that_has_stopped() {
    for scheduler in SCHEDULERS {
        for workers in [1, 2, 4] {
            let runtime = shaped(workers, scheduler);
            let handle = runtime.handle();
            let go = Arc::new(AtomicBool::new(false));
            let fibers: Vec<_> = (0..2)
                .map(|_| {
                    let go = Arc::clone(&go);
                    begin(&runtime, move || go.load(Ordering::SeqCst))
                })
                .collect();
            let left = runtime.shutdown(Duration::from_millis(5)).unwrap_err();
            let total = handle.metrics().total;
            assert_eq!(total.spawned - total.completed, 2, "both are left");
            // A worker without a processor for 50 ms lists none of its fibers.
            let own: Vec<_> = fibers.iter().map(|fiber| fiber.fiber().id()).collect();
            assert!(left.fibers().iter().all(|left| own.contains(&left.id)));
            go.store(true, Ordering::SeqCst);
            for fiber in fibers {
                assert_eq!(fiber.join().unwrap(), 21 * 7);
            }
        }
    }
}

/// The same without an available stack.
// Proves: O9-end.
#[test]
fn halves_without_a_stack_in_a_runtime_that_is_cancelled() {
    for workers in [1, 2] {
        let builder = Runtime::builder().workers(workers).max_stacks(workers);
        let runtime = builder.build().unwrap();
        let begun = Arc::new(AtomicBool::new(false));
        let says = Arc::clone(&begun);
        let fiber = runtime.spawn(move || {
            says.store(true, Ordering::SeqCst);
            while check().is_ok() {
                yield_now();
            }
            let mut sum = 0;
            for n in 0..50 {
                let (first, second) = join(
                    || {
                        yield_now();
                        n
                    },
                    || 1,
                );
                sum += first + second;
            }
            sum
        });
        eventually("it has begun", || begun.load(Ordering::SeqCst));
        runtime.shutdown(LONG * SLACK).expect("it ends");
        assert_eq!(fiber.join().unwrap(), 49 * 25 + 50);
    }
}

/// A shutdown in the middle of joins, loops and sorts.
// Proves: O9-end.
#[test]
fn a_shutdown_amid_all_of_it() {
    for scheduler in SCHEDULERS {
        for workers in [1, 2, 4] {
            for seed in 0..scaled(12) {
                end_amid(workers, scheduler, seed);
            }
        }
    }
}
