//! ThreadSanitizer and fibers: a race between two fibers is found, and moving a fiber from thread
//! to thread is not a race.

use std::cell::UnsafeCell;
use std::process::Output;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::alone;
use super::ride::{Ride, pool};
use crate::shim::thread;

/// A value that is written without any order, on purpose or not.
struct Shared(UnsafeCell<usize>);

// SAFETY: none for the case "race", which is what the test is about; else handed over.
unsafe impl Sync for Shared {}

impl Shared {
    fn increment(&self) {
        // SAFETY: as above.
        unsafe { *self.0.get() += 1 };
    }
}

fn run(case: &str) -> Output {
    alone::run(concat!(module_path!(), "::child"), case)
}

#[test]
fn a_race_between_two_fibers_is_found() {
    // A switch orders what comes before and after it, so some runs miss the race.
    let found = (0..20).any(|_| {
        let output = run("race");
        String::from_utf8_lossy(&output.stderr).contains("data race")
    });
    assert!(found, "20 runs have not found it");
}

#[test]
fn handing_a_fiber_over_is_no_race() {
    let output = run("hand over");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && !text.contains("ThreadSanitizer"),
        "{text}"
    );
}

#[test]
#[ignore = "run by the other tests of this file, in a process of its own"]
fn child() {
    let case = alone::case().expect("run by the other tests, with a case");
    let pool = Arc::new(pool(2));
    let shared = Arc::new(Shared(UnsafeCell::new(0)));
    let ride = |rounds: usize| {
        let shared = Arc::clone(&shared);
        Ride::new(pool.take().unwrap(), move |sides| {
            for _ in 0..rounds {
                shared.increment();
                sides.pause();
            }
        })
    };
    match case.as_str() {
        "race" => {
            let rides = [ride(1_000), ride(1_000)];
            let running = rides.map(|mut ride| {
                let drive = move || while ride.resume() {};
                thread::spawn("racer".to_owned(), drive).unwrap()
            });
            running
                .into_iter()
                .for_each(|thread| thread.join().unwrap());
        }
        "hand over" => {
            let mut ride = ride(300);
            let turn = Arc::new(AtomicUsize::new(0));
            for hop in 0..100 {
                let mine = Arc::clone(&turn);
                ride = std::thread::scope(|scope| {
                    let drive = move || {
                        assert_eq!(mine.fetch_add(1, Ordering::AcqRel), hop);
                        assert!(ride.resume());
                        ride
                    };
                    scope.spawn(drive).join().unwrap()
                });
                assert!(ride.resume());
            }
            pool.give(ride.finish());
        }
        unknown => panic!("no such case: {unknown}"),
    }
}
