//! Planted bugs, each found within its number of schedules.

use std::sync::Arc;

use pirn::channel;
use pirn::sim::atomic::{AtomicUsize, Ordering};
use pirn::sync::{Condvar, Mutex, Semaphore};
use pirn_sim::{Failure, Strategy, Verdict, campaign};

/// Returns the failures of ten campaigns of `most` runs each; at most one of them has none.
fn find(most: u64, body: impl Fn() + Send + Sync + 'static) -> Vec<Failure> {
    let body = Arc::new(body);
    let found: Vec<_> = (0..10)
        .filter_map(|at| {
            let body = Arc::clone(&body);
            let campaign = campaign().runs(most).seed(at << 32);
            campaign.find(move || body())
        })
        .collect();
    let mut runs: Vec<_> = found.iter().map(Failure::run).collect();
    runs.sort_unstable();
    println!("found in run {runs:?}");
    assert!(found.len() >= 9, "{} of 10 campaigns found it", found.len());
    found
}

/// Returns the number of choices in the trace that differ from the canonical schedule.
fn length(failure: &Failure) -> usize {
    failure.trace().to_string().matches('>').count()
}

fn is_deadlock(failure: &Failure, fibers: usize) -> bool {
    matches!(failure.verdict(), Verdict::Deadlock(stuck) if stuck.len() == fibers)
}

// Proves: U1, U6.
#[test]
fn a_lost_update_over_two_critical_sections() {
    let found = find(50, || {
        let value = Arc::new(Mutex::new(0));
        let add = || {
            let value = Arc::clone(&value);
            pirn::spawn(move || {
                let before = *value.lock();
                *value.lock() = before + 1;
            })
        };
        let fibers = [add(), add()];
        fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
        assert_eq!(*value.lock(), 2);
    });
    // One switch between the two sections suffices.
    let lengths: Vec<_> = found.iter().map(length).collect();
    assert!(lengths.iter().all(|it| *it == 1), "{lengths:?}");
}

// Proves: U1, U6.
#[test]
fn two_locks_in_two_orders() {
    let found = find(50, || {
        let locks = Arc::new((Mutex::new(()), Mutex::new(())));
        let other = Arc::clone(&locks);
        let fiber = pirn::spawn(move || {
            let _first = other.1.lock();
            let _second = other.0.lock();
        });
        {
            let _first = locks.0.lock();
            let _second = locks.1.lock();
        }
        fiber.join().unwrap();
    });
    assert!(found.iter().all(|it| is_deadlock(it, 2)), "{found:#?}");
}

// Proves: U1, U6.
#[test]
fn five_philosophers() {
    let found = find(1_000, || {
        let forks: Arc<[Mutex<()>; 5]> = Arc::default();
        let philosopher = |at: usize| {
            let forks = Arc::clone(&forks);
            pirn::spawn(move || {
                let _left = forks[at].lock();
                let _right = forks[(at + 1) % 5].lock();
            })
        };
        let all: Vec<_> = (0..5).map(philosopher).collect();
        all.into_iter().for_each(|fiber| fiber.join().unwrap());
    });
    // The body waits too.
    assert!(found.iter().all(|it| is_deadlock(it, 6)), "{found:#?}");
}

// Proves: U1, U6.
#[test]
fn a_lock_held_over_a_send() {
    let found = find(100, || {
        let (tx, rx) = channel::bounded(0);
        let lock = Arc::new(Mutex::new(()));
        let other = Arc::clone(&lock);
        let receiver = pirn::spawn(move || {
            drop(other.lock());
            rx.recv().unwrap();
        });
        {
            let _held = lock.lock();
            tx.send(()).unwrap();
        }
        receiver.join().unwrap();
    });
    assert!(found.iter().all(|it| is_deadlock(it, 2)), "{found:#?}");
}

// Proves: U1, U6.
#[test]
fn a_notification_before_the_wait() {
    let found = find(100, || {
        let shared = Arc::new((Mutex::new(false), Condvar::new()));
        let other = Arc::clone(&shared);
        let waker = pirn::spawn(move || {
            *other.0.lock() = true;
            other.1.notify_one();
        });
        let is_set = *shared.0.lock();
        if !is_set {
            // The flag is not checked again.
            drop(shared.1.wait(shared.0.lock()));
        }
        waker.join().unwrap();
    });
    assert!(found.iter().all(|it| is_deadlock(it, 1)), "{found:#?}");
}

