//! Waits and wakes that coincide in every window.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use pirn::spawn::{Fiber, park_timeout};
use pirn::{channel, park};

use crate::executor_kind::{EXECUTOR_KINDS, Jobs, runtime};
use crate::util::{on_every_shape, scaled};

const MILLION: usize = 1_000_000;

/// F3, F4, F7. Pairs pass a turn back and forth by the token alone, on fibers, threads, both.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn turns_by_the_token() {
    for (executor, rounds) in
        EXECUTOR_KINDS
            .into_iter()
            .zip([MILLION, MILLION / 10, MILLION / 10])
    {
        let rounds = scaled(rounds) / 4;
        for workers in [1, 2, 4, 8] {
            let turns: Vec<AtomicUsize> = (0..4).map(|_| AtomicUsize::new(0)).collect();
            let mut jobs = Jobs::new();
            for turn in &turns {
                let (to_first, from_second) = channel::bounded::<Fiber>(1);
                let (to_second, from_first) = channel::bounded::<Fiber>(1);
                jobs.add(move || {
                    to_second.send(pirn::current()).unwrap();
                    play(turn, 0, rounds / 2, &from_second.recv().unwrap());
                });
                jobs.add(move || {
                    to_first.send(pirn::current()).unwrap();
                    play(turn, 1, rounds / 2, &from_first.recv().unwrap());
                });
            }
            jobs.run(executor, workers);
            assert!(
                turns
                    .iter()
                    .all(|turn| turn.load(Ordering::Relaxed) == rounds / 2 * 2)
            );
        }
    }
}

fn play(turn: &AtomicUsize, mine: usize, rounds: usize, other: &Fiber) {
    for round in 0..rounds {
        while turn.load(Ordering::Acquire) != 2 * round + mine {
            park();
        }
        turn.store(2 * round + mine + 1, Ordering::Release);
        other.unpark();
    }
}

/// F3, G2. Expiring limits coincide with wakes: each token is consumed once, none is lost, at any
/// timing.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn limits_meet_wakes() {
    let n = scaled(MILLION) / 8;
    on_every_shape(|runtime| {
        let (given, taken) =
            (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let over = Arc::new(AtomicBool::new(false));
        let parker = {
            let (given, taken) = (Arc::clone(&given), Arc::clone(&taken));
            let over = Arc::clone(&over);
            runtime.spawn(move || {
                let mut i = 0_u64;
                while !over.load(Ordering::SeqCst)
                    || taken.load(Ordering::SeqCst) < given.load(Ordering::SeqCst)
                {
                    i += 1;
                    park_timeout(Duration::from_nanos(i * 7_919 % 90_000));
                    // Writes before the end of the wait are visible after it.
                    let seen = given.load(Ordering::SeqCst);
                    taken.store(seen, Ordering::SeqCst);
                }
            })
        };
        for i in 0..n {
            given.fetch_add(1, Ordering::SeqCst);
            parker.fiber().unpark();
            if i % 64 == 0 {
                // Repeated until it has been noticed, so that both orders occur.
                let mut looks = 0_u64;
                while taken.load(Ordering::SeqCst) <= i {
                    looks += 1;
                    assert!(looks < 4_000_000_000, "wake {i} was lost");
                    std::hint::spin_loop();
                }
            }
        }
        over.store(true, Ordering::SeqCst);
        parker.fiber().unpark();
        parker.join().unwrap();
        assert_eq!(taken.load(Ordering::SeqCst), n);
    });
}

/// F10. Fibers of two runtimes and threads all unpark each other; each unparked waiter wakes.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn wakes_across_runtimes() {
    let rounds = scaled(MILLION) / 16;
    for workers in [1, 2, 4] {
        let (left, right) = (runtime(workers), runtime(workers));
        let turns: [AtomicUsize; 4] = std::array::from_fn(|_| AtomicUsize::new(0));
        std::thread::scope(|threads| {
            for (i, turn) in turns.iter().enumerate() {
                let (to_first, from_second) = channel::bounded::<Fiber>(1);
                let (to_second, from_first) = channel::bounded::<Fiber>(1);
                let first = move || {
                    to_second.send(pirn::current()).unwrap();
                    play(turn, 0, rounds, &from_second.recv().unwrap());
                };
                let second = move || {
                    to_first.send(pirn::current()).unwrap();
                    play(turn, 1, rounds, &from_first.recv().unwrap());
                };
                let (left, right) = (left.handle(), right.handle());
                threads.spawn(move || left.run(first));
                threads.spawn(move || if i == 3 { second() } else { right.run(second) });
            }
        });
        assert!(
            turns
                .iter()
                .all(|turn| turn.load(Ordering::Relaxed) == 2 * rounds)
        );
        assert_eq!(
            left.metrics().total.rescues + right.metrics().total.rescues,
            0
        );
    }
}

/// D-3. A million yields among many: each fiber gets its turn.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn yields_of_many() {
    let each = scaled(MILLION) / 100;
    on_every_shape(|runtime| {
        let fibers: Vec<_> = (0..100)
            .map(|_| runtime.spawn(move || (0..each).for_each(|_| pirn::yield_now())))
            .collect();
        fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
        assert!(runtime.metrics().total.dispatched >= 100 * each as u64);
    });
}
