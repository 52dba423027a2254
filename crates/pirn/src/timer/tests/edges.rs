//! Rounding, order, far deadlines, the end of `u64`, and what a full wheel costs.

use super::super::ticks::TICK_NS;
use super::fixture::{Fixture, magnitude};
use crate::base::rng::Rng;

const MS: u64 = 1_000_000;
const DAY: u64 = 86_400_000 * MS;

// Proves: N1.
#[test]
fn never_early_and_at_most_one_tick_late() {
    for deadline in [
        1,
        TICK_NS - 1,
        TICK_NS,
        TICK_NS + 1,
        63 * TICK_NS + 7,
        10 * MS,
        DAY,
    ] {
        let mut fixture = Fixture::new(0, 1);
        fixture.arm(0, deadline);
        assert_eq!(fixture.advance(deadline - 1), [], "deadline {deadline}");
        assert_eq!(
            fixture.advance(deadline + TICK_NS - 1),
            [0],
            "deadline {deadline}"
        );
    }
}

#[test]
fn next_deadline_is_the_tick_of_the_first_timer_at_any_distance() {
    for exponent in 0..63 {
        let mut fixture = Fixture::new(0, 1);
        let deadline = (1_u64 << exponent) + 1;
        fixture.arm(0, deadline);
        let at = fixture.wheel().next_deadline().unwrap();
        assert!(
            (deadline..deadline + TICK_NS).contains(&at),
            "2^{exponent}: {at}"
        );
        assert_eq!(fixture.advance(at), [0]);
        assert_eq!(fixture.wheel().next_deadline(), None);
    }
}

#[test]
fn a_passed_deadline_fires_at_the_next_advance_even_at_the_same_time() {
    let now = 5 * DAY + 12_345;
    let mut fixture = Fixture::new(now, 3);
    fixture.arm(0, 0);
    fixture.arm(1, now - TICK_NS);
    assert!(fixture.wheel().next_deadline().unwrap() <= now);
    assert_eq!(fixture.advance(now), [0, 1]);
    fixture.arm(2, now - 2 * TICK_NS);
    assert_eq!(fixture.advance(now), [2]);
}

#[test]
fn one_tick_fires_in_order_of_arming_wherever_the_timers_came_from() {
    let mut fixture = Fixture::new(0, 6);
    let deadline = 3 * DAY;
    fixture.arm(0, deadline);
    fixture.arm(1, deadline - 1);
    assert_eq!(fixture.advance(2 * DAY), []);
    fixture.arm(2, deadline);
    assert_eq!(fixture.advance(deadline - 100 * MS), []);
    fixture.arm(3, deadline - 2);
    assert_eq!(fixture.advance(deadline - MS), []);
    fixture.arm(4, deadline);
    fixture.arm(5, deadline - TICK_NS);
    assert_eq!(fixture.advance(deadline + TICK_NS), [5, 0, 1, 2, 3, 4]);
}

#[test]
fn one_leap_over_all_levels_fires_everything_in_order() {
    let mut fixture = Fixture::new(777, 48);
    for id in (0..48).rev() {
        fixture.arm(id, TICK_NS << id);
    }
    assert_eq!(fixture.advance(u64::MAX), (0..48).collect::<Vec<_>>());
    assert!(fixture.wheel().is_empty());
}

#[test]
fn time_standing_at_a_slot_boundary_of_each_level_loses_nothing() {
    for level in 1..8 {
        let boundary = TICK_NS << (6 * level);
        let mut fixture = Fixture::new(boundary - TICK_NS, 4);
        fixture.arm(0, boundary - 1);
        fixture.arm(1, boundary);
        fixture.arm(2, boundary + 1);
        fixture.arm(3, 2 * boundary);
        assert_eq!(fixture.advance(boundary - 1), []);
        assert_eq!(fixture.advance(boundary), [0, 1]);
        assert_eq!(fixture.advance(boundary), []);
        assert_eq!(fixture.advance(boundary + TICK_NS), [2]);
        assert_eq!(fixture.advance(2 * boundary - 1), []);
        assert_eq!(fixture.advance(2 * boundary), [3]);
    }
}

#[test]
fn a_deadline_at_the_end_of_time_is_armed_and_never_due() {
    let mut fixture = Fixture::new(0, 2);
    fixture.arm(0, u64::MAX);
    assert_eq!(fixture.wheel().next_deadline(), None);
    assert_eq!(fixture.wheel().len(), 1);
    assert_eq!(fixture.advance(u64::MAX), []);
    fixture.arm(1, u64::MAX);
    assert!(fixture.disarm(1));
    assert!(fixture.disarm(0));
    assert!(!fixture.disarm(0));
    assert!(fixture.wheel().is_empty());
}

#[test]
fn the_last_tick_that_exists_fires() {
    let last = u64::MAX - (TICK_NS - 1);
    let mut fixture = Fixture::new(0, 2);
    fixture.arm(0, last);
    fixture.arm(1, last - TICK_NS + 1);
    assert_eq!(fixture.wheel().next_deadline(), Some(last));
    assert_eq!(fixture.advance(last - 1), []);
    assert_eq!(fixture.advance(last), [0, 1]);
    assert_eq!(fixture.wheel().next_deadline(), None);
}

