//! A search without a bound leaves out only schedules that differ in the order of independent
//! operations: it finds the outcomes of the search of all schedules.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use pirn::channel;
use pirn::scope::TaskGroup;
use pirn::sim::atomic::AtomicU32;
use pirn::sync::{Condvar, Mutex, RwLock, Semaphore};
use pirn_sim::{Strategy, Verdict, campaign};

/// What the runs of a body have ended with.
type Outcomes = BTreeSet<String>;

/// Returns the number of schedules, and the outcomes. A run that waits indefinitely is to end with
/// an outcome, too: a search stops at the first failure. `whole`: the search makes all schedules.
fn search<R: ToString + 'static>(
    preemptions: u32,
    whole: bool,
    body: impl Fn() -> R + Copy + Send + Sync + 'static,
) -> (u64, Outcomes) {
    let seen = Arc::new(std::sync::Mutex::new(Outcomes::new()));
    let all = Arc::clone(&seen);
    let search = campaign().strategy(Strategy::Exhaustive { preemptions });
    let outcome = search.explore(move || {
        let result = body().to_string();
        all.lock().unwrap().insert(result);
    });
    assert!(outcome.failure.is_none(), "{:?}", outcome.failure);
    assert_eq!(outcome.complete, whole);
    let seen = seen.lock().unwrap().clone();
    (outcome.runs, seen)
}

/// Checks that a search without a bound finds all outcomes, in fewer schedules.
///
/// # Panics
/// If not.
fn compare<R: ToString + 'static>(body: impl Fn() -> R + Copy + Send + Sync + 'static) {
    let (all, fewer) = same_outcomes(true, body);
    assert!(fewer < all, "{fewer} of {all} schedules");
}

/// Checks that a search without a bound finds all outcomes; returns the number of schedules of the
/// whole search, and of that one.
///
/// # Panics
/// If not.
fn same_outcomes<R: ToString + 'static>(
    whole: bool,
    body: impl Fn() -> R + Copy + Send + Sync + 'static,
) -> (u64, u64) {
    let (all, expected) = search(u32::MAX - 1, whole, body);
    let (fewer, found) = search(u32::MAX, whole, body);
    println!("{all} schedules, {fewer} with sleep sets: {found:?}");
    assert_eq!(found, expected);
    (all, fewer)
}

// Proves: U12.
#[test]
fn two_locks_with_a_lost_update() {
    compare(|| {
        let values = Arc::new((Mutex::new(0), Mutex::new(0)));
        let add = |amount| {
            let values = Arc::clone(&values);
            pirn::spawn(move || {
                let before = *values.0.lock();
                *values.1.lock() += amount;
                *values.0.lock() = before + amount;
            })
        };
        let both = [add(1), add(2)];
        both.into_iter().for_each(|fiber| fiber.join().unwrap());
        format!("{} {}", *values.0.lock(), *values.1.lock())
    });
}

// Proves: U12.
#[test]
fn two_fibers_with_locks_of_their_own() {
    compare(|| {
        let fiber = || {
            pirn::spawn(|| {
                let own = Mutex::new(0);
                for _ in 0..4 {
                    *own.lock() += 1;
                }
                *own.lock()
            })
        };
        let both = [fiber(), fiber()];
        let sum: u32 = both.into_iter().map(|fiber| fiber.join().unwrap()).sum();
        sum
    });
}

/// Looks at ends, and results in the order of ends.
// Proves: U12.
#[test]
fn ends_that_are_looked_at() {
    same_outcomes(true, || {
        let value = Arc::new(AtomicU32::new(0));
        let group = TaskGroup::new();
        for n in 1..=2 {
            let value = Arc::clone(&value);
            assert!(
                group
                    .spawn(move || value.fetch_add(n, Ordering::SeqCst))
                    .is_ok()
            );
        }
        let seen = (value.load(Ordering::SeqCst), group.len());
        let next = || group.join_next().unwrap().unwrap().unwrap();
        format!("{seen:?} {} {}", next(), next())
    });
}

