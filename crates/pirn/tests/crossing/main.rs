//! Each primitive orders what fibers do before and after it by itself.
//!
//! Two fibers on two threads hand a plain value to each other. Under ThreadSanitizer a switch
//! between fibers of one thread counts as no order here, so the order must come from the primitive
//! that the two use, and not from another fiber that has met the other thread in between. Without
//! the sanitizer the values alone are checked. A wake orders, too: that is stated to the sanitizer,
//! and checked by models.
//!
//! A binary of its own: the scheduler's data appears racy, and is suppressed by the names of its
//! functions. A race on a [`Plain`] value is between two functions of `plain`, and is reported.
#![cfg(not(any(loom, shuttle)))]
#![allow(clippy::disallowed_methods, reason = "plain threads take part")]

#[expect(unsafe_code, reason = "values without an order of their own")]
mod plain;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use pirn::channel::{self, Receiver, Sender};
use pirn::runtime::Runtime;
use pirn::scope::TaskGroup;
use pirn::sync::{Barrier, Condvar, Event, Mutex, Once, RwLock, Semaphore, WaitGroup};
use pirn::{par, select};

use crate::plain::Plain;

/// Times that a value goes to the other fiber and back.
const ROUNDS: u64 = 200;

/// Returns a runtime with this number of workers. Under ThreadSanitizer, first makes switches order
/// nothing.
fn runtime(workers: usize) -> Runtime {
    #[cfg(pirn_tsan)]
    pirn::dev::order_no_switches();
    let builder = Runtime::builder().workers(workers);
    builder.build().expect("a runtime starts")
}

/// Runs each in a fiber of a runtime of its own, and so of a thread of its own.
fn apart(one: impl FnOnce() + Send, other: impl FnOnce() + Send) {
    let (first, second) = (runtime(1), runtime(1));
    first.scope(|first| {
        second.scope(|second| {
            first.spawn(one);
            second.spawn(other);
        });
    });
}

/// One fiber sets a value and gives, the other one takes and reads it; then the same back. `there`
/// and `back` are two primitives of the same kind. In the first half of the rounds the one that
/// takes mostly parks first. In the second half it comes late, and does not park.
fn hand<S: Sync>(there: &S, back: &S, give: fn(&S), take: fn(&S)) {
    meet(there, back, give, take, true);
}

/// As [`hand`] if `may_be_late`. If not, the one that takes never comes late: for a `give` that
/// waits for it.
fn meet<S: Sync>(there: &S, back: &S, give: fn(&S), take: fn(&S), may_be_late: bool) {
    let (value, given) = (Plain::default(), AtomicU64::new(0));
    let gives = |to: &S, n: u64| {
        value.set(n);
        give(to);
        // Relaxed, and in `takes`: it must not order the value.
        given.fetch_max(n, Ordering::Relaxed);
    };
    let takes = |from: &S, n: u64| {
        while may_be_late && n > ROUNDS && given.load(Ordering::Relaxed) < n {
            pirn::yield_now();
        }
        take(from);
        assert_eq!(value.get(), n);
    };
    let starts = || {
        for n in 0..ROUNDS {
            gives(there, 2 * n + 1);
            takes(back, 2 * n + 2);
        }
    };
    let follows = || {
        for n in 0..ROUNDS {
            takes(there, 2 * n + 1);
            gives(back, 2 * n + 2);
        }
    };
    apart(starts, follows);
}

type Ends = (Sender<()>, Receiver<()>);

fn over_channels(open: impl Fn() -> Ends, take: fn(&Ends)) {
    let may_be_late = open().0.capacity() != Some(0);
    let send = |ends: &Ends| ends.0.send(()).unwrap();
    meet(&open(), &open(), send, take, may_be_late);
}

#[test]
fn over_channels_of_any_capacity() {
    for capacity in [0, 1, 64] {
        over_channels(|| channel::bounded(capacity), |ends| ends.1.recv().unwrap());
    }
    over_channels(channel::unbounded, |ends| ends.1.recv().unwrap());
}

#[test]
fn over_selects() {
    for capacity in [0, 1] {
        over_channels(
            || channel::bounded(capacity),
            |ends| {
                let never: Receiver<()> = channel::never();
                select! {
                    recv(ends.1) -> it => it.unwrap(),
                    recv(never) -> _ => unreachable!("it is never ready"),
                }
            },
        );
    }
}

#[test]
fn over_a_polled_channel() {
    over_channels(
        || channel::bounded(1),
        |ends| {
            while ends.1.try_recv().is_err() {
                pirn::yield_now();
            }
        },
    );
}

#[test]
fn over_the_end_of_a_channel() {
    for n in 0..20 {
        let value = Plain::default();
        let (tx, rx) = channel::bounded::<()>(1);
        let closes = || {
            value.set(n);
            drop(tx);
        };
        apart(closes, || {
            assert!(rx.recv().is_err());
            assert_eq!(value.get(), n);
        });
    }
}

type Flag = (Mutex<bool>, Condvar);

fn raise(flag: &Flag) {
    *flag.0.lock() = true;
    flag.1.notify_one();
}

#[test]
fn over_a_condition_variable() {
    hand::<Flag>(&Flag::default(), &Flag::default(), raise, |flag| {
        *flag.1.wait_while(flag.0.lock(), |raised| !*raised) = false;
    });
}

