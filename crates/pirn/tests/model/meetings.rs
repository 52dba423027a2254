//! One-time initialization, barriers, events, and waiting on a key.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use pirn::sync::{Barrier, Event, Once, OnceLock};
use pirn::wait::{park_on, unpark_all, unpark_one};
use pirn::yield_now;

use crate::util::{explore, explore_in_time, explore_with, thread};

#[test]
fn once_for_many() {
    explore_with(&[1, 2], |world| {
        let runtime = world.runtime();
        let cell = Arc::new((OnceLock::new(), AtomicU32::new(0)));
        let ask = |i: u32| {
            let cell = Arc::clone(&cell);
            move || {
                let value = *cell.0.get_or_init(|| {
                    yield_now();
                    cell.1.fetch_add(1, Ordering::Relaxed);
                    i
                });
                assert_eq!(cell.0.get(), Some(&value));
            }
        };
        let watcher = {
            let cell = Arc::clone(&cell);
            runtime.spawn(move || assert!(*cell.0.wait() < 4))
        };
        let inside = [0, 1, 2].map(|i| runtime.spawn(ask(i)));
        let outside = thread(ask(3));
        inside
            .into_iter()
            .for_each(|fiber| fiber.join().expect("it has the value"));
        outside.join().expect("it has the value");
        watcher.join().expect("it has the value");
        assert_eq!(cell.1.load(Ordering::Relaxed), 1);
    });
}

/// The first attempt panics, on any thread; the others continue, and one succeeds.
#[test]
fn once_after_a_panic() {
    explore_with(&[1, 2], |world| {
        let runtime = world.runtime();
        let once = Arc::new((Once::new(), AtomicU32::new(0)));
        let call = || {
            let once = Arc::clone(&once);
            move || {
                let call = AssertUnwindSafe(|| {
                    once.0.call_once(|| {
                        yield_now();
                        let attempt = once.1.fetch_add(1, Ordering::Relaxed);
                        if attempt == 0 {
                            // Raised without the hook: nothing is printed.
                            std::panic::resume_unwind(Box::new(()));
                        }
                    });
                });
                catch_unwind(call).is_err()
            }
        };
        let watcher = {
            let once = Arc::clone(&once);
            runtime.spawn(move || {
                once.0.wait();
                assert_eq!(once.1.load(Ordering::Relaxed), 2);
            })
        };
        let callers = [0, 1, 2].map(|_| runtime.spawn(call()));
        let panicked = callers
            .into_iter()
            .map(|fiber| fiber.join().expect("it comes back"))
            .filter(|panicked| *panicked)
            .count();
        assert_eq!(panicked, 1);
        watcher.join().expect("it has seen the end");
    });
}

#[test]
fn a_barrier_of_three() {
    explore_with(&[1, 2], |world| {
        const ROUNDS: u32 = 2;
        let runtime = world.runtime();
        let barrier = Arc::new((Barrier::new(3), AtomicU32::new(0)));
        let party = || {
            let barrier = Arc::clone(&barrier);
            move || {
                let mut led = 0;
                for round in 1..=ROUNDS {
                    barrier.1.fetch_add(1, Ordering::Relaxed);
                    led += u32::from(barrier.0.wait().is_leader());
                    assert!(barrier.1.load(Ordering::Relaxed) >= 3 * round);
                }
                led
            }
        };
        let inside = [0, 1].map(|_| runtime.spawn(party()));
        let outside = thread(party());
        let led: u32 = inside
            .into_iter()
            .map(|f| f.join().expect("it passes"))
            .sum();
        assert_eq!(led + outside.join().expect("it passes"), ROUNDS);
    });
}

/// Two waits, two sets: each wait consumes one set, also if the second set happens before the first
/// wait.
// Proves: G9.
#[test]
fn an_automatic_event() {
    explore_with(&[1, 2], |world| {
        let runtime = world.runtime();
        let there = Arc::new(Event::auto());
        let back = Arc::new(Event::auto());
        let other = {
            let (there, back) = (Arc::clone(&there), Arc::clone(&back));
            runtime.spawn(move || {
                for _ in 0..2 {
                    there.wait().expect("not cancelled");
                    back.set();
                }
            })
        };
        for _ in 0..2 {
            there.set();
            back.wait().expect("not cancelled");
        }
        other.join().expect("it ends");
    });
}

