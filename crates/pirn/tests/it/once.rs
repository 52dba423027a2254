//! Promises of `Once`, `OnceLock` and `LazyLock`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use pirn::sync::{LazyLock, Once, OnceLock};

use crate::executor_kind::{EXECUTOR_KINDS, Jobs, alone, until};

/// Not atomic: every caller that returns sees the writes.
#[test]
fn it_is_done_once_for_all_callers() {
    for workers in [1, 2, 4, 8] {
        for executor in EXECUTOR_KINDS {
            let once = Once::new();
            let (ran, back) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let mut jobs = Jobs::new();
            for _ in 0..8 {
                jobs.add(|| {
                    once.call_once(|| {
                        pirn::yield_now();
                        assert_eq!(back.load(Ordering::Relaxed), 0);
                        ran.fetch_add(1, Ordering::Relaxed);
                    });
                    back.fetch_add(1, Ordering::Relaxed);
                    assert!(once.is_completed());
                    assert_eq!(ran.load(Ordering::Relaxed), 1);
                });
                jobs.add(|| {
                    once.wait();
                    assert!(once.is_completed());
                    assert_eq!(ran.load(Ordering::Relaxed), 1);
                });
            }
            jobs.run(executor, workers);
            once.wait();
        }
    }
}

/// Each waiter gets its attempt, one at a time; an observer waits for the successful one.
#[test]
fn a_panic_leaves_it_to_the_next() {
    for workers in [1, 2] {
        for executor in EXECUTOR_KINDS {
            let once = Once::new();
            let (attempts, inside) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let mut jobs = Jobs::new();
            for _ in 0..5 {
                jobs.add(|| {
                    let called = catch_unwind(AssertUnwindSafe(|| {
                        once.call_once(|| {
                            assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                            pirn::yield_now();
                            inside.fetch_sub(1, Ordering::SeqCst);
                            let attempt = attempts.fetch_add(1, Ordering::SeqCst);
                            assert!(attempt == 3, "on purpose");
                        });
                    }));
                    assert!(called.is_err() || once.is_completed());
                });
                jobs.add(|| {
                    once.wait();
                    assert_eq!(attempts.load(Ordering::SeqCst), 4);
                });
            }
            jobs.run(executor, workers);
            assert_eq!(attempts.into_inner(), 4);
        }
    }
}

#[test]
fn a_panic_without_waiters_leaves_it_undone() {
    let once = Once::default();
    let called =
        catch_unwind(AssertUnwindSafe(|| once.call_once(|| panic!("on purpose"))));
    assert!(called.is_err() && !once.is_completed());
    assert_eq!(format!("{once:?}"), "Once { completed: false, .. }");
    let mut ran = false;
    once.call_once(|| ran = true);
    assert!(ran && once.is_completed());
    once.call_once(|| unreachable!("done already"));
}

#[test]
fn a_cell_holds_the_first_value() {
    for workers in [1, 2, 4, 8] {
        for executor in EXECUTOR_KINDS {
            let cell = OnceLock::new();
            let made = AtomicUsize::new(0);
            let mut jobs = Jobs::new();
            for job in 0..8 {
                let (cell, made) = (&cell, &made);
                jobs.add(move || {
                    let value: &String = cell.get_or_init(|| {
                        pirn::yield_now();
                        made.fetch_add(1, Ordering::SeqCst);
                        job.to_string()
                    });
                    assert_eq!(cell.set("late".to_owned()), Err("late".to_owned()));
                    assert!(std::ptr::eq(value, cell.get().unwrap()));
                });
                jobs.add(move || assert!(cell.wait().parse::<usize>().unwrap() < 8));
            }
            jobs.run(executor, workers);
            assert_eq!(made.into_inner(), 1);
        }
    }
}

