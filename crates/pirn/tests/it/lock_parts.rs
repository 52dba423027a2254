//! Guards of parts of locked values; results of notifications, permits, `Once` and `OnceLock`;
//! unwind safety.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pirn::cancel::Token;
use pirn::spawn::{Fiber, JoinHandle};
use pirn::sync::{
    Barrier, Condvar, Event, LazyLock, MappedMutexGuard, MappedRwLockReadGuard,
    MappedRwLockWriteGuard, Mutex, MutexGuard, Once, OnceLock, OwnedPermit, Permit,
    RwLock, RwLockReadGuard, RwLockWriteGuard, Semaphore, WaitGroup,
};

use crate::executor_kind::{EXECUTOR_KINDS, Jobs, alone, until};

const SHORT: Duration = Duration::from_millis(20);

/// The lock is held as long as the guard of the part exists, and no longer.
#[test]
fn a_guard_of_a_part_holds_the_whole_lock() {
    let mutex = Mutex::new((1, [2, 3]));
    let part = MutexGuard::map(mutex.lock(), |pair| &mut pair.1);
    let mut item = MappedMutexGuard::map(part, |items| &mut items[0]);
    *item += 10;
    assert!(mutex.is_locked() && mutex.try_lock().is_none());
    assert_eq!(format!("{item:?} {item}"), "12 12");
    drop(item);
    assert_eq!(*mutex.try_lock().expect("released"), (1, [12, 3]));

    let lock = RwLock::new((1, [2, 3]));
    let part = RwLockWriteGuard::map(lock.write(), |pair| &mut pair.1);
    let mut item = MappedRwLockWriteGuard::map(part, |items| &mut items[1]);
    *item += 10;
    assert!(lock.is_locked_exclusive() && lock.try_read().is_none());
    drop(item);
    let part = RwLockReadGuard::map(lock.read(), |pair| &pair.1);
    let item = MappedRwLockReadGuard::map(part, |items| &items[1]);
    assert!(!lock.is_locked_exclusive() && lock.is_locked());
    assert!(lock.try_read().is_some() && lock.try_write().is_none());
    assert_eq!(*item, 13);
    drop(item);
    assert!(lock.try_write().is_some());
}

/// A closure that finds nothing returns the guard, still locked; one that panics releases the lock.
#[test]
fn a_part_that_is_not_there_keeps_the_guard() {
    let mutex = Mutex::new(vec![1]);
    let none = MutexGuard::filter_map(mutex.lock(), |items| items.get_mut(1));
    let guard = none.expect_err("there is one item");
    assert!(mutex.try_lock().is_none());
    let first = MutexGuard::filter_map(guard, |items| items.first_mut());
    let first = first.expect("there is one");
    let same = MappedMutexGuard::filter_map(first, |_| None::<&mut u8>);
    assert_eq!(*same.expect_err("filtered out"), 1);
    let panics = || {
        drop(MutexGuard::map(mutex.lock(), |items| &mut items[9]));
    };
    assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
    assert!(mutex.try_lock().is_some());

    let lock = RwLock::new(BTreeMap::from([(1, "one")]));
    let none = RwLockReadGuard::filter_map(lock.read(), |map| map.get(&2));
    let guard = none.expect_err("no two");
    let one = RwLockReadGuard::filter_map(guard, |map| map.get(&1));
    assert_eq!(*one.expect("one"), "one");
    let none = RwLockWriteGuard::filter_map(lock.write(), |map| map.get_mut(&2));
    assert!(lock.try_read().is_none());
    drop(none);
    assert!(!lock.is_locked());
}

/// Parts are written under the same turns as the whole value.
#[test]
fn parts_are_written_one_at_a_time() {
    for executor in EXECUTOR_KINDS {
        let mutex = Mutex::new([0_u32; 2]);
        let mut jobs = Jobs::new();
        for part in [0, 1, 0, 1] {
            jobs.add({
                let mutex = &mutex;
                move || {
                    for _ in 0..200 {
                        let mut count =
                            MutexGuard::map(mutex.lock(), |counts| &mut counts[part]);
                        let seen = *count;
                        pirn::yield_now();
                        *count = seen + 1;
                    }
                }
            });
        }
        jobs.run(executor, 2);
        assert_eq!(mutex.into_inner(), [400, 400]);
    }
}

