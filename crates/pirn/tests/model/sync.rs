//! Mutex, condition variable, wait group.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use pirn::sync::{Condvar, Mutex, WaitGroup};
use pirn::{scope, yield_now};

use crate::util::{explore, explore_in_time, explore_with, thread};

#[test]
fn a_mutex_counts() {
    explore_with(&[1, 2], |world| {
        let runtime = world.runtime();
        let count = Arc::new(Mutex::new(0));
        let outside = {
            let count = Arc::clone(&count);
            thread(move || *count.lock() += 1)
        };
        let inside = [0, 1, 2].map(|_| {
            let count = Arc::clone(&count);
            runtime.spawn(move || {
                for _ in 0..2 {
                    let mut count = count.lock();
                    let seen = *count;
                    yield_now();
                    *count = seen + 1;
                }
            })
        });
        inside
            .into_iter()
            .for_each(|fiber| fiber.join().expect("it counts"));
        outside.join().expect("it counts");
        assert_eq!(*count.lock(), 7);
    });
}

/// Waiters that give up take neither the turn nor a wake meant for other waiters.
#[test]
fn a_mutex_with_a_time_limit() {
    explore_in_time(|world| {
        let runtime = world.runtime();
        let mutex = Arc::new(Mutex::new(0));
        let hasty = [0, 1].map(|_| {
            let mutex = Arc::clone(&mutex);
            runtime.spawn(move || {
                if let Some(mut guard) = mutex.lock_timeout(Duration::from_micros(100)) {
                    *guard += 1;
                    yield_now();
                    return 1;
                }
                0
            })
        });
        let patient = {
            let mutex = Arc::clone(&mutex);
            runtime.spawn(move || *mutex.lock() += 1)
        };
        let hasty: i32 = hasty
            .into_iter()
            .map(|fiber| fiber.join().expect("it ends"))
            .sum();
        patient.join().expect("it gets its turn");
        assert_eq!(*mutex.lock(), hasty + 1);
    });
}

#[test]
fn a_condition_goes_to_and_fro() {
    explore_with(&[1, 2], |world| {
        const ROUNDS: u32 = 3;
        let runtime = world.runtime();
        let (ball, passed) = (Mutex::new(0), Condvar::new());
        runtime.run(|| {
            scope(|s| {
                for me in 0..2 {
                    let (ball, passed) = (&ball, &passed);
                    s.spawn(move || {
                        for _ in 0..ROUNDS {
                            let mut ball =
                                passed.wait_while(ball.lock(), |n| *n % 2 != me);
                            *ball += 1;
                            passed.notify_one();
                        }
                    });
                }
            });
        });
        assert_eq!(ball.into_inner(), 2 * ROUNDS);
    });
}

#[test]
fn a_condition_for_all() {
    explore(|world| {
        let runtime = world.runtime();
        let gate = Arc::new((Mutex::new(false), Condvar::new()));
        let wait = |gate: &Arc<(Mutex<bool>, Condvar)>| {
            let gate = Arc::clone(gate);
            move || drop(gate.1.wait_while(gate.0.lock(), |open| !*open))
        };
        let inside = [0, 1].map(|_| runtime.spawn(wait(&gate)));
        let outside = thread(wait(&gate));
        let opener = {
            let gate = Arc::clone(&gate);
            runtime.spawn(move || {
                *gate.0.lock() = true;
                gate.1.notify_all();
            })
        };
        opener.join().expect("it opens");
        inside
            .into_iter()
            .for_each(|fiber| fiber.join().expect("it passes"));
        outside.join().expect("it passes");
    });
}

#[test]
fn a_wait_group_of_clones() {
    explore(|world| {
        let runtime = world.runtime();
        let group = WaitGroup::new();
        let done = Arc::new(AtomicU32::new(0));
        for _ in 0..3 {
            let (member, done) = (group.clone(), Arc::clone(&done));
            runtime.spawn(move || {
                done.fetch_add(1, Ordering::Relaxed);
                drop(member);
            });
        }
        group.wait().expect("a thread is not cancelled");
        assert_eq!(done.load(Ordering::Relaxed), 3);
    });
}

/// A waiter of the first round is cancelled and has yet to leave; the round ends, and a new one
/// begins: the end of the first does not wake waiters of the second.
#[test]
fn a_wait_group_is_used_again() {
    explore(|world| {
        let runtime = world.runtime();
        let theirs = WaitGroup::new();
        let ours = Arc::new(theirs.clone());
        // Both handles wait, and so are no longer counted.
        let theirs = runtime.spawn(move || {
            theirs.wait().expect("not cancelled yet");
            theirs
        });
        ours.wait().expect("a thread is not cancelled");
        let theirs = theirs.join().expect("it comes back");
        ours.add(1);
        let first = runtime.spawn(move || drop(theirs.wait()));
        let ender = {
            let ours = Arc::clone(&ours);
            runtime.spawn(move || ours.done())
        };
        let second = {
            let ours = Arc::clone(&ours);
            runtime.spawn(move || waits_for_its_own(&ours))
        };
        first.cancel();
        ender.join().expect("it ends");
        second.join().expect("it waits for its own round");
        let _ = first.join();
    });
}

fn waits_for_its_own(group: &Arc<WaitGroup>) {
    group.add(1);
    let ended = Arc::new(AtomicBool::new(false));
    let other = {
        let (group, ended) = (Arc::clone(group), Arc::clone(&ended));
        pirn::spawn(move || {
            yield_now();
            ended.store(true, Ordering::Relaxed);
            group.done();
        })
    };
    group.wait().expect("not cancelled");
    assert!(ended.load(Ordering::Relaxed), "woken by the wrong round");
    other.join().expect("it ends");
}