// Proves: U1, U6.
#[test]
fn an_attempt_that_may_fail() {
    let found = find(100, || {
        let lock = Arc::new(Mutex::new(0));
        let other = Arc::clone(&lock);
        let fiber = pirn::spawn(move || {
            let mut value = other.lock();
            pirn_sim::point();
            *value += 1;
        });
        assert!(lock.try_lock().is_some(), "it is free");
        fiber.join().unwrap();
    });
    let message = |it: &Failure| matches!(it.verdict(), Verdict::Panic(text) if text.contains("it is free"));
    assert!(found.iter().all(message), "{found:#?}");
}

// Proves: U1, U6.
#[test]
fn a_semaphore_that_is_asked_twice() {
    let found = find(100, || {
        let permits = Arc::new(Semaphore::new(2));
        let take = || {
            let permits = Arc::clone(&permits);
            pirn::spawn(move || {
                let _one = permits.acquire(1).unwrap();
                let _other = permits.acquire(1).unwrap();
            })
        };
        let fibers = [take(), take()];
        fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
    });
    assert!(found.iter().all(|it| is_deadlock(it, 3)), "{found:#?}");
}

/// A window of one operation among 150. Random walks do not find it in thousands of runs.
// Proves: U3.
#[test]
fn a_needle() {
    let found = find(3_000, || {
        let step = Arc::new(Mutex::new(0));
        let other = Arc::clone(&step);
        let walker = pirn::spawn(move || {
            for at in 0..150 {
                *other.lock() = at;
            }
        });
        let (tx, rx) = channel::bounded::<()>(1);
        let third = pirn::spawn(move || tx.send(()).unwrap_or_default());
        rx.recv().unwrap();
        let at = *step.lock();
        assert_ne!(at, 77, "the needle");
        walker.join().unwrap();
        third.join().unwrap();
    });
    assert!(!found.is_empty());
}

// Proves: U3.
#[test]
fn a_search_of_all_schedules_finds_what_one_preemption_causes() {
    let race = || {
        let value = Arc::new(Mutex::new(0));
        let other = Arc::clone(&value);
        let fiber = pirn::spawn(move || {
            let before = *other.lock();
            *other.lock() = before + 1;
        });
        let before = *value.lock();
        *value.lock() = before + 1;
        fiber.join().unwrap();
        assert_eq!(*value.lock(), 2);
    };
    let search = |preemptions| {
        let strategy = Strategy::Exhaustive { preemptions };
        campaign().strategy(strategy).find(race)
    };
    assert!(search(0).is_none(), "the canonical schedule is correct");
    assert!(search(1).is_some());
}

// Proves: U6.
#[test]
fn a_run_without_an_end() {
    let failure = campaign().choices(1_000).find(|| {
        loop {
            pirn::yield_now();
        }
    });
    assert_eq!(*failure.unwrap().verdict(), Verdict::Endless(1_000));
}

/// A fiber that the body leaves behind counts too; one that ends does not.
// Proves: U6.
#[test]
fn fibers_that_are_left_behind() {
    let failure = campaign().find(|| drop(pirn::spawn(pirn::spawn::park)));
    assert!(is_deadlock(&failure.unwrap(), 1));
    let late = || {
        let hour = std::time::Duration::from_secs(3_600);
        drop(pirn::spawn(move || pirn::sleep(hour)));
    };
    assert!(campaign().runs(100).find(late).is_none());
}

// Proves: U1.
#[test]
fn cases_that_do_not_wait() {
    let found = find(100, || {
        let (tx, rx) = channel::bounded(1);
        drop(pirn::spawn(move || tx.send(7)));
        pirn::select! {
            recv(rx) -> value => panic!("it came early: {value:?}"),
            default => {}
        }
    });
    let early = |it: &Failure| it.verdict().to_string().contains("it came early: Ok(7)");
    assert!(found.iter().all(early), "{found:#?}");
}

