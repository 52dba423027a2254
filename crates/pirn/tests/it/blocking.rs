//! Blocking calls, off the workers.

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pirn::blocking;
use pirn::time::now;

use crate::executor_kind::{EXECUTOR_KINDS, Jobs, alone, runtime};
use crate::util::{compute_until, on_every_shape, scaled};

/// The closure may borrow; its result is returned; it runs on a thread that is no worker.
#[test]
fn a_blocking_call_borrows_and_returns() {
    for executor in EXECUTOR_KINDS {
        let mut jobs = Jobs::new();
        for i in 0..8 {
            jobs.add(move || {
                let mut log = vec![i];
                let own = std::thread::current().id();
                let result = blocking(|| {
                    log.push(i + 1);
                    assert_ne!(std::thread::current().id(), own);
                    log.len()
                });
                assert_eq!((result, &log[..]), (2, &[i, i + 1][..]));
            });
        }
        jobs.run(executor, 2);
    }
}

/// A fiber that makes a blocking call leaves its worker to its siblings.
#[test]
fn siblings_run_meanwhile() {
    alone(|| {
        let ran = Arc::new(AtomicUsize::new(0));
        let flag = Arc::clone(&ran);
        let sibling = pirn::spawn(move || flag.store(1, Ordering::SeqCst));
        blocking(|| {
            compute_until("the sibling runs", || ran.load(Ordering::SeqCst) == 1);
        });
        sibling.join().unwrap();
    });
}

/// Blocking calls of many fibers run concurrently.
#[test]
fn many_blocking_calls_at_once() {
    const NAP: Duration = Duration::from_millis(50);
    alone(|| {
        let start = now();
        pirn::scope(|s| {
            for _ in 0..30 {
                s.spawn(|| blocking(|| std::thread::sleep(NAP)));
            }
        });
        assert!(now() - start < 15 * NAP);
    });
}

/// More calls than there are threads for wait their turn; none is lost.
#[test]
fn more_calls_than_threads_take_turns() {
    let n = scaled(2_000);
    on_every_shape(|runtime| {
        let ran = AtomicUsize::new(0);
        runtime.scope(|s| {
            for _ in 0..n / 8 {
                s.spawn(|| blocking(|| ran.fetch_add(1, Ordering::Relaxed)));
            }
        });
        assert_eq!(ran.into_inner(), n / 8);
    });
}

/// A panic propagates to the caller.
#[test]
fn a_panic_comes_back() {
    for executor in EXECUTOR_KINDS {
        let mut jobs = Jobs::new();
        for i in 0..4_u32 {
            jobs.add(move || {
                let raised = catch_unwind(AssertUnwindSafe(|| blocking(|| panic_any(i))));
                assert_eq!(raised.unwrap_err().downcast_ref(), Some(&i));
                assert_eq!(blocking(|| i), i);
            });
        }
        jobs.run(executor, 1);
    }
}

/// The closure may use pirn itself: spawn, join, wait, as on any thread.
#[test]
fn a_blocking_call_may_use_fibers() {
    let runtime = runtime(2);
    let handle = runtime.handle();
    let sum = runtime.run(|| {
        blocking(|| {
            let fibers: Vec<_> = (0..10).map(|i| handle.spawn(move || i)).collect();
            fibers
                .into_iter()
                .map(|fiber| fiber.join().unwrap())
                .sum::<i32>()
        })
    });
    assert_eq!(sum, 45);
}