/// A read guard of a long-lived value is one of a short-lived value.
#[test]
fn read_guards_are_covariant() {
    fn shorter<'a>(
        guard: RwLockReadGuard<'a, &'static str>,
        _: &'a str,
    ) -> RwLockReadGuard<'a, &'a str> {
        guard
    }
    let (lock, local) = (RwLock::new("static"), String::from("local"));
    assert_eq!(*shorter(lock.read(), &local), "static");
}

#[test]
fn notifications_count_what_they_woke() {
    alone(|| {
        let (mutex, changed, waiting) =
            (Mutex::new(()), Condvar::new(), AtomicUsize::new(0));
        assert!(!changed.notify_one());
        assert_eq!(changed.notify_all(), 0);
        pirn::scope(|s| {
            for _ in 0..70 {
                s.spawn(|| {
                    let guard = mutex.lock();
                    waiting.fetch_add(1, Ordering::SeqCst);
                    drop(changed.wait(guard));
                });
            }
            until(&waiting, 70);
            drop(mutex.lock());
            assert!(changed.notify_one());
            assert_eq!(changed.notify_all(), 69);
            assert_eq!(changed.notify_all(), 0);
        });
    });
}

/// A second mutex is refused while the first one has waiters, and taken when it has none.
#[test]
fn a_condvar_refuses_a_second_mutex() {
    alone(|| {
        let (first, second) = (Mutex::new(false), Mutex::new(()));
        let (changed, waiting) = (Condvar::new(), AtomicUsize::new(0));
        pirn::scope(|s| {
            let waiter = s.spawn(|| {
                let guard = first.lock();
                waiting.fetch_add(1, Ordering::SeqCst);
                drop(changed.wait_while(guard, |set| !*set));
            });
            until(&waiting, 1);
            let waits = || drop(changed.wait_timeout(second.lock(), SHORT));
            let panic = catch_unwind(AssertUnwindSafe(waits)).expect_err("refused");
            let text = panic.downcast_ref::<&str>().expect("a message");
            assert!(text.contains("another `Mutex`"), "{text}");
            assert!(second.try_lock().is_some(), "the panic releases the mutex");
            *first.lock() = true;
            assert!(changed.notify_one());
            waiter.join().expect("no panic");
        });
        let (_, ended) = changed.wait_timeout(second.lock(), SHORT);
        assert!(ended.timed_out());
    });
}

#[test]
fn permits_are_split_merged_and_removed() {
    let doors = Arc::new(Semaphore::new(5));
    let mut permit = doors.try_acquire(3).expect("three of five");
    assert!(permit.split(4).is_none());
    let one = permit.split(1).expect("one of three");
    assert_eq!((permit.num_permits(), one.num_permits()), (2, 1));
    drop(one);
    assert_eq!(doors.available(), 3);
    permit.merge(doors.try_acquire(1).expect("one"));
    assert_eq!((permit.num_permits(), doors.available()), (3, 2));
    let other = Semaphore::new(1);
    let merge = || permit.merge(other.try_acquire(1).expect("one"));
    assert!(catch_unwind(AssertUnwindSafe(merge)).is_err());
    assert_eq!((permit.num_permits(), other.available()), (3, 1));
    drop(permit);

    let mut owned = doors.try_acquire_owned(4).expect("four of five");
    assert!(doors.try_acquire_owned(2).is_none());
    let part = owned.split(2).expect("two of four");
    drop(owned);
    assert_eq!(doors.available(), 3);
    assert_eq!(doors.forget_permits(10), 3);
    drop(part);
    assert_eq!(
        (doors.available(), Semaphore::default().available()),
        (2, 0)
    );
    // The total is two now: three permits more can be added than before.
    doors.add(isize::MAX.unsigned_abs() - 2);
}

