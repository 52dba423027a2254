//! Barrier, event, wait group, initialization once: all that are to pass do, and no other.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use pirn::cancel::Token;
use pirn::sync::{Barrier, Event, Once, OnceLock, WaitGroup};
use pirn::{Interrupt, scope, time};

use crate::{MOMENT, check};

/// Each round has one leader, and none passes before all have come.
// Proves: U30-meetings.
#[test]
fn a_barrier_lets_all_pass_together() {
    check(|| {
        let barrier = Barrier::new(3);
        let (arrived, leaders) = (AtomicUsize::new(0), AtomicUsize::new(0));
        scope(|s| {
            for _ in 0..3 {
                s.spawn(|| {
                    for round in 1..=2 {
                        arrived.fetch_add(1, Ordering::Relaxed);
                        let is_leader = barrier.wait().is_leader();
                        leaders.fetch_add(usize::from(is_leader), Ordering::Relaxed);
                        assert!(arrived.load(Ordering::Relaxed) >= 3 * round);
                    }
                });
            }
        });
        assert_eq!((arrived.into_inner(), leaders.into_inner()), (6, 2));
    });
}

/// Each `set` of an automatic event lets one wait pass.
// Proves: U30-meetings.
#[test]
fn an_automatic_event_lets_one_pass() {
    check(|| {
        let event = Event::auto();
        let (set, passed) = (AtomicUsize::new(0), AtomicUsize::new(0));
        scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    for _ in 0..2 {
                        event.wait().unwrap();
                        let passed = passed.fetch_add(1, Ordering::Relaxed) + 1;
                        assert!(passed <= set.load(Ordering::Relaxed));
                    }
                });
            }
            // A `set` of an event that is set has no effect, so each waits for a wait.
            for n in 1..=4 {
                set.fetch_add(1, Ordering::Relaxed);
                event.set();
                while passed.load(Ordering::Relaxed) < n {
                    pirn::yield_now();
                }
            }
        });
        assert_eq!(event.wait_timeout(MOMENT), Ok(false));
    });
}

/// A waiter that gives up takes no `set` along.
// Proves: U30-meetings.
#[test]
fn a_waiter_that_gives_up_takes_no_event_along() {
    check(|| {
        let event = Event::auto();
        let token = Token::new();
        scope(|s| {
            s.spawn(|| {
                time::sleep(MOMENT).unwrap();
                token.cancel();
            });
            s.spawn(|| {
                time::sleep(MOMENT).unwrap();
                event.set();
            });
            let limited = s.spawn(|| event.wait_timeout(MOMENT).unwrap());
            let cancelled = s.spawn(|| match token.enter(|| event.wait()) {
                Ok(()) => true,
                Err(interrupt) => {
                    assert_eq!(interrupt, Interrupt::Cancelled);
                    false
                }
            });
            let ended = [limited.join().unwrap(), cancelled.join().unwrap()];
            let passed = ended.into_iter().filter(|it| *it).count();
            let left = event.wait_timeout(MOMENT).unwrap();
            assert_eq!(passed + usize::from(left), 1);
        });
    });
}

/// All that wait when a manual event is set pass, even if it is cleared at once.
// Proves: U30-meetings.
#[test]
fn a_manual_event_lets_all_pass() {
    check(|| {
        let (event, last) = (Event::manual(), Event::manual());
        let passed = AtomicUsize::new(0);
        scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    event.wait().unwrap();
                    passed.fetch_add(1, Ordering::Relaxed);
                });
            }
            s.spawn(|| {
                // Waits from its own `reset` on, so that the first `set` does not end it.
                event.reset();
                let passes = event.wait_timeout(2 * MOMENT).unwrap();
                assert!(passes || last.wait_timeout(MOMENT).unwrap());
            });
            time::sleep(MOMENT).unwrap();
            event.set();
            event.reset();
            last.set();
        });
        assert_eq!(passed.into_inner(), 2);
        assert_eq!(event.wait_timeout(MOMENT), Ok(false));
    });
}

