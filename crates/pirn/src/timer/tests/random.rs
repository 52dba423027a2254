//! Random programs of arm, disarm and advance, against a sorted map.

use std::collections::BTreeMap;

use super::super::ticks::TICK_NS;
use super::fixture::{Fixture, magnitude};
use crate::base::rng::Rng;

/// The specification of the wheel: a map from (tick, order of arming) to the timer.
struct Model {
    due: BTreeMap<(u64, u64), usize>,
    armed: Vec<Option<(u64, u64, u64)>>,
    now: u64,
    armings: u64,
}

impl Model {
    fn arm(&mut self, id: usize, deadline: u64) {
        self.armings += 1;
        let tick = deadline.div_ceil(TICK_NS).max(self.now / TICK_NS);
        self.due.insert((tick, self.armings), id);
        self.armed[id] = Some((tick, self.armings, deadline));
    }

    fn disarm(&mut self, id: usize) -> bool {
        let Some((tick, order, _)) = self.armed[id].take() else {
            return false;
        };
        self.due.remove(&(tick, order)).is_some()
    }

    fn advance(&mut self, now: u64) -> Vec<usize> {
        self.now = self.now.max(now);
        let later = self.due.split_off(&(self.now / TICK_NS + 1, 0));
        let fired: Vec<usize> = std::mem::replace(&mut self.due, later)
            .into_values()
            .collect();
        for &id in &fired {
            let (_, _, deadline) = self.armed[id].take().unwrap();
            assert!(deadline <= self.now, "the model itself is early");
        }
        fired
    }
}

/// The parameters of a random program.
struct Program {
    timers: usize,
    /// For each advance, about 7/3 times this many timers are armed or disarmed.
    changes: usize,
    start: u64,
    /// The most bits of a random delay.
    bits: u32,
    steps: usize,
}

/// Few timers, far apart.
fn sparse(start: u64, bits: u32) -> Program {
    Program {
        timers: 64,
        changes: 1,
        start,
        bits,
        steps: 2_000,
    }
}

fn run(seed: u64, program: Program) {
    let Program {
        timers,
        changes,
        start,
        bits,
        steps,
    } = program;
    let mut rng = Rng::new(seed);
    let mut fixture = Fixture::new(start, timers);
    let mut model = Model {
        due: BTreeMap::new(),
        armed: vec![None; timers],
        now: start,
        armings: 0,
    };
    let mut disarmed_since_idle = false;
    for step in 0..steps {
        let id = rng.below(timers);
        let choice = rng.below(7 * changes + 3);
        match choice / changes {
            0..=4 if model.armed[id].is_none() => {
                let deadline = match rng.below(8) {
                    0 => model.now.saturating_sub(magnitude(&mut rng, bits)),
                    1 => u64::MAX - magnitude(&mut rng, 20),
                    // Shares its tick or slot with others.
                    2 => (model.now | magnitude(&mut rng, bits)) & !(TICK_NS - 1),
                    _ => model.now.saturating_add(magnitude(&mut rng, bits)),
                };
                fixture.arm(id, deadline);
                model.arm(id, deadline);
            }
            0..=6 => {
                disarmed_since_idle |= model.armed[id].is_some();
                assert_eq!(
                    fixture.disarm(id),
                    model.disarm(id),
                    "seed {seed} step {step}"
                );
            }
            _ => {
                let now = match rng.below(4) {
                    0 => fixture.wheel().next_deadline().unwrap_or(model.now),
                    1 => model.now.saturating_add(magnitude(&mut rng, 20)),
                    _ => model.now.saturating_add(magnitude(&mut rng, bits)),
                };
                let fired = fixture.advance(now);
                assert_eq!(fired, model.advance(now), "seed {seed} step {step}");
            }
        }
        assert_eq!(
            fixture.wheel().len(),
            model.due.len(),
            "seed {seed} step {step}"
        );
        disarmed_since_idle &= !fixture.wheel().is_empty();
        let first = model.due.keys().map(|&(tick, _)| tick).next();
        let first = first.and_then(|tick| tick.checked_mul(TICK_NS));
        let next = fixture.wheel().next_deadline();
        if disarmed_since_idle {
            assert!(next <= first.or(next), "overslept: seed {seed} step {step}");
            assert_eq!(next.is_none(), first.is_none(), "seed {seed} step {step}");
        } else {
            assert_eq!(next, first, "seed {seed} step {step}");
        }
    }
}

#[test]
fn agrees_with_a_sorted_map() {
    for seed in 0..200 {
        run(seed, sparse(0, 18 + (seed % 40) as u32));
    }
}

/// More timers in a slot than one `advance` moves down ahead of time.
#[test]
fn agrees_with_a_sorted_map_when_slots_are_full() {
    for seed in 500..516 {
        let program = Program {
            timers: 2_000,
            changes: 300,
            start: 0,
            bits: 23 + (seed % 8) as u32,
            // One thread, so there is no race to find.
            steps: if cfg!(pirn_tsan) { 20_000 } else { 200_000 },
        };
        run(seed, program);
    }
}

#[test]
fn agrees_with_a_sorted_map_from_any_start() {
    for seed in 1_000..1_100 {
        let start = Rng::new(seed).next_u64() >> 1;
        run(seed, sparse(start, 18 + (seed % 44) as u32));
    }
}

#[test]
fn agrees_with_a_sorted_map_at_the_end_of_time() {
    for seed in 2_000..2_100 {
        let start = u64::MAX - magnitude(&mut Rng::new(seed), 40);
        run(seed, sparse(start, 36));
    }
}