/// A lock that is held over operations on another object, and an attempt that may find it held.
// Proves: U12.
#[test]
fn an_attempt_beside_a_lock_that_is_held() {
    same_outcomes(true, || {
        let lock = Arc::new(Mutex::new(0));
        let (tx, rx) = channel::bounded(4);
        let other = Arc::clone(&lock);
        let holder = pirn::spawn(move || {
            let mut value = other.lock();
            tx.try_send(1).unwrap();
            *value = 1;
            tx.try_send(2).unwrap();
            drop(value);
            tx.try_send(3).unwrap();
        });
        let seen = lock.try_lock().map(|value| *value);
        let length = rx.len();
        holder.join().unwrap();
        format!("{seen:?} {length}")
    });
}

/// The same by a look at the lock.
// Proves: U12.
#[test]
fn a_look_at_a_lock_that_is_held() {
    same_outcomes(true, || {
        let lock = Arc::new(Mutex::new(()));
        let count = Arc::new(AtomicU32::new(0));
        let (other, counter) = (Arc::clone(&lock), Arc::clone(&count));
        let holder = pirn::spawn(move || {
            let held = other.lock();
            counter.fetch_add(1, Ordering::SeqCst);
            drop(held);
            counter.fetch_add(1, Ordering::SeqCst);
        });
        let seen = lock.is_locked();
        let counted = count.load(Ordering::SeqCst);
        let again = lock.is_locked();
        holder.join().unwrap();
        format!("{seen} {counted} {again}")
    });
}

/// The same with a limit of time that has passed.
// Proves: U12.
#[test]
fn an_attempt_with_a_limit() {
    same_outcomes(true, || {
        let lock = Arc::new(RwLock::new(0));
        let count = Arc::new(AtomicU32::new(0));
        let (other, counter) = (Arc::clone(&lock), Arc::clone(&count));
        let holder = pirn::spawn(move || {
            let mut value = other.write();
            counter.fetch_add(1, Ordering::SeqCst);
            *value = 1;
            drop(value);
            counter.fetch_add(1, Ordering::SeqCst);
        });
        let limit = std::time::Duration::ZERO;
        let seen = lock.read_timeout(limit).map(|value| *value);
        let seen = (seen, count.load(Ordering::SeqCst));
        holder.join().unwrap();
        format!("{seen:?}")
    });
}

// Proves: U12.
#[test]
fn two_channels_and_two_senders() {
    compare(|| {
        let (one, other) = (channel::bounded(2), channel::bounded(2));
        let send = |value| {
            let (one, other) = (one.0.clone(), other.0.clone());
            pirn::spawn(move || {
                one.send(value).unwrap();
                other.send(value).unwrap();
            })
        };
        let senders = [send('a'), send('b')];
        senders.into_iter().for_each(|fiber| fiber.join().unwrap());
        let mut order = String::new();
        for rx in [&one.1, &other.1] {
            order.extend([rx.recv().unwrap(), rx.recv().unwrap()]);
        }
        order
    });
}

// Proves: U12.
#[test]
fn readers_and_a_writer() {
    compare(|| {
        let lock = Arc::new(RwLock::new(0));
        let read = || {
            let lock = Arc::clone(&lock);
            pirn::spawn(move || {
                let first = *lock.read();
                (first, *lock.read())
            })
        };
        let readers = [read(), read()];
        *lock.write() += 1;
        let seen = readers.map(|fiber| fiber.join().unwrap());
        format!("{seen:?}")
    });
}

/// Waits, wakes and a notification that may come before the wait.
// Proves: U12.
#[test]
fn a_condition_and_a_counter() {
    compare(|| {
        let shared = Arc::new((Mutex::new(0), Condvar::new(), AtomicU32::new(0)));
        let other = Arc::clone(&shared);
        let waker = pirn::spawn(move || {
            other.2.fetch_add(1, Ordering::SeqCst);
            *other.0.lock() = 1;
            other.1.notify_one();
            other.2.fetch_add(1, Ordering::SeqCst);
        });
        let before = shared.2.load(Ordering::SeqCst);
        let value = *shared.1.wait_while(shared.0.lock(), |value| *value == 0);
        let after = shared.2.load(Ordering::SeqCst);
        waker.join().unwrap();
        format!("{before} {value} {after}")
    });
}

