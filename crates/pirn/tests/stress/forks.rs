//! Joins by the million, and events in the middle of them.

use crate::par_fixture::lengths;
use crate::par_games::{
    Tree, cancel_amid, end_amid, join_in_flat_memory, wait_for_each_other,
};
use crate::par_patterns::{compare, patterns};
use crate::util::{SCHEDULERS, on_every_shape, scaled};

const MILLION: usize = 1_000_000;

/// Trees of a thousand joins each, with panics, deadlines, shields and waits: two million joins in
/// all.
// Proves: O9-join.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn trees_of_all_kinds() {
    on_every_shape(|runtime| {
        for seed in 0..scaled(250) {
            let tree = Tree::new(1_000 + seed, 10, false);
            tree.check(runtime.run(|| tree.run()));
        }
    });
}

/// Fibers that walk a tree are cancelled.
// Proves: O9-region.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn cancellations_amid_trees() {
    on_every_shape(|runtime| {
        for seed in 0..scaled(300) {
            cancel_amid(runtime, 1_000 + seed, 8);
        }
    });
}

/// First halves that wait for second ones, by channels and locks.
// Proves: O9-join.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn halves_wait_for_each_other() {
    on_every_shape(|runtime| wait_for_each_other(runtime, scaled(20_000)));
}

/// Ten million joins, of which a million become fibers: memory use stays constant.
// Proves: O9-cost.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn alone_ten_million_joins() {
    on_every_shape(|runtime| join_in_flat_memory(runtime, scaled(10 * MILLION)));
}

/// Shutdowns in the middle of joins, loops and sorts.
// Proves: O9-end.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn shutdowns_amid_all_of_it() {
    for scheduler in SCHEDULERS {
        for workers in [1, 2, 4, 8] {
            for seed in 0..scaled(200) {
                end_amid(workers, scheduler, 1_000 + seed);
            }
        }
    }
}

/// All sorts of all patterns, up to ten thousand numbers.
// Proves: O9.
#[test]
#[ignore = "a storm: run by `cargo xtask stress`"]
fn everything_is_sorted() {
    on_every_shape(|runtime| {
        for n in lengths() {
            for pattern in patterns(n.min(scaled(10_000))) {
                runtime.run(|| compare(&pattern));
            }
        }
    });
}