/// A set coincides with the end of a wait: that wait or the next one consumes it.
#[test]
fn an_automatic_event_in_time() {
    explore_in_time(|world| {
        let runtime = world.runtime();
        let event = Arc::new(Event::auto());
        let waits = [0, 1].map(|_| {
            let event = Arc::clone(&event);
            let soon = Duration::from_micros(100);
            runtime.spawn(move || event.wait_timeout(soon).expect("not cancelled"))
        });
        event.set();
        let had = waits.map(|fiber| fiber.join().expect("it ends"));
        let left = event.wait_timeout(Duration::ZERO).expect("not cancelled");
        let all = [had[0], had[1], left];
        assert_eq!(all.into_iter().filter(|had| *had).count(), 1);
    });
}

#[test]
fn a_manual_event_reset_at_once() {
    explore(|world| {
        let runtime = world.runtime();
        let event = Arc::new((Event::manual(), AtomicBool::new(false)));
        let waits = [0, 1].map(|_| {
            let event = Arc::clone(&event);
            runtime.spawn(move || {
                event.0.wait().expect("not cancelled");
                assert!(event.1.load(Ordering::Relaxed));
            })
        });
        event.1.store(true, Ordering::Relaxed);
        event.0.set();
        event.0.reset();
        // For the waiters that had not arrived by then.
        event.0.set();
        for fiber in waits {
            fiber.join().expect("it passes");
        }
    });
}

/// A waiter is released, resets, and waits again while the first set is still waking: that wait
/// needs the second set.
#[test]
fn a_manual_event_leaves_later_ones_alone() {
    explore(|world| {
        let runtime = world.runtime();
        let event = Arc::new((Event::manual(), AtomicBool::new(false)));
        let reset = Arc::new(Event::auto());
        let twice = {
            let (event, reset) = (Arc::clone(&event), Arc::clone(&reset));
            runtime.spawn(move || {
                event.0.wait().expect("not cancelled");
                event.0.reset();
                reset.set();
                event.0.wait().expect("not cancelled");
                assert!(event.1.load(Ordering::Relaxed), "woken by the first set");
            })
        };
        let setter = {
            let event = Arc::clone(&event);
            runtime.spawn(move || {
                event.0.set();
                reset.wait().expect("not cancelled");
                event.1.store(true, Ordering::Relaxed);
                event.0.set();
            })
        };
        setter.join().expect("it sets");
        twice.join().expect("it passes twice");
    });
}

/// A gate of one word: a fiber that checks it before it opens is registered when all are woken.
// Proves: G8.
#[test]
fn a_gate_on_a_key() {
    explore_with(&[1, 2], |world| {
        let runtime = world.runtime();
        let open = Arc::new(AtomicBool::new(false));
        let key = Arc::as_ptr(&open) as usize;
        let pass = |open: &Arc<AtomicBool>| {
            let open = Arc::clone(open);
            move || {
                while !open.load(Ordering::Relaxed) {
                    yield_now();
                    park_on(key, || !open.load(Ordering::Relaxed))
                        .expect("not cancelled");
                }
            }
        };
        let inside = [0, 1].map(|_| runtime.spawn(pass(&open)));
        let outside = thread(pass(&open));
        let opener = runtime.spawn(move || {
            open.store(true, Ordering::Relaxed);
            unpark_all(key)
        });
        assert!(opener.join().expect("it opens") <= 3);
        for fiber in inside {
            fiber.join().expect("it passes");
        }
        outside.join().expect("it passes");
        assert_eq!(unpark_all(key), 0, "a waiter was left");
    });
}

/// A mutex of one word. One of two waiters is cancelled: no wake is lost with it.
#[test]
fn a_mutex_on_a_key() {
    explore(|world| {
        let runtime = world.runtime();
        let word = Arc::new((AtomicU32::new(0), AtomicU32::new(0)));
        let key = Arc::as_ptr(&word) as usize;
        let lock = |word: &Arc<(AtomicU32, AtomicU32)>| {
            let word = Arc::clone(word);
            move || {
                while word.0.swap(2, Ordering::Relaxed) != 0 {
                    if park_on(key, || word.0.load(Ordering::Relaxed) == 2).is_err() {
                        return;
                    }
                }
                let inside = word.1.fetch_add(1, Ordering::Relaxed);
                assert_eq!(inside, 0, "two are inside");
                yield_now();
                word.1.store(0, Ordering::Relaxed);
                word.0.store(0, Ordering::Relaxed);
                unpark_one(key);
            }
        };
        let cancelled = runtime.spawn(lock(&word));
        let others = [0, 1].map(|_| runtime.spawn(lock(&word)));
        cancelled.cancel();
        for fiber in others {
            fiber.join().expect("it has its turn");
        }
        let _ = cancelled.join();
    });
}