/// Atomics, as in mutual exclusion by two flags.
// Proves: U12.
#[test]
fn two_flags() {
    compare(|| {
        let flags: Arc<[AtomicU32; 2]> = Arc::default();
        let enter = |own: usize| {
            let flags = Arc::clone(&flags);
            pirn::spawn(move || {
                flags[own].store(1, Ordering::SeqCst);
                flags[1 - own].load(Ordering::SeqCst)
            })
        };
        let seen = [enter(0), enter(1)].map(|fiber| fiber.join().unwrap());
        assert_ne!(seen, [0, 0], "one has seen the other");
        format!("{seen:?}")
    });
}

/// A semaphore with permits that wake a fiber, a close, and the end of a channel.
// Proves: U12.
#[test]
fn permits_and_the_end_of_a_channel() {
    compare(|| {
        let permits = Arc::new(Semaphore::new(1));
        let (tx, rx) = channel::bounded(4);
        let other = Arc::clone(&permits);
        let worker = pirn::spawn(move || {
            let permit = other.acquire(1).unwrap();
            tx.try_send(1).unwrap();
            drop(permit);
        });
        let is_free = permits.try_acquire(1).is_some();
        let all: Vec<_> = std::iter::from_fn(|| rx.recv().ok()).collect();
        worker.join().unwrap();
        format!("{is_free} {all:?}")
    });
}

/// A panic that is caught: the operations of its destructors are no choices. The channel is
/// found closed between two stores only if the fiber unwinds between two loads.
// Proves: U12.
#[test]
fn operations_while_a_fiber_unwinds() {
    same_outcomes(false, || {
        let (tx, rx) = channel::bounded::<()>(1);
        let counts: Arc<[AtomicU32; 3]> = Arc::default();
        let counters = Arc::clone(&counts);
        let fiber = pirn::spawn(move || {
            counters[0].store(1, Ordering::SeqCst);
            let closing = Arc::clone(&counters);
            let closes = move || {
                let _closed = tx;
                closing[1].store(1, Ordering::SeqCst);
                panic!("to be caught");
            };
            let caught = catch_unwind(AssertUnwindSafe(closes));
            assert!(caught.is_err());
            counters[2].store(1, Ordering::SeqCst);
        });
        let counted = [0, 1].map(|at| counts[at].load(Ordering::SeqCst));
        let received = rx.try_recv();
        let last = counts[2].load(Ordering::SeqCst);
        fiber.join().unwrap();
        format!("{counted:?} {received:?} {last}")
    });
}

/// Failures are found as well.
// Proves: U12.
#[test]
fn verdicts_of_a_search_without_a_bound() {
    let search = |body: fn()| {
        let all = Strategy::Exhaustive {
            preemptions: u32::MAX,
        };
        campaign()
            .strategy(all)
            .find(body)
            .map(|failure| failure.verdict().clone())
    };
    let deadlock = search(|| {
        let locks = Arc::new((Mutex::new(()), Mutex::new(()), Mutex::new(())));
        let other = Arc::clone(&locks);
        let fiber = pirn::spawn(move || {
            drop(other.2.lock());
            let _first = other.1.lock();
            let _second = other.0.lock();
        });
        {
            let _first = locks.0.lock();
            let _second = locks.1.lock();
        }
        fiber.join().unwrap();
    });
    assert!(
        matches!(deadlock, Some(Verdict::Deadlock(_))),
        "{deadlock:?}"
    );
    let panicked = search(|| {
        let (value, own) = (Arc::new(AtomicU32::new(0)), Mutex::new(0));
        let other = Arc::clone(&value);
        let fiber = pirn::spawn(move || {
            let before = other.load(Ordering::SeqCst);
            other.store(before + 1, Ordering::SeqCst);
        });
        let before = value.load(Ordering::SeqCst);
        *own.lock() += 1;
        value.store(before + 1, Ordering::SeqCst);
        fiber.join().unwrap();
        assert_eq!(value.load(Ordering::SeqCst), 2);
    });
    assert!(matches!(panicked, Some(Verdict::Panic(_))), "{panicked:?}");
}