// Proves: U1.
#[test]
fn a_token_that_is_looked_at() {
    find(100, || {
        let token = pirn::cancel::Token::new();
        let other = token.clone();
        let fiber = pirn::spawn(move || other.cancel());
        assert!(!token.is_cancelled());
        fiber.join().unwrap();
    });
}

// Proves: U6.
#[test]
fn a_panic_that_is_lost() {
    let failure = campaign().find(|| drop(pirn::spawn(|| panic!("of a fiber"))));
    let failure = failure.unwrap();
    let is_named = |text: &str| text.contains("found.rs") && text.contains("of a fiber");
    assert!(matches!(failure.verdict(), Verdict::Panic(text) if is_named(text)));
    let joined = || drop(pirn::spawn(|| panic!("of a fiber")).join());
    assert!(campaign().runs(100).find(joined).is_none());
}

/// The test ends although a fiber waits for an event that the failed body was to set.
// Proves: U6.
#[test]
fn a_panic_beside_a_fiber_that_waits() {
    let failure = campaign().find(|| {
        let event = Arc::new(pirn::sync::Event::default());
        let other = Arc::clone(&event);
        drop(pirn::spawn(move || other.wait()));
        panic!("before it is set");
    });
    let verdict = failure.unwrap().verdict().to_string();
    assert!(verdict.contains("before it is set"), "{verdict}");
}

/// A token is cancelled while a select looks at it.
// Proves: U1.
#[test]
fn a_select_with_a_token() {
    let body = || {
        let token = pirn::cancel::Token::new();
        let other = token.clone();
        let (_tx, rx) = channel::bounded::<()>(1);
        let fiber = pirn::spawn(move || {
            pirn::select! {
                recv(rx) -> _ => unreachable!("nothing is sent"),
                case(other.case()) -> _ => {}
            }
        });
        token.cancel();
        fiber.join().unwrap();
    };
    assert!(campaign().find(body).is_none());
}

/// A detached fiber panics in some schedules. Then the body panics too, unless a third fiber has
/// come between two of its operations: those runs fail by the first panic alone. So a panic that is
/// left over would make runs without any fail.
// Proves: U6.
#[test]
fn a_lost_panic_beside_one_of_the_body() {
    for seed in 1..40 {
        let failure = campaign().seed(seed).strategy(Strategy::Random).find(|| {
            let [x, hit, y, saved] = [(); 4].map(|()| Arc::new(AtomicUsize::new(0)));
            let (seen, hits) = (Arc::clone(&x), Arc::clone(&hit));
            drop(pirn::spawn(move || {
                if seen.load(Ordering::SeqCst) == 1 {
                    hits.store(1, Ordering::SeqCst);
                    panic!("lost");
                }
            }));
            let (seen, saves) = (Arc::clone(&y), Arc::clone(&saved));
            let other = pirn::spawn(move || {
                if seen.load(Ordering::SeqCst) == 1 {
                    saves.store(1, Ordering::SeqCst);
                }
            });
            for (word, value) in [(&x, 1), (&x, 2), (&y, 1), (&y, 2)] {
                word.store(value, Ordering::SeqCst);
            }
            other.join().unwrap();
            let is_hit = hit.load(Ordering::SeqCst) == 1;
            assert!(!is_hit || saved.load(Ordering::SeqCst) == 1, "the body");
        });
        let text = failure.unwrap().to_string();
        assert!(!text.contains("does not always fail"), "{text}");
    }
}

/// The body has panicked before another fiber, the message of which ends as its own.
// Proves: U6.
#[test]
fn a_panic_is_not_taken_for_one_that_ends_alike() {
    let failure = campaign().find(|| {
        drop(pirn::spawn(|| {
            pirn::sleep(std::time::Duration::from_secs(1)).unwrap();
            panic!("the job timed out");
        }));
        panic!("timed out");
    });
    let failure = failure.unwrap();
    assert_eq!(*failure.verdict(), Verdict::Panic("timed out".to_owned()));
    let first = "the first panic of the run: crates/pirn-sim/tests/it/found.rs:";
    assert!(failure.to_string().contains(first), "{failure}");
}
