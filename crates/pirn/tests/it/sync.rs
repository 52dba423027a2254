//! Promises of mutexes, condition variables and wait groups.

use std::fmt::{self, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use pirn::Interrupt;
use pirn::sync::{Condvar, Event, Mutex, Semaphore, WaitGroup};
use pirn::time::now;

use crate::executor_kind::{EXECUTOR_KINDS, Jobs, alone, until};

const SHORT: Duration = Duration::from_millis(20);
const LONG: Duration = Duration::from_secs(60);

#[test]
fn a_mutex_lets_one_in_at_a_time() {
    for executor in EXECUTOR_KINDS {
        let mutex = Mutex::new(0);
        let inside = AtomicBool::new(false);
        let mut jobs = Jobs::new();
        for _ in 0..8 {
            jobs.add(|| {
                for _ in 0..200 {
                    let mut value = mutex.lock();
                    assert!(!inside.swap(true, Ordering::SeqCst));
                    pirn::yield_now();
                    *value += 1;
                    assert!(inside.swap(false, Ordering::SeqCst));
                }
            });
        }
        jobs.run(executor, 2);
        assert_eq!(mutex.into_inner(), 1_600);
    }
}

#[test]
fn a_mutex_is_a_constant_and_holds_unsized_values() {
    static TOTAL: Mutex<u32> = Mutex::new(1);
    *TOTAL.lock() += 1;
    assert_eq!(*TOTAL.lock(), 2);
    let mut words: Box<Mutex<[&str]>> = Box::new(Mutex::new(["a", "b"]));
    words.lock()[1] = "c";
    assert_eq!(words.get_mut(), ["a", "c"]);
    assert_eq!(*Mutex::<String>::default().lock(), "");
    assert_eq!(*Mutex::from(3).lock(), 3);
}

#[test]
fn what_shows_a_mutex_does_not_wait_for_it() {
    let mutex = Mutex::new(5);
    assert_eq!(format!("{mutex:?}"), "Mutex { value: 5 }");
    let guard = mutex.lock();
    assert_eq!(format!("{mutex:?}"), "Mutex { value: <locked> }");
    assert_eq!(format!("{guard:?} {guard}"), "5 5");
}

#[test]
fn locking_with_a_limit_gives_up_and_leaves_no_trace() {
    for executor in EXECUTOR_KINDS {
        let mutex = Mutex::new(());
        let (held, tried) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let mut jobs = Jobs::new();
        jobs.add(|| {
            let guard = mutex.lock();
            held.fetch_add(1, Ordering::SeqCst);
            until(&tried, 2);
            drop(guard);
            assert!(mutex.lock_timeout(LONG).is_some());
        });
        for _ in 0..2 {
            jobs.add(|| {
                until(&held, 1);
                assert!(mutex.try_lock().is_none());
                let start = now();
                assert!(mutex.lock_timeout(SHORT).is_none());
                assert!(now() - start >= SHORT);
                tried.fetch_add(1, Ordering::SeqCst);
            });
        }
        jobs.run(executor, 2);
        assert!(mutex.try_lock().is_some());
    }
}

// Proves: D-6.
#[test]
fn waiters_are_served_in_order_of_arrival() {
    alone(|| {
        let order = Mutex::new(Vec::new());
        let arrived = AtomicUsize::new(0);
        let guard = order.lock();
        pirn::scope(|s| {
            for _ in 0..50 {
                s.spawn(|| {
                    let place = arrived.fetch_add(1, Ordering::SeqCst);
                    order.lock().push(place);
                });
            }
            until(&arrived, 50);
            drop(guard);
        });
        assert!(order.into_inner().into_iter().eq(0..50));
    });
}

/// A waiter that has lost for half a millisecond is handed the lock at the next release. In virtual
/// time each round of the holder takes 200 µs: the waiter loses first at the end of round 1, and is
/// handed the lock at the end of round 5.
// Proves: D-6.
#[test]
fn a_waiter_that_keeps_losing_is_handed_the_lock() {
    pirn::runtime::test(|_| {
        let mutex = Mutex::new(());
        let served = AtomicUsize::new(0);
        pirn::scope(|s| {
            s.spawn(|| {
                // Holds the lock whenever another fiber runs, and releases it only to acquire it
                // again at once: without a hand-over no other fiber ever gets it.
                let mut rounds = 0;
                while served.load(Ordering::SeqCst) < 2 {
                    let guard = mutex.lock();
                    pirn::time::sleep(Duration::from_micros(200)).unwrap();
                    drop(guard);
                    rounds += 1;
                    assert!(rounds <= 8, "the others starve");
                }
            });
            for _ in 0..2 {
                s.spawn(|| {
                    let guard = mutex.lock();
                    served.fetch_add(1, Ordering::SeqCst);
                    drop(guard);
                });
            }
        });
    });
}

#[test]
fn a_holder_that_panics_frees_the_lock() {
    alone(|| {
        let mutex = Mutex::new(1);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let mut value = mutex.lock();
            *value = 2;
            panic!("on purpose");
        }));
        assert!(panicked.is_err());
        assert_eq!(*mutex.lock(), 2);
    });
}