#[test]
fn a_cell_is_a_cell() {
    static CELL: OnceLock<u32> = OnceLock::new();
    assert_eq!(CELL.get(), None);
    assert_eq!(format!("{CELL:?}"), "OnceLock(<empty>)");
    assert_eq!(CELL.set(3), Ok(()));
    assert_eq!(CELL.set(4), Err(4));
    assert_eq!((CELL.get(), *CELL.wait()), (Some(&3), 3));
    assert_eq!(format!("{CELL:?}"), "OnceLock(3)");

    let mut cell = CELL.clone();
    assert_eq!(cell, OnceLock::from(3));
    *cell.get_mut().unwrap() += 1;
    assert_eq!(cell.take(), Some(4));
    assert!(cell.get().is_none() && cell.take().is_none());
    assert_eq!(cell, OnceLock::default());
    assert_eq!(*cell.get_or_init(|| 5), 5);
    assert_eq!(cell.into_inner(), Some(5));
}

#[test]
fn a_cell_with_a_maker_that_panics_stays_empty() {
    let cell = OnceLock::new();
    let made = catch_unwind(AssertUnwindSafe(|| {
        cell.get_or_init(|| panic!("on purpose"));
    }));
    assert!(made.is_err() && cell.get().is_none());
    assert_eq!(*cell.get_or_init(|| 1), 1);
}

#[test]
fn a_value_is_dropped_once_if_there_is_one() {
    let drops = crate::util::Drops::default();
    drop(OnceLock::<crate::util::Counted>::new());
    let cell = OnceLock::from(drops.one());
    assert!(cell.set(drops.one()).is_err());
    assert_eq!(drops.count(), 1);
    drop(cell);
    assert_eq!(drops.count(), 2);
    let lazy = LazyLock::new(|| drops.one());
    LazyLock::force(&lazy);
    drop(lazy);
    assert_eq!(drops.count(), 3);
}

#[test]
fn a_lazy_value_is_made_by_its_first_user() {
    static MADE: AtomicUsize = AtomicUsize::new(0);
    static LAZY: LazyLock<String> = LazyLock::new(|| {
        pirn::yield_now();
        format!("made {}", MADE.fetch_add(1, Ordering::SeqCst))
    });
    assert_eq!(format!("{LAZY:?}"), "LazyLock(<not made yet>)");
    for executor in EXECUTOR_KINDS {
        let mut jobs = Jobs::new();
        for _ in 0..8 {
            jobs.add(|| assert_eq!(LAZY.as_str(), "made 0"));
        }
        jobs.run(executor, 2);
    }
    assert_eq!(format!("{LAZY:?}"), "LazyLock(\"made 0\")");
    assert_eq!(*LazyLock::<u32>::default(), 0);
}

#[test]
fn a_lazy_value_that_cannot_be_made_panics_for_all() {
    for executor in EXECUTOR_KINDS {
        let attempts = AtomicUsize::new(0);
        let lazy: LazyLock<u32, _> = LazyLock::new(|| {
            pirn::yield_now();
            attempts.fetch_add(1, Ordering::SeqCst);
            panic!("on purpose")
        });
        let mut jobs = Jobs::new();
        for _ in 0..4 {
            jobs.add(|| {
                let asked = catch_unwind(AssertUnwindSafe(|| *lazy));
                assert!(asked.is_err());
            });
        }
        jobs.run(executor, 2);
        assert!(catch_unwind(AssertUnwindSafe(|| *lazy)).is_err());
        assert_eq!(attempts.load(Ordering::SeqCst), 1);
    }
}

/// Cancellation reaches the closure, not the call.
#[test]
fn a_cancelled_fiber_still_waits_for_the_value() {
    alone(|| {
        let cell = OnceLock::new();
        let arrived = AtomicUsize::new(0);
        pirn::scope(|s| {
            let fiber = s.spawn(|| {
                arrived.fetch_add(1, Ordering::SeqCst);
                assert_eq!(*cell.wait(), 7);
                assert_eq!(*cell.get_or_init(|| 8), 7);
            });
            until(&arrived, 1);
            fiber.cancel();
            pirn::yield_now();
            cell.set(7).unwrap();
            fiber.join().unwrap();
        });
    });
}
