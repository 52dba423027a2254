//! Promises of an object pool.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pirn::sync::Pool;

use crate::executor_kind::{EXECUTOR_KINDS, Jobs};

// Proves: I18.
#[test]
fn never_more_things_than_places() {
    for executor in EXECUTOR_KINDS {
        let (made, out) = (Arc::new(AtomicUsize::new(0)), AtomicUsize::new(0));
        let counter = Arc::clone(&made);
        let pool = Pool::new(3, move || counter.fetch_add(1, Ordering::SeqCst));
        let mut jobs = Jobs::new();
        for _ in 0..8 {
            jobs.add(|| {
                for _ in 0..500 {
                    let thing = pool.get().unwrap();
                    assert!(out.fetch_add(1, Ordering::SeqCst) < 3);
                    pirn::yield_now();
                    out.fetch_sub(1, Ordering::SeqCst);
                    drop(thing);
                }
            });
        }
        jobs.run(executor, 2);
        let made = made.load(Ordering::SeqCst);
        assert!((1..=3).contains(&made), "{made} made");
        assert_eq!(pool.idle(), made);
    }
}

// Proves: I18.
#[test]
fn a_failed_maker_and_a_discarded_thing_leave_room() {
    let tries = AtomicUsize::new(0);
    let pool = Pool::new(1, move || {
        assert!(tries.fetch_add(1, Ordering::SeqCst) > 0, "planned");
        7
    });
    let first =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(pool.get())));
    assert!(first.is_err());
    let thing = pool.try_get().expect("there is room");
    assert!(pool.try_get().is_none());
    assert_eq!((thing.discard(), pool.idle()), (7, 0));
    assert_eq!(*pool.get().unwrap(), 7);
    assert_eq!(pool.idle(), 1);
}

// Proves: I18.
#[test]
fn what_comes_back_is_reset() {
    let pool = Pool::new(1, Vec::new).reset(|things: &mut Vec<u8>| {
        assert!(things.len() < 3, "planned");
        things.clear();
    });
    pool.get().unwrap().push(1);
    assert!(pool.get().unwrap().is_empty());
    let full = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        pool.get().unwrap().extend([1, 2, 3]);
    }));
    assert!(full.is_err());
    assert_eq!(pool.idle(), 0);
    assert!(pool.get().unwrap().is_empty());
}
