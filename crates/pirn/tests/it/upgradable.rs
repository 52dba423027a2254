//! Readers with the right to upgrade.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use pirn::sync::{Mutex, RwLock, RwLockUpgradableReadGuard as Upgradable};

use crate::executor_kind::{EXECUTOR_KINDS, Jobs, alone, until};

#[test]
fn one_party_may_upgrade_beside_readers() {
    let lock = RwLock::new(1);
    let reader = lock.read();
    let first = lock.upgradable_read();
    assert_eq!((*first, *lock.read()), (1, 1));
    assert!(lock.try_upgradable_read().is_none() && lock.try_write().is_none());
    let first = Upgradable::try_upgrade(first).expect_err("there is a reader");
    let first = Upgradable::downgrade(first);
    let second = lock.try_upgradable_read().expect("the right is free");
    drop((reader, first));
    let mut writer = Upgradable::try_upgrade(second).expect("no reader is left");
    *writer += 1;
    assert!(lock.try_read().is_none() && lock.try_upgradable_read().is_none());
    drop(writer);
    assert_eq!(*lock.try_write().expect("the lock is free"), 2);
}

/// Readers that hold the lock finish first. Later readers, and writers that already wait, come
/// after the upgrade.
#[test]
fn an_upgrade_comes_after_present_readers_and_before_all_others() {
    alone(|| {
        let lock = RwLock::new(());
        let (order, arrived) = (Mutex::new(String::new()), AtomicUsize::new(0));
        pirn::scope(|s| {
            let (lock, order, arrived) = (&lock, &order, &arrived);
            s.spawn(move || {
                let _guard = lock.read();
                arrived.fetch_add(1, Ordering::SeqCst);
                until(arrived, 6);
                order.lock().push('l');
            });
            until(arrived, 1);
            let upgradable = lock.upgradable_read();
            s.spawn(move || {
                arrived.fetch_add(1, Ordering::SeqCst);
                let _guard = lock.write();
                order.lock().push('w');
            });
            until(arrived, 2);
            s.spawn(move || {
                arrived.fetch_add(1, Ordering::SeqCst);
                let _guard = lock.upgradable_read();
                order.lock().push('n');
            });
            until(arrived, 3);
            s.spawn(move || {
                until(arrived, 5);
                assert!(
                    lock.try_read().is_none(),
                    "a reader joins before the upgrade"
                );
                arrived.fetch_add(1, Ordering::SeqCst);
                let _guard = lock.read();
                order.lock().push('r');
            });
            arrived.fetch_add(2, Ordering::SeqCst);
            let guard = Upgradable::upgrade(upgradable);
            pirn::yield_now();
            order.lock().push('u');
            drop(guard);
        });
        // The later reader and the next upgradable reader are served together, in either order.
        let order = order.into_inner();
        assert!(["luwrn", "luwnr"].contains(&&*order), "{order}");
    });
}

/// A party that waits for its upgrade keeps later readers out, also where no writer waits.
#[test]
fn no_reader_joins_while_an_upgrade_waits() {
    alone(|| {
        let (lock, steps) = (RwLock::new(0), AtomicUsize::new(0));
        pirn::scope(|s| {
            s.spawn(|| {
                let _guard = lock.read();
                steps.fetch_add(1, Ordering::SeqCst);
                until(&steps, 3);
            });
            until(&steps, 1);
            s.spawn(|| {
                let guard = lock.upgradable_read();
                steps.fetch_add(1, Ordering::SeqCst);
                *Upgradable::upgrade(guard) += 1;
            });
            until(&steps, 2);
            assert!(lock.try_read().is_none(), "a reader joins");
            assert!(lock.try_upgradable_read().is_none());
            steps.fetch_add(1, Ordering::SeqCst);
            assert_eq!(*lock.read(), 1);
        });
    });
}

#[test]
fn a_value_read_before_an_upgrade_is_unchanged() {
    for workers in [1, 2, 4] {
        for executor in EXECUTOR_KINDS {
            let lock = RwLock::new(0_usize);
            let mut jobs = Jobs::new();
            for party in 0..4 {
                jobs.add({
                    let lock = &lock;
                    move || {
                        for round in 0..100 {
                            let guard = lock.upgradable_read();
                            let seen = *guard;
                            pirn::yield_now();
                            let mut guard = match Upgradable::try_upgrade(guard) {
                                Ok(guard) => guard,
                                Err(guard) if (round + party) % 3 == 0 => {
                                    drop(Upgradable::downgrade(guard));
                                    *lock.write() += 1;
                                    continue;
                                }
                                Err(guard) => Upgradable::upgrade(guard),
                            };
                            assert_eq!(*guard, seen, "written between look and upgrade");
                            *guard += 1;
                        }
                    }
                });
            }
            for _ in 0..2 {
                jobs.add(|| {
                    for _ in 0..200 {
                        let guard = lock.read();
                        let seen = *guard;
                        pirn::yield_now();
                        assert_eq!(*guard, seen, "written beside a reader");
                    }
                });
            }
            jobs.add(|| (0..50).for_each(|_| *lock.write() += 1));
            jobs.run(executor, workers);
            assert_eq!(lock.into_inner(), 4 * 100 + 50);
        }
    }
}

/// Two parties upgrade one after the other; the second one waits for the first one's write.
#[test]
fn two_upgrades_do_not_deadlock() {
    for executor in EXECUTOR_KINDS {
        let (lock, asked) = (RwLock::new(0), AtomicUsize::new(0));
        let mut jobs = Jobs::new();
        for _ in 0..2 {
            jobs.add(|| {
                asked.fetch_add(1, Ordering::SeqCst);
                until(&asked, 2);
                let guard = lock.upgradable_read();
                pirn::yield_now();
                *Upgradable::upgrade(guard) += 1;
            });
        }
        jobs.run(executor, 2);
        assert_eq!(lock.into_inner(), 2);
    }
}

#[test]
fn a_panic_releases_the_lock_and_the_right_to_upgrade() {
    let lock = RwLock::new(1);
    let panics: [fn(&RwLock<i32>); 2] = [
        |lock| {
            let _guard = lock.upgradable_read();
            panic!("while reading");
        },
        |lock| {
            let _guard = Upgradable::upgrade(lock.upgradable_read());
            panic!("while writing");
        },
    ];
    for panic in panics {
        assert!(catch_unwind(AssertUnwindSafe(|| panic(&lock))).is_err());
        let guard = lock.try_upgradable_read().expect("free again");
        assert!(Upgradable::try_upgrade(guard).is_ok());
    }
}