#[test]
fn a_clock_that_steps_back_does_no_harm() {
    let mut fixture = Fixture::new(100 * MS, 2);
    fixture.arm(0, 110 * MS);
    assert_eq!(fixture.advance(105 * MS), []);
    assert_eq!(fixture.advance(0), []);
    fixture.arm(1, 50 * MS);
    assert_eq!(fixture.advance(106 * MS), [1]);
    assert_eq!(fixture.advance(111 * MS), [0]);
}

#[test]
fn disarming_the_first_leaves_a_bound_that_never_oversleeps() {
    let mut fixture = Fixture::new(0, 2);
    fixture.arm(0, 300 * MS);
    fixture.arm(1, 310 * MS);
    assert!(fixture.disarm(0));
    let mut looks = 0;
    while !fixture.wheel().is_empty() {
        let at = fixture.wheel().next_deadline().unwrap();
        assert!(at < 310 * MS + TICK_NS);
        looks += 1;
        fixture.advance(at);
    }
    assert!(looks <= 2, "{looks} looks for one timer");
}

// Proves: N1.
#[test]
fn a_million_timers_fire_once_each_at_their_tick() {
    const TIMERS: usize = 1_000_000;
    let mut fixture = Fixture::new(0, TIMERS);
    let deadline = |id: usize| (id as u64).wrapping_mul(0x9e37_79b9) % (30_000 * MS);
    for id in 0..TIMERS {
        fixture.arm(id, deadline(id));
    }
    for id in (0..TIMERS).step_by(2) {
        assert!(fixture.disarm(id));
    }
    assert_eq!(fixture.wheel().len(), TIMERS / 2);
    let mut fired = vec![false; TIMERS];
    let mut advances = 0;
    while let Some(at) = fixture.wheel().next_deadline() {
        for id in fixture.advance(at) {
            assert!(deadline(id) <= at && at < deadline(id) + TICK_NS + 1);
            assert!(!std::mem::replace(&mut fired[id], true));
        }
        advances += 1;
    }
    assert_eq!(fired.iter().filter(|&&fired| fired).count(), TIMERS / 2);
    assert!(fired.iter().step_by(2).all(|&fired| !fired));
    // 30 s contain 457,764 ticks; stale bounds may add one check per slot of the levels above.
    assert!(advances < 470_000, "{advances} advances");
}

// Proves: N1.
#[test]
fn a_regular_look_never_moves_many_at_once() {
    const TIMERS: usize = 20_000;
    let mut fixture = Fixture::new(0, TIMERS);
    let mut rng = Rng::new(1);
    for id in 0..TIMERS {
        // Within the second and third slots of the third level.
        fixture.arm(
            id,
            (270 + rng.below(530) as u64) * MS + rng.below(1_000_000) as u64,
        );
    }
    let most = (0..805)
        .map(|ms| fixture.advance_counting_moves(ms * MS))
        .max();
    // 38 timers are due in each millisecond, 160 in a slot of the second level. Without moves
    // ahead of time it is 10,000.
    assert!(most < Some(500), "{most:?} at once");
    assert!(fixture.wheel().is_empty());
}

// Proves: N1.
#[test]
fn a_coarse_timer_is_late_by_less_than_a_thousandth_of_its_wait() {
    let mut rng = Rng::new(2);
    for _ in 0..10_000 {
        let now = magnitude(&mut rng, 62);
        let wait = magnitude(&mut rng, 62);
        let mut fixture = Fixture::new(now, 1);
        fixture.arm_coarse(0, now + wait);
        let at = fixture.wheel().next_deadline().unwrap();
        let late = at - (now + wait);
        let most = (wait / 1024).clamp(TICK_NS, 16 * TICK_NS) + TICK_NS;
        assert!(late < most, "{wait} from {now} is {late} late");
        assert_eq!(fixture.advance(at), [0]);
    }
}

#[test]
fn coarse_timers_that_are_due_within_a_grain_fire_together() {
    let mut fixture = Fixture::new(0, 100);
    for id in 0..100 {
        fixture.arm_coarse(id, 2_000 * MS + id as u64 * 10_000);
    }
    let mut looks = 0;
    while let Some(at) = fixture.wheel().next_deadline() {
        fixture.advance(at);
        looks += 1;
    }
    assert!(looks <= 2 + 2, "{looks} looks for one millisecond");
}

#[test]
fn a_coarse_deadline_at_the_end_of_time_never_fires() {
    let mut fixture = Fixture::new(0, 2);
    fixture.arm_coarse(0, u64::MAX);
    fixture.arm_coarse(1, u64::MAX - MS / 2);
    assert_eq!(fixture.advance(u64::MAX), []);
}

#[test]
fn a_panic_in_the_callback_loses_only_its_timer() {
    let mut fixture = Fixture::new(0, 3);
    for id in 0..3 {
        fixture.arm(id, MS);
    }
    let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        fixture
            .wheel_mut()
            .advance(2 * MS, |id| assert_ne!(id, 1, "on purpose"));
    }));
    assert!(unwound.is_err());
    assert_eq!(fixture.wheel().len(), 1);
    assert_eq!(fixture.advance(2 * MS), [2]);
}