/// A wait for a group ends when all work is done, in each of two rounds.
// Proves: U30-meetings.
#[test]
fn a_group_is_waited_for() {
    check(|| {
        let group = WaitGroup::new();
        let done = AtomicUsize::new(0);
        for round in 1..=2 {
            group.add(2);
            scope(|s| {
                for _ in 0..2 {
                    s.spawn(|| {
                        done.fetch_add(1, Ordering::Relaxed);
                        group.done();
                    });
                }
                s.spawn(|| {
                    group.wait().unwrap();
                    assert_eq!(done.load(Ordering::Relaxed), 2 * round);
                });
                group.wait().unwrap();
                assert_eq!(done.load(Ordering::Relaxed), 2 * round);
            });
        }
    });
}

/// Clones count until they are dropped or wait; after a cancelled wait they count again.
// Proves: U30-meetings.
#[test]
fn a_cancelled_wait_stays_in_its_group() {
    check(|| {
        let group = WaitGroup::new();
        let token = Token::new();
        let (left, counts) = (AtomicUsize::new(0), Event::manual());
        scope(|s| {
            s.spawn(|| token.cancel());
            let member = group.clone();
            s.spawn(|| {
                let member = member;
                let waited = token.enter(|| member.wait());
                left.store(usize::from(waited.is_err()), Ordering::Relaxed);
                counts.set();
                pirn_sim::point();
                left.store(0, Ordering::Relaxed);
                drop(member);
            });
            let member = group.clone();
            s.spawn(|| drop(member));
            s.spawn(|| drop(group.clone()));
            counts.wait().unwrap();
            assert_eq!(group.wait(), Ok(()));
            assert_eq!(left.load(Ordering::Relaxed), 0);
        });
    });
}

/// One of all callers initializes; the others see its value.
// Proves: U30-meetings.
#[test]
fn one_caller_initializes() {
    check(|| {
        let (once, cell) = (Once::new(), OnceLock::new());
        let calls = AtomicUsize::new(0);
        scope(|s| {
            for n in 0..3 {
                let (once, cell, calls) = (&once, &cell, &calls);
                s.spawn(move || {
                    let value = *cell.get_or_init(|| {
                        calls.fetch_add(1, Ordering::Relaxed);
                        pirn_sim::point();
                        n
                    });
                    assert_eq!(cell.get(), Some(&value));
                    assert_eq!(cell.set(7), Err(7));
                    once.call_once(|| {
                        pirn_sim::point();
                        calls.fetch_add(10, Ordering::Relaxed);
                    });
                    assert!(once.is_completed());
                });
            }
            once.wait();
            let value = *cell.wait();
            assert_eq!(cell.get(), Some(&value));
        });
        assert_eq!(calls.into_inner(), 11);
    });
}

/// An initialization that panics, or fails, passes the attempt on.
// Proves: U30-meetings.
#[test]
fn an_attempt_that_fails_is_passed_on() {
    check(|| {
        let (once, cell) = (Once::new(), OnceLock::new());
        let (calls, makes) = (AtomicUsize::new(0), AtomicUsize::new(0));
        scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    let attempt = || {
                        once.call_once(|| {
                            pirn_sim::point();
                            let earlier = calls.fetch_add(1, Ordering::Relaxed);
                            assert!(earlier > 0, "the first attempt");
                        });
                    };
                    if catch_unwind(AssertUnwindSafe(attempt)).is_err() {
                        once.wait();
                    }
                    assert!(once.is_completed());
                });
                s.spawn(|| {
                    let made = cell.get_or_try_init(|| {
                        pirn_sim::point();
                        match makes.fetch_add(1, Ordering::Relaxed) {
                            0 => Err(()),
                            earlier => Ok(earlier),
                        }
                    });
                    let made = made.unwrap_or_else(|()| cell.wait());
                    assert_eq!(*made, 1);
                });
            }
        });
        assert_eq!((calls.into_inner(), makes.into_inner()), (2, 2));
    });
}