#[test]
fn a_cancelled_fiber_still_locks_but_not_interruptibly() {
    alone(|| {
        let mutex = Mutex::new(());
        let arrived = AtomicUsize::new(0);
        let guard = mutex.lock();
        pirn::scope(|s| {
            let fiber = s.spawn(|| {
                arrived.fetch_add(1, Ordering::SeqCst);
                let interrupt = mutex.lock_interruptible().map(drop);
                assert_eq!(interrupt, Err(Interrupt::Cancelled));
                drop(mutex.lock());
                // Sticky, and reported before the lock that is free by now.
                assert!(mutex.lock_interruptible().is_err());
                assert!(mutex.lock_timeout(LONG).is_some());
            });
            until(&arrived, 1);
            fiber.cancel();
            drop(guard);
            fiber.join().unwrap();
        });
    });
}

#[test]
fn notify_one_wakes_one_and_the_longest_first() {
    alone(|| {
        let (woken, changed) = (Mutex::new(Vec::new()), Condvar::new());
        let waiting = AtomicUsize::new(0);
        changed.notify_one();
        pirn::scope(|s| {
            for place in 0..20 {
                let (woken, changed, waiting) = (&woken, &changed, &waiting);
                s.spawn(move || {
                    let guard = woken.lock();
                    waiting.fetch_add(1, Ordering::SeqCst);
                    changed.wait(guard).push(place);
                });
                until(waiting, place + 1);
            }
            for count in 1..=20 {
                changed.notify_one();
                for _ in 0..10 {
                    pirn::yield_now();
                }
                assert!(woken.lock().iter().copied().eq(0..count));
            }
        });
    });
}

#[test]
fn notify_all_wakes_all_that_wait_and_no_later_ones() {
    const WAITERS: usize = 100;
    for executor in EXECUTOR_KINDS {
        let (state, changed) = (Mutex::new((0, false)), Condvar::new());
        let mut jobs = Jobs::new();
        for _ in 0..WAITERS {
            jobs.add(|| {
                let mut guard = state.lock();
                guard.0 += 1;
                let guard = changed.wait_while(guard, |state| !state.1);
                assert!(guard.1);
            });
        }
        jobs.add(|| {
            while state.lock().0 < WAITERS {
                pirn::yield_now();
            }
            state.lock().1 = true;
            changed.notify_all();
        });
        jobs.run(executor, 2);
        let (guard, waited) = changed.wait_timeout(state.lock(), SHORT);
        assert!(waited.timed_out());
        drop(guard);
    }
}

#[test]
fn a_limited_wait_returns_how_it_ended_and_holds_the_lock() {
    for executor in EXECUTOR_KINDS {
        let (ready, changed) = (Mutex::new(false), Condvar::new());
        let first_ended = Event::manual();
        let mut jobs = Jobs::new();
        jobs.add(|| {
            let start = now();
            let (guard, waited) = changed.wait_timeout(ready.lock(), SHORT);
            assert!(waited.timed_out() && now() - start >= SHORT);
            assert!(ready.try_lock().is_none());
            drop(guard);
            first_ended.set();
            let (guard, waited) = changed.wait_timeout_while(ready.lock(), LONG, |r| !*r);
            assert!(*guard && !waited.timed_out());
            drop(guard);
            let (guard, waited) = changed.wait_timeout_while(ready.lock(), SHORT, |r| *r);
            assert!(*guard && waited.timed_out());
        });
        jobs.add(|| {
            first_ended.wait().unwrap();
            // The second wait has begun, in general.
            pirn::time::sleep(SHORT).unwrap();
            *ready.lock() = true;
            changed.notify_one();
        });
        jobs.run(executor, 2);
    }
}

#[test]
fn an_interrupted_wait_comes_back_with_the_lock() {
    alone(|| {
        let (mutex, changed) = (Mutex::new(()), Condvar::new());
        let waiting = AtomicUsize::new(0);
        pirn::scope(|s| {
            let fiber = s.spawn(|| {
                let guard = mutex.lock();
                waiting.fetch_add(1, Ordering::SeqCst);
                let (guard, interrupt) = changed.wait_interruptible(guard).unwrap_err();
                assert_eq!(interrupt, Interrupt::Cancelled);
                assert!(mutex.try_lock().is_none());
                // At once, without releasing the lock.
                assert!(changed.wait_interruptible(guard).is_err());
            });
            until(&waiting, 1);
            fiber.cancel();
            fiber.join().unwrap();
        });
        assert!(mutex.try_lock().is_some());
    });
}

