//! Tokens and time: park against unpark, timeouts against wakes, sleepers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use pirn::spawn::{current, park_timeout};
use pirn::{park, sleep, spawn, time};

use crate::util::{explore, explore_in_time, explore_with, thread};

/// Two fibers pass a token back and forth.
#[test]
fn a_token_goes_to_and_fro() {
    explore_with(&[1, 2], |world| {
        const ROUNDS: u32 = 4;
        let runtime = world.runtime();
        let turns = runtime.run(|| {
            let turns = Arc::new(AtomicU32::new(0));
            let first = current();
            let second = {
                let turns = Arc::clone(&turns);
                spawn(move || {
                    for _ in 0..ROUNDS {
                        while turns.load(Ordering::Relaxed) % 2 == 0 {
                            park();
                        }
                        turns.fetch_add(1, Ordering::Relaxed);
                        first.unpark();
                    }
                })
            };
            for _ in 0..ROUNDS {
                turns.fetch_add(1, Ordering::Relaxed);
                second.fiber().unpark();
                while turns.load(Ordering::Relaxed) % 2 == 1 {
                    park();
                }
            }
            second.join().expect("it ends");
            turns.load(Ordering::Relaxed)
        });
        assert_eq!(turns, 2 * ROUNDS);
    });
}

/// Fibers and threads give tokens to one fiber, which parks until it has seen all.
#[test]
fn tokens_from_everywhere() {
    explore(|world| {
        let runtime = world.runtime();
        let seen = Arc::new(AtomicU32::new(0));
        let parker = {
            let seen = Arc::clone(&seen);
            runtime.spawn(move || {
                while seen.load(Ordering::Relaxed) < 3 {
                    park();
                }
            })
        };
        let give = |fiber: pirn::spawn::Fiber| {
            let seen = Arc::clone(&seen);
            move || {
                seen.fetch_add(1, Ordering::Relaxed);
                fiber.unpark();
            }
        };
        let outside = thread(give(parker.fiber().clone()));
        let inside = [0, 1].map(|_| runtime.spawn(give(parker.fiber().clone())));
        inside
            .into_iter()
            .for_each(|giver| giver.join().expect("it gives"));
        outside.join().expect("it gives");
        parker.join().expect("it has seen all");
    });
}

/// A thread parks, a fiber unparks.
#[test]
fn a_thread_waits_for_a_token() {
    explore(|world| {
        let runtime = world.runtime();
        let me = current();
        let said = Arc::new(AtomicU32::new(0));
        let giver = {
            let said = Arc::clone(&said);
            runtime.spawn(move || {
                said.store(1, Ordering::Relaxed);
                me.unpark();
            })
        };
        while said.load(Ordering::Relaxed) == 0 {
            park();
        }
        giver.join().expect("it gives");
    });
}

/// The timeout expires while the token arrives: neither is lost.
#[test]
fn a_timeout_against_a_token() {
    explore_in_time(|world| {
        let runtime = world.runtime();
        let parker = runtime.spawn(|| {
            let began = time::now();
            park_timeout(Duration::from_millis(1));
            let early = time::now() - began < Duration::from_millis(1);
            if !early {
                // It may have been the token all the same; a second wait, with a limit, decides.
                park_timeout(Duration::from_millis(1));
            }
        });
        parker.fiber().unpark();
        parker.join().expect("it ends");
    });
}

#[test]
fn sleepers_wake_in_their_time() {
    explore_in_time(|world| {
        let runtime = world.runtime();
        let sleepers = [3, 1, 2].map(|millis| {
            runtime.spawn(move || {
                let length = Duration::from_millis(millis);
                let began = time::now();
                sleep(length).expect("not cancelled");
                assert!(time::now() - began >= length, "woken too early");
            })
        });
        sleepers
            .into_iter()
            .for_each(|sleeper| sleeper.join().expect("it wakes"));
    });
}