/// A search of a body that depends on more than the schedule does not claim to be complete.
// Proves: U12.
#[test]
fn a_search_of_a_body_with_a_static_is_not_complete() {
    use std::sync::atomic::AtomicU32 as Static;
    static RUNS: Static = Static::new(0);
    let search = campaign().strategy(Strategy::Exhaustive {
        preemptions: u32::MAX,
    });
    let outcome = search.runs(1_000).explore(|| {
        let fibers = RUNS.fetch_add(1, Ordering::Relaxed) % 2 + 1;
        let lock = Arc::new(Mutex::new(0));
        let all: Vec<_> = (0..fibers)
            .map(|_| {
                let lock = Arc::clone(&lock);
                pirn::spawn(move || *lock.lock() += 1)
            })
            .collect();
        all.into_iter().for_each(|fiber| fiber.join().unwrap());
    });
    assert!(outcome.failure.is_none(), "{:?}", outcome.failure);
    assert!(!outcome.complete, "all schedules of {} runs", outcome.runs);
}

/// A search of a body in which other threads wake fibers, or fibers have operations in one poll,
/// does not claim to be complete: there are schedules that it cannot make.
// Proves: U12.
#[test]
fn a_search_that_cannot_make_all_schedules_is_not_complete() {
    let bodies: [(&str, fn()); 2] = [
        ("another thread", || {
            let woken = pirn::spawn(|| pirn::blocking(|| ()));
            drop(Mutex::new(()).lock());
            woken.join().unwrap();
        }),
        ("a poll", || {
            let value = Arc::new(AtomicU32::new(0));
            let increment = |value: Arc<AtomicU32>| {
                pirn::spawn(move || {
                    pirn::future::block_on(async move {
                        let before = value.load(Ordering::SeqCst);
                        value.store(before + 1, Ordering::SeqCst);
                    });
                })
            };
            let both = [increment(Arc::clone(&value)), increment(value)];
            both.into_iter().for_each(|fiber| fiber.join().unwrap());
        }),
    ];
    for (name, body) in bodies {
        for preemptions in [2, u32::MAX] {
            let search = campaign().strategy(Strategy::Exhaustive { preemptions });
            let outcome = search.explore(body);
            assert!(outcome.failure.is_none(), "{name}: {:?}", outcome.failure);
            assert!(!outcome.complete, "{name}: {} runs", outcome.runs);
        }
    }
}

/// Numbers that stand for no bound elsewhere take no memory.
// Proves: U2.
#[test]
fn strategies_with_any_number_begin() {
    for strategy in [
        Strategy::Delays { most: u32::MAX },
        Strategy::Pct { depth: u32::MAX },
        Strategy::Pct { depth: 0 },
    ] {
        let outcome = campaign().strategy(strategy).runs(3).explore(|| ());
        assert_eq!((outcome.runs, outcome.failure.is_none()), (3, true));
    }
}

/// Priorities are lowered in either order: of two fibers that are put off, the one that was put off
/// last may continue first. Only so does this order arise, since the first one has no operation
/// between its send and its note.
// Proves: U3.
#[test]
fn fibers_that_are_put_off_continue_in_either_order() {
    let strategy = Strategy::Pct { depth: 3 };
    let campaign = campaign().seed(1).runs(40_000).strategy(strategy);
    let failure = campaign.for_real(std::time::Duration::MAX).find(|| {
        let notes = Arc::new(std::sync::Mutex::new(String::new()));
        let (tx, rx) = channel::bounded(1);
        let noting = || {
            let notes = Arc::clone(&notes);
            move |note| {
                pirn_sim::point();
                notes.lock().unwrap().push(note);
            }
        };
        let note = noting();
        let first = pirn::spawn(move || {
            tx.send(()).unwrap();
            note('1');
        });
        let note = noting();
        let second = pirn::spawn(move || {
            rx.recv().unwrap();
            note('2');
            note('4');
        });
        let note = noting();
        let third = pirn::spawn(move || note('3'));
        for fiber in [first, second, third] {
            fiber.join().unwrap();
        }
        assert_ne!(*notes.lock().unwrap(), "2341");
    });
    assert!(matches!(failure.unwrap().verdict(), Verdict::Panic(_)));
}