#[test]
fn a_wait_group_waits_for_what_was_announced() {
    for executor in EXECUTOR_KINDS {
        let group = WaitGroup::new();
        let done = AtomicUsize::new(0);
        let mut jobs = Jobs::new();
        group.add(20);
        for _ in 0..20 {
            jobs.add(|| {
                done.fetch_add(1, Ordering::SeqCst);
                group.done();
            });
            jobs.add(|| {
                group.wait().unwrap();
                assert_eq!(done.load(Ordering::SeqCst), 20);
            });
        }
        jobs.run(executor, 2);
        // Over, and ready for another round.
        group.wait().unwrap();
        group.add(1);
        group.done();
        group.wait().unwrap();
    }
}

#[test]
fn a_wait_group_waits_for_its_other_handles() {
    for executor in EXECUTOR_KINDS {
        let group = WaitGroup::new();
        let done = AtomicUsize::new(0);
        let mut jobs = Jobs::new();
        for index in 0..20 {
            let member = group.clone();
            let done = &done;
            jobs.add(move || {
                done.fetch_add(1, Ordering::SeqCst);
                if index % 2 == 0 {
                    drop(member);
                } else {
                    member.wait().unwrap();
                    assert_eq!(done.load(Ordering::SeqCst), 20);
                }
            });
        }
        jobs.add(move || group.wait().unwrap());
        jobs.run(executor, 2);
    }
}

#[test]
fn done_without_add_panics_and_harms_no_waiter() {
    let group = WaitGroup::new();
    let member = group.clone();
    let done = catch_unwind(AssertUnwindSafe(|| group.done()));
    assert!(done.is_err());
    drop(member);
    group.wait().unwrap();
}

/// Two callers wait through one handle. The interrupt of one does not make the handle count again
/// while the other waits; it counts again when both are interrupted.
#[test]
fn a_handle_with_another_waiter_does_not_count_again() {
    for executor in EXECUTOR_KINDS {
        let group = WaitGroup::new();
        group.add(1);
        let late = AtomicUsize::new(0);
        let mut jobs = Jobs::new();
        jobs.add(|| {
            assert!(pirn::timeout(SHORT, || group.wait()).is_err());
            late.fetch_add(1, Ordering::SeqCst);
        });
        jobs.add(|| {
            // The other one comes first.
            pirn::sleep(SHORT / 4).unwrap();
            group.wait().unwrap();
        });
        jobs.add(|| {
            until(&late, 1);
            group.done();
        });
        jobs.run(executor, 2);
        // It has waited to the end, so it no longer counts.
        group.wait().unwrap();
    }
    let group = WaitGroup::new();
    group.add(1);
    pirn::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| assert!(pirn::timeout(SHORT, || group.wait()).is_err()));
        }
    });
    group.done();
    let other = group.clone();
    assert!(pirn::timeout(SHORT, || other.wait()).is_err());
    drop(group);
    assert_eq!(other.wait(), Ok(()));
}

/// A writer that uses the object which is written to it.
struct Asking<F>(F);

impl<F: Fn()> fmt::Write for Asking<F> {
    fn write_str(&mut self, _: &str) -> fmt::Result {
        (self.0)();
        Ok(())
    }
}

#[test]
fn an_object_is_usable_while_it_is_shown() {
    alone(|| {
        let (semaphore, event, group) =
            (Semaphore::new(1), Event::manual(), WaitGroup::new());
        let mut writer = Asking(|| assert_eq!(semaphore.available(), 1));
        write!(writer, "{semaphore:?}").unwrap();
        write!(Asking(|| event.set()), "{event:?}").unwrap();
        let mut writer = Asking(|| {
            group.add(1);
            group.done();
        });
        write!(writer, "{group:?}").unwrap();
        assert_eq!(
            format!("{semaphore:?} {event:?} {group:?}"),
            "Semaphore { available: 1, closed: false, .. } \
             Event { automatic: false, set: true, .. } \
             WaitGroup { announced: 0, members: 1, .. }"
        );
    });
}

#[test]
fn an_interrupted_handle_counts_again() {
    alone(|| {
        let group = WaitGroup::new();
        group.add(1);
        let (waiting, checked) = (AtomicUsize::new(0), AtomicUsize::new(0));
        pirn::scope(|s| {
            let member = group.clone();
            let fiber = s.spawn(|| {
                let member = member;
                waiting.fetch_add(1, Ordering::SeqCst);
                assert_eq!(member.wait(), Err(Interrupt::Cancelled));
                waiting.fetch_add(1, Ordering::SeqCst);
                until(&checked, 1);
                drop(member);
            });
            until(&waiting, 1);
            fiber.cancel();
            until(&waiting, 2);
            group.done();
            let waiter = s.spawn(|| group.wait().unwrap());
            for _ in 0..10 {
                pirn::yield_now();
            }
            let early = waiter.is_finished();
            checked.fetch_add(1, Ordering::SeqCst);
            assert!(!early, "the interrupted handle still counts");
        });
    });
}
