//! Trees of joins in which halves panic, wait, are shielded and cancelled; the long versions are in
//! `tests/stress`.

use crate::cancel_fuzz::again_and_again;
use crate::par_games::{Tree, cancel_amid, join_in_flat_memory, wait_for_each_other};
use crate::util::{on_every_shape, scaled, shaped};

/// The result equals that of plain calls, wherever a half waits or panics.
// Proves: O9-join.
#[test]
fn trees_of_all_kinds() {
    on_every_shape(|runtime| {
        for seed in 0..scaled(30) {
            let tree = Tree::new(seed, 7, false);
            tree.check(runtime.run(|| tree.run()));
        }
    });
}

/// The same with cancellations meanwhile, while workers start and stop.
// Proves: O9-region.
#[test]
fn cancellations_amid_trees() {
    again_and_again(25, |runtime, seed| cancel_amid(runtime, seed, 6));
}

/// Halves park in the middle, on one worker as on many, and none is forgotten.
// Proves: O9-join.
#[test]
fn halves_wait_for_each_other() {
    on_every_shape(|runtime| wait_for_each_other(runtime, scaled(500)));
}

/// A million joins in a row leave nothing behind.
// Proves: O9-cost.
#[test]
#[ignore = "alone: run by `cargo xtask timing`"]
fn alone_joins_in_flat_memory() {
    let joins = if cfg!(debug_assertions) {
        100_000
    } else {
        1_000_000
    };
    join_in_flat_memory(&shaped(2, crate::util::SCHEDULERS[0]), scaled(joins));
}