#[test]
fn over_a_polled_mutex() {
    hand::<Flag>(&Flag::default(), &Flag::default(), raise, |flag| {
        while !std::mem::take(&mut *flag.0.lock()) {
            pirn::yield_now();
        }
    });
}

#[test]
fn over_a_polled_lock_of_readers() {
    let lock = || RwLock::new(false);
    hand(
        &lock(),
        &lock(),
        |flag| *flag.write() = true,
        |flag| {
            while !*flag.read() {
                pirn::yield_now();
            }
            *flag.write() = false;
        },
    );
}

#[test]
fn over_semaphores() {
    let empty = || Semaphore::new(0);
    hand(
        &empty(),
        &empty(),
        |it| it.add(1),
        |it| it.acquire(1).unwrap().forget(),
    );
}

#[test]
fn over_barriers() {
    let two = || Barrier::new(2);
    let wait = |it: &Barrier| _ = it.wait();
    meet(&two(), &two(), wait, wait, false);
}

#[test]
fn over_events() {
    hand(&Event::manual(), &Event::manual(), Event::set, |event| {
        event.wait().unwrap();
        event.reset();
    });
}

#[test]
fn over_wait_groups() {
    let one = || {
        let group = WaitGroup::new();
        group.add(1);
        group
    };
    hand(&one(), &one(), WaitGroup::done, |group| {
        group.wait().unwrap();
        group.add(1);
    });
}

#[test]
fn over_unparks() {
    let (value, seen) = (Plain::default(), AtomicU64::new(0));
    let raised = AtomicBool::new(false);
    runtime(1).scope(|s| {
        let parks = s.spawn(|| {
            for n in 1..=ROUNDS {
                // Relaxed: the order comes from the token of the unpark.
                pirn::park();
                while !raised.swap(false, Ordering::Relaxed) {
                    pirn::park();
                }
                assert_eq!(value.get(), n);
                seen.store(n, Ordering::Release);
            }
        });
        let fiber = parks.fiber().clone();
        for n in 1..=ROUNDS {
            value.set(n);
            raised.store(true, Ordering::Relaxed);
            fiber.unpark();
            while seen.load(Ordering::Acquire) < n {
                thread::yield_now();
            }
        }
    });
}

/// Runs `round` [`ROUNDS`] times: in four fibers on two workers, each time with a value of its own.
fn rounds(round: impl Fn(&Plain) + Sync) {
    runtime(2).scope(|s| {
        for _ in 0..4 {
            s.spawn(|| (0..ROUNDS / 4).for_each(|_| round(&Plain::default())));
        }
    });
}

#[test]
fn over_spawns_and_joins() {
    rounds(|value| {
        value.set(1);
        pirn::scope(|s| {
            let child = s.spawn(|| {
                assert_eq!(value.get(), 1);
                value.set(2);
            });
            child.join().unwrap();
            assert_eq!(value.get(), 2);
        });
    });
}

#[test]
fn over_the_ends_of_scopes() {
    rounds(|value| {
        let others = [const { Plain::new() }; 3];
        value.set(1);
        pirn::scope(|s| {
            for other in &others {
                s.spawn(|| other.set(value.get()));
            }
        });
        others.iter().for_each(|other| assert_eq!(other.get(), 1));
    });
}

#[test]
fn over_groups() {
    rounds(|_| {
        let value = Arc::new(Plain::default());
        value.set(3);
        let group = TaskGroup::new();
        let childs = Arc::clone(&value);
        let child = move || {
            assert_eq!(childs.get(), 3);
            childs.set(4);
        };
        group.spawn(child).unwrap();
        group.join_next().unwrap().unwrap().unwrap();
        assert_eq!(value.get(), 4);
    });
}

#[test]
fn over_joins_of_halves() {
    rounds(|value| {
        let other = Plain::default();
        let halves = |of: &Plain| (0..100).for_each(|n| of.set(of.get().max(n)));
        par::join(|| halves(value), || halves(&other));
        assert_eq!((value.get(), other.get()), (99, 99));
    });
}

#[test]
fn over_threads_for_blocking_calls() {
    rounds(|value| {
        value.set(5);
        pirn::blocking(|| value.set(value.get() + 1));
        assert_eq!(value.get(), 6);
    });
}

#[test]
fn over_first_calls() {
    rounds(|value| {
        let once = Once::new();
        let seen = || {
            once.call_once(|| value.set(7));
            assert_eq!(value.get(), 7);
        };
        pirn::scope(|s| {
            for _ in 0..3 {
                s.spawn(seen);
            }
        });
    });
}

/// A fiber sets a value, and another one of its thread meets a fiber of the other thread: that
/// orders nothing for the first one.
#[cfg(pirn_tsan)]
#[test]
#[ignore = "a seeded race: run by `cargo xtask tsan`"]
fn seeded_race_behind_another_fiber_of_the_thread() {
    let (value, done, met) = (Plain::default(), AtomicU64::new(0), AtomicU64::new(0));
    let until = |word: &AtomicU64, order| {
        while word.load(order) == 0 {
            pirn::yield_now();
        }
    };
    let two = || {
        pirn::scope(|s| {
            s.spawn(|| {
                until(&done, Ordering::Relaxed);
                met.store(1, Ordering::Release);
            });
            // Lets the other fiber start.
            pirn::yield_now();
            value.set(1);
            done.store(1, Ordering::Relaxed);
        });
    };
    apart(two, || {
        until(&met, Ordering::Acquire);
        assert_eq!(value.get(), 1);
    });
}
