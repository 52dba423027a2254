//! Channels that close while values pass through them.

use crate::channel_games::{CAPACITIES, cascade, close_amid};
use crate::executor_kind::{CREWS, Crew};
use crate::util::scaled;

fn with_all(storm: impl Fn(Crew, usize, usize)) {
    for workers in [1, 2, 4, 8] {
        for crew in CREWS {
            for capacity in CAPACITIES {
                storm(crew, workers, capacity);
            }
        }
    }
}

/// Each value admitted before a close arrives; every other one is returned.
// Proves: A9.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn closes_amid_traffic() {
    with_all(|crew, workers, capacity| {
        close_amid(crew, workers, capacity, scaled(120));
    });
}

/// Pipelines end stage by stage.
// Proves: I8.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn closes_cascade() {
    with_all(|crew, workers, capacity| {
        cascade(crew, workers, capacity, scaled(2_000));
    });
}
