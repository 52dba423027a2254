//! Semaphore and pool: as many permits as exist, in order of arrival, and none lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pirn::cancel::Token;
use pirn::sync::{AcquireError, Pool, Semaphore};
use pirn::{Interrupt, scope, time};

use crate::{Log, MOMENT, check};

/// Takes `count` into account while `f` runs; there are `most`.
fn using<R>(used: &AtomicUsize, count: usize, most: usize, f: impl FnOnce() -> R) -> R {
    let now = used.fetch_add(count, Ordering::Relaxed) + count;
    assert!(now <= most, "{now} of {most}");
    pirn_sim::point();
    let result = f();
    used.fetch_sub(count, Ordering::Relaxed);
    result
}

// Proves: U30-permits.
#[test]
fn no_more_permits_are_out_than_exist() {
    check(|| {
        let (permits, used) = (Semaphore::new(3), AtomicUsize::new(0));
        scope(|s| {
            for want in [1, 2, 3] {
                let (permits, used) = (&permits, &used);
                s.spawn(move || {
                    for _ in 0..2 {
                        let mut all = permits.acquire(want).unwrap();
                        using(used, want, 3, || ());
                        let part = all.split(1).unwrap();
                        drop(all);
                        using(used, 1, 3, || drop(part));
                    }
                });
            }
        });
        assert_eq!(permits.available(), 3);
    });
}

/// A large request is not overtaken by small ones that come later.
// Proves: U30-permits.
#[test]
fn permits_are_granted_in_order_of_arrival() {
    check(|| {
        let (permits, order) = (Semaphore::new(2), Log::new());
        scope(|s| {
            let held = permits.acquire(1).unwrap();
            let large = s.spawn(|| {
                let _all = permits.acquire(2).unwrap();
                order.add("large");
            });
            time::sleep(MOMENT).unwrap();
            // The large request waits now.
            s.spawn(|| {
                let _one = permits.acquire(1).unwrap();
                order.add("small");
            });
            assert!(permits.try_acquire(1).is_none());
            pirn_sim::point();
            drop(held);
            large.join().unwrap();
        });
        assert_eq!(order.take(), ["large", "small"]);
    });
}

/// A large request in front gives up: the small one behind it is served.
// Proves: U30-permits.
#[test]
fn a_request_that_gives_up_holds_up_no_other() {
    check(|| {
        let permits = Semaphore::new(2);
        let token = Token::new();
        scope(|s| {
            s.spawn(|| token.cancel());
            let held = permits.acquire(1).unwrap();
            let limited = s.spawn(|| {
                let all = permits.acquire_timeout(2, MOMENT).unwrap();
                all.map_or(0, |all| all.num_permits())
            });
            let cancelled = s.spawn(|| match token.enter(|| permits.acquire(2)) {
                Ok(all) => all.num_permits(),
                Err(error) => {
                    let expected = AcquireError::Interrupted(Interrupt::Cancelled);
                    assert_eq!(error, expected);
                    0
                }
            });
            // Waits for a permit although one is held all the time.
            s.spawn(|| permits.acquire(1).unwrap().num_permits())
                .join()
                .unwrap();
            drop(held);
            limited.join().unwrap();
            cancelled.join().unwrap();
        });
        assert_eq!(permits.available(), 2);
    });
}

/// Permits come at the moment at which the time of the first waiter is up: they go to the next
/// one only if they suffice for it.
// Proves: U30-permits.
#[test]
fn permits_for_one_that_gives_up_are_not_granted_to_another() {
    check(|| {
        let (permits, used) = (Semaphore::new(3), AtomicUsize::new(3));
        scope(|s| {
            let held = permits.acquire(3).unwrap();
            s.spawn(|| {
                let one = permits.acquire_timeout(1, MOMENT).unwrap();
                if let Some(_one) = one {
                    using(&used, 1, 3, || ());
                }
            });
            s.spawn(|| {
                let _all = permits.acquire(3).unwrap();
                using(&used, 3, 3, || ());
            });
            let mut held = held;
            time::sleep(MOMENT).unwrap();
            for _ in 0..3 {
                used.fetch_sub(1, Ordering::Relaxed);
                drop(held.split(1));
                pirn_sim::point();
            }
        });
        assert_eq!(permits.available(), 3);
    });
}

/// A close at any moment: each request is granted or refused, and permits that are out stay valid.
// Proves: U30-permits.
#[test]
fn a_closed_semaphore_refuses() {
    check(|| {
        let permits = Semaphore::new(1);
        scope(|s| {
            let ask = || {
                s.spawn(|| match permits.acquire(1) {
                    Ok(permit) => {
                        pirn_sim::point();
                        drop(permit);
                        true
                    }
                    Err(error) => {
                        assert_eq!(error, AcquireError::Closed);
                        assert!(permits.is_closed());
                        false
                    }
                })
            };
            let asked = [ask(), ask(), ask()];
            permits.close();
            assert!(permits.try_acquire(1).is_none());
            for asked in asked {
                asked.join().unwrap();
            }
        });
        assert_eq!(permits.available(), 1);
    });
}

/// Permits that are added, and removed.
// Proves: U30-permits.
#[test]
fn permits_are_added_and_removed() {
    check(|| {
        let permits = Arc::new(Semaphore::new(0));
        scope(|s| {
            for _ in 0..2 {
                let permits = Arc::clone(&permits);
                s.spawn(move || permits.acquire_owned(2).unwrap().forget());
            }
            (0..5).for_each(|_| permits.add(1));
        });
        assert_eq!((permits.available(), permits.forget_permits(3)), (1, 1));
    });
}

/// A pool has at most its number of values, and each has one user at a time.
// Proves: U30-permits.
#[test]
fn a_pool_lends_each_value_to_one() {
    check(|| {
        let made = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&made);
        let pool = Pool::new(2, move || {
            counted.fetch_add(1, Ordering::Relaxed);
            AtomicUsize::new(0)
        });
        let used = AtomicUsize::new(0);
        scope(|s| {
            for at in 0..3 {
                let (pool, used) = (&pool, &used);
                s.spawn(move || {
                    let value = pool.get().unwrap();
                    using(used, 1, 2, || using(&value, 1, 1, || ()));
                    if at == 0 {
                        value.discard();
                    }
                });
            }
        });
        let left = made.load(Ordering::Relaxed) - 1;
        assert!(left <= 2 && pool.idle() == left, "{left}");
    });
}