/// Permits that a waiter has accumulated can be removed; it waits until there are enough again.
#[test]
fn removed_permits_are_missing_for_waiters() {
    alone(|| {
        let (doors, asked) = (Semaphore::new(2), AtomicUsize::new(0));
        pirn::scope(|s| {
            let waiter = s.spawn(|| {
                asked.fetch_add(1, Ordering::SeqCst);
                doors.acquire(3).map(|permit| permit.num_permits())
            });
            until(&asked, 1);
            assert_eq!(doors.forget_permits(1), 1);
            doors.add(1);
            pirn::yield_now();
            assert!(!waiter.is_finished());
            doors.add(1);
            assert_eq!(waiter.join().expect("no panic"), Ok(3));
        });
    });
}

#[test]
fn a_forced_call_sees_an_earlier_panic() {
    let once = Once::new();
    let mut poisoned = Vec::new();
    let panics = || once.call_once(|| panic!("the first"));
    assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
    once.call_once_force(|state| poisoned.push(state.is_poisoned()));
    once.call_once_force(|_| unreachable!("it has completed"));
    Once::new().call_once_force(|state| poisoned.push(state.is_poisoned()));
    assert_eq!(poisoned, [true, false]);
}

/// A closure that fails leaves the cell to the next caller, one that waits included.
#[test]
fn an_initializer_that_fails_leaves_the_cell_to_the_next() {
    for executor in EXECUTOR_KINDS {
        let (cell, calls) = (OnceLock::new(), AtomicUsize::new(0));
        let (failures, values) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let mut jobs = Jobs::new();
        for _ in 0..6 {
            jobs.add(|| {
                let made = cell.get_or_try_init(|| {
                    let call = calls.fetch_add(1, Ordering::SeqCst);
                    pirn::yield_now();
                    if call < 3 { Err(call) } else { Ok(call) }
                });
                match made {
                    Ok(value) => {
                        assert_eq!(*value, 3);
                        values.fetch_add(1, Ordering::SeqCst);
                    }
                    Err(call) => {
                        assert!(call < 3);
                        failures.fetch_add(1, Ordering::SeqCst);
                    }
                }
            });
        }
        jobs.run(executor, 2);
        let ended = (
            failures.into_inner(),
            values.into_inner(),
            calls.into_inner(),
        );
        assert_eq!(ended, (3, 3, 4));
    }
}

#[test]
fn a_lazy_value_can_be_forced_for_writing() {
    let mut lazy = LazyLock::new(|| vec![1]);
    LazyLock::force_mut(&mut lazy).push(2);
    LazyLock::force_mut(&mut lazy).push(3);
    assert_eq!(*lazy, [1, 2, 3]);
}

#[test]
fn a_default_event_stays_set_after_a_wait() {
    let event = Event::default();
    event.set();
    assert_eq!(event.wait(), Ok(()));
    assert_eq!(event.wait_timeout(Duration::ZERO), Ok(true));
}

/// Locks, their guards and handles are unwind safe, whatever they contain.
#[test]
fn locks_and_handles_are_unwind_safe() {
    type NotUnwindSafe = std::cell::Cell<&'static mut u8>;
    fn both<T: UnwindSafe + RefUnwindSafe + ?Sized>() {}
    fn moved<T: UnwindSafe>() {}
    both::<Mutex<NotUnwindSafe>>();
    both::<RwLock<NotUnwindSafe>>();
    both::<OnceLock<u8>>();
    both::<LazyLock<u8>>();
    both::<Condvar>();
    both::<Once>();
    both::<Barrier>();
    both::<Semaphore>();
    both::<Event>();
    both::<WaitGroup>();
    both::<Token>();
    both::<JoinHandle<NotUnwindSafe>>();
    both::<Fiber>();
    moved::<MutexGuard<'_, u8>>();
    moved::<RwLockReadGuard<'_, u8>>();
    moved::<RwLockWriteGuard<'_, u8>>();
    moved::<Permit<'_>>();
    moved::<OwnedPermit>();
}
