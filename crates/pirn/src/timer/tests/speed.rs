//! Measures how long an arm and a disarm take. Ignored: it prints, and a shared machine gives no
//! verdict. `cargo test --release -p pirn timer::tests::speed -- --ignored --nocapture`

use super::fixture::{Fixture, magnitude};
use crate::base::rng::Rng;
use crate::shim::now;

/// Prints nanoseconds per arm and disarm, with others armed around it.
#[test]
#[ignore = "prints a timing"]
fn arm_and_disarm() {
    const ROUNDS: u64 = 10_000_000;
    for others in [0_usize, 1_000, 1_000_000] {
        let mut rng = Rng::new(1);
        let mut fixture = Fixture::new(0, others + 1);
        for id in 1..=others {
            fixture.arm(id, 1 + magnitude(&mut rng, 40));
        }
        let deadlines: Vec<u64> = (0..1024)
            .map(|_| 1_000_000 + magnitude(&mut rng, 36))
            .collect();
        let mut best = f64::MAX;
        for _ in 0..5 {
            let start = now();
            for round in 0..ROUNDS {
                fixture.arm(0, deadlines[round as usize % deadlines.len()]);
                assert!(fixture.disarm(0));
            }
            best =
                best.min(now().duration_since(start).as_nanos() as f64 / ROUNDS as f64);
        }
        println!("arm + disarm beside {others} timers: {best:.1} ns");
    }
}

/// Prints nanoseconds per timer that is armed, moved down and fired.
#[test]
#[ignore = "prints a timing"]
fn arm_and_fire() {
    const TIMERS: usize = 1_000_000;
    let mut rng = Rng::new(2);
    let mut fixture = Fixture::new(0, TIMERS);
    let start = now();
    for id in 0..TIMERS {
        fixture.arm(id, rng.below(10_000_000_000) as u64);
    }
    let mut fired = 0;
    while let Some(at) = fixture.wheel().next_deadline() {
        fixture.wheel_mut().advance(at, |_| fired += 1);
    }
    assert_eq!(fired, TIMERS);
    let each = now().duration_since(start).as_nanos() as f64 / TIMERS as f64;
    println!("arm + fire within 10 s, {TIMERS} timers: {each:.1} ns each");
}
