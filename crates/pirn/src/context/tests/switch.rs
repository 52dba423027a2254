//! The switch: it comes back, also on another thread, and ends cleanly.

use std::backtrace::Backtrace;
use std::hint::black_box;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::alone::SANITIZED;
use super::ride::{Ride, pool};
use crate::context::Context;
use crate::shim::thread;

// Proves: Q2 (portable).
#[test]
fn a_million_switches_come_back() {
    const ROUNDS: usize = 1_000_000;
    let pool = pool(8);
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let mut ride = Ride::new(pool.take().unwrap(), move |sides| {
        for _ in 0..ROUNDS {
            counted.fetch_add(1, Ordering::Relaxed);
            sides.pause();
        }
    });
    for round in 1..=ROUNDS {
        assert!(ride.resume());
        assert_eq!(count.load(Ordering::Relaxed), round);
    }
    assert!(!ride.resume());
    pool.give(ride.finish());
}

// Proves: Q2 (portable).
#[test]
fn many_fibers_take_turns_on_adjacent_stacks() {
    const FIBERS: usize = 100;
    let pool = pool(FIBERS);
    let sum = Arc::new(AtomicUsize::new(0));
    let mut rides: Vec<Ride> = (0..FIBERS)
        .map(|number| {
            let sum = Arc::clone(&sum);
            Ride::new(pool.take().unwrap(), move |sides| {
                let local = black_box([number; 64]);
                for _ in 0..100 {
                    sides.pause();
                    sum.fetch_add(black_box(&local)[63], Ordering::Relaxed);
                }
            })
        })
        .collect();
    while rides.iter().any(|ride| !ride.done()) {
        for ride in rides.iter_mut().filter(|ride| !ride.done()) {
            ride.resume();
        }
    }
    assert_eq!(sum.load(Ordering::Relaxed), 100 * FIBERS * (FIBERS - 1) / 2);
    rides.into_iter().for_each(|ride| pool.give(ride.finish()));
}

// Proves: Q2 (portable).
#[test]
fn a_panic_is_caught_on_the_fiber() {
    let pool = pool(1);
    let caught = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&caught);
    let mut ride = Ride::new(pool.take().unwrap(), move |sides| {
        for round in 0..100_usize {
            let result = panic::catch_unwind(AssertUnwindSafe(|| {
                sides.pause();
                panic::resume_unwind(Box::new(round));
            }));
            let payload = result.unwrap_err();
            assert_eq!(payload.downcast_ref(), Some(&round));
            count.fetch_add(1, Ordering::Relaxed);
            sides.pause();
        }
    });
    while ride.resume() {}
    assert_eq!(caught.load(Ordering::Relaxed), 100);
    pool.give(ride.finish());
}

// Proves: Q2 (portable).
#[test]
fn recursion_goes_deep() {
    const DEPTH: usize = 100;
    fn descend(depth: usize) -> usize {
        let frame = black_box([1_u8; 1024]);
        let deeper = if depth == 1 { 0 } else { descend(depth - 1) };
        deeper + usize::from(frame[1023])
    }
    let pool = pool(1);
    let reached = Arc::new(AtomicUsize::new(0));
    let depth = Arc::clone(&reached);
    // Large enough for the frames of any sanitizer.
    let mut ride = Ride::new(pool.take_sized(1024 * 1024).unwrap(), move |sides| {
        depth.store(descend(DEPTH), Ordering::Relaxed);
        sides.pause();
    });
    assert!(ride.resume());
    assert_eq!(reached.load(Ordering::Relaxed), DEPTH);
    if !SANITIZED {
        let touched = ride.stack().touched();
        assert!(
            touched > DEPTH * 1024 && touched < 1024 * 1024,
            "touched {touched}"
        );
    }
    pool.give(ride.finish());
}

// Proves: Q2 (portable).
#[test]
fn a_fiber_resumes_on_another_thread() {
    const HOPS: usize = 1_000;
    let pool = Arc::new(pool(2));
    let hops = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&hops);
    let mut ride = Ride::new(pool.take().unwrap(), move |sides| {
        let mut local = black_box(0);
        for _ in 0..HOPS {
            sides.pause();
            local += 1;
        }
        counted.store(local, Ordering::Relaxed);
    });
    for hop in 0..=HOPS {
        if hop % 10 != 0 {
            ride.resume();
            continue;
        }
        let (send, receive) = std::sync::mpsc::channel();
        thread::spawn("hop".to_owned(), move || {
            ride.resume();
            send.send(ride).unwrap();
        })
        .unwrap()
        .join()
        .unwrap();
        ride = receive.recv().unwrap();
    }
    assert!(ride.done());
    assert_eq!(hops.load(Ordering::Relaxed), HOPS);
    pool.give(ride.finish());
}

#[test]
fn a_backtrace_of_a_fiber_ends_at_its_first_frame() {
    let pool = pool(1);
    let (send, receive) = std::sync::mpsc::channel();
    let mut ride = Ride::new(pool.take().unwrap(), move |_| {
        send.send(Backtrace::force_capture().to_string()).unwrap();
    });
    assert!(!ride.resume());
    pool.give(ride.finish());
    let text = receive.recv().unwrap();
    // The file or the path of the closure: which one is printed depends on the debug information of
    // the build.
    let closure = ["context/tests/switch.rs", "context::tests::switch"];
    assert!(closure.iter().any(|place| text.contains(place)), "{text}");
    if cfg!(not(feature = "corosensei")) {
        // The driver's frames do not follow: the fiber may resume under another driver.
        assert!(!text.contains("resume"), "{text}");
    }
}

// Proves: Q2 (portable).
#[test]
fn a_context_can_be_prepared_again() {
    let pool = pool(1);
    let mut stack = pool.take().unwrap();
    for _ in 0..1_000 {
        let mut ride = Ride::new(stack, |sides| sides.pause());
        assert!(ride.resume());
        assert!(!ride.resume());
        stack = ride.finish();
    }
    pool.give(stack);
}

/// With the portable switch the position is never known.
#[test]
fn an_empty_or_ended_context_has_no_frame() {
    // SAFETY: never prepared, or left.
    let frame = |context: &Context| unsafe { context.frame() };
    assert_eq!(frame(&Context::empty()), None);
    let pool = pool(1);
    let mut ride = Ride::new(pool.take().unwrap(), |_| {});
    assert!(!ride.resume());
    assert_eq!(frame(ride.context()), None);
    pool.give(ride.finish());
}
