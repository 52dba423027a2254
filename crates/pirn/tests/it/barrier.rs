//! Promises of barriers.

use std::sync::atomic::{AtomicUsize, Ordering};

use pirn::sync::Barrier;

use crate::executor_kind::{EXECUTOR_KINDS, Jobs, alone, until};

/// No participant leaves a round before all have arrived, and one of them leads; in each round.
#[test]
fn all_wait_for_all_and_one_leads() {
    const PARTIES: usize = 40;
    const ROUNDS: usize = 20;
    for workers in [1, 2, 4, 8] {
        for executor in EXECUTOR_KINDS {
            let barrier = Barrier::new(PARTIES);
            let (arrived, leaders) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let mut jobs = Jobs::new();
            for _ in 0..PARTIES {
                jobs.add(|| {
                    for round in 1..=ROUNDS {
                        arrived.fetch_add(1, Ordering::SeqCst);
                        if barrier.wait().is_leader() {
                            assert_eq!(leaders.fetch_add(1, Ordering::SeqCst), round - 1);
                        }
                        assert!(arrived.load(Ordering::SeqCst) >= round * PARTIES);
                    }
                });
            }
            jobs.run(executor, workers);
            assert_eq!(leaders.into_inner(), ROUNDS);
        }
    }
}

#[test]
fn one_party_or_none_does_not_wait() {
    static ALONE: Barrier = Barrier::new(1);
    for _ in 0..3 {
        assert!(ALONE.wait().is_leader());
        assert!(Barrier::new(0).wait().is_leader());
    }
    assert_eq!(format!("{ALONE:?}"), "Barrier { parties: 1, .. }");
}

#[test]
fn a_cancelled_party_still_waits() {
    alone(|| {
        let barrier = Barrier::new(2);
        let arrived = AtomicUsize::new(0);
        pirn::scope(|s| {
            let fiber = s.spawn(|| {
                arrived.fetch_add(1, Ordering::SeqCst);
                assert!(!barrier.wait().is_leader());
                arrived.fetch_add(1, Ordering::SeqCst);
            });
            until(&arrived, 1);
            fiber.cancel();
            pirn::yield_now();
            let early = arrived.load(Ordering::SeqCst);
            assert!(barrier.wait().is_leader());
            fiber.join().unwrap();
            assert_eq!(early, 1);
        });
    });
}
