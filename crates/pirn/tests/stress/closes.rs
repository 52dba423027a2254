//! Channels that close while values pass through them.

use crate::channel_games::{CAPACITIES, cascade, close_amid};
use crate::executor_kind::{EXECUTOR_KINDS, ExecutorKind};
use crate::util::scaled;

fn with_all(storm: impl Fn(ExecutorKind, usize, usize)) {
    for workers in [1, 2, 4, 8] {
        for executor in EXECUTOR_KINDS {
            for capacity in CAPACITIES {
                storm(executor, workers, capacity);
            }
        }
    }
}

/// Each value admitted before a close arrives; every other one is returned.
// Proves: A9.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn closes_amid_traffic() {
    with_all(|executor, workers, capacity| {
        close_amid(executor, workers, capacity, scaled(120));
    });
}

/// Pipelines end stage by stage.
// Proves: I8.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn closes_cascade() {
    with_all(|executor, workers, capacity| {
        cascade(executor, workers, capacity, scaled(2_000));
    });
}
