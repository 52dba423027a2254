//! A walk in pieces: the work of one round, and the marks of fibers that no round has reached.

use std::thread;
use std::time::Duration;

use super::question::Want;
use super::snapshot::ask;
use super::survey::survey_pieces;
use super::{Question, begin_walk, walk};
use crate::{Runtime, shim, spawn};

/// A worker that has thousands of fibers visits a fraction of them in one round, in the order of
/// its list, and those behind them in the next.
// Proves: P15.
#[test]
fn a_round_visits_some() {
    const FIBERS: usize = 5_000;
    let runtime = Runtime::builder().workers(1).build().expect("a runtime");
    let fibers: Vec<_> = (0..FIBERS)
        .map(|_| runtime.spawn(spawn::park_interruptible))
        .collect();
    while runtime.metrics().total.fiber_parks < FIBERS as u64 {
        thread::yield_now();
    }
    let pool = runtime.handle().pool().clone();
    let (mut visited, mut rounds, mut ids) = (0, 0, Vec::new());
    while visited < FIBERS {
        let mut wants = vec![None; pool.places()];
        wants[0] = Some(Want {
            left: FIBERS - visited,
            describe: FIBERS,
            frames: 0,
        });
        let answers = match pool.is_free() {
            true => survey_pieces(&pool, &wants),
            false => ask(&pool, Question::Piece, &wants).workers,
        };
        // On a busy machine it may be late.
        let [piece] = &answers[..] else {
            panic!("{} answer", answers.len());
        };
        if piece.answered {
            assert!(piece.visited < FIBERS / 2, "{} in a round", piece.visited);
            visited += piece.visited;
            rounds += 1;
            ids.extend(piece.fibers.iter().map(|fiber| fiber.id));
        }
    }
    assert!(rounds > 2, "{rounds} rounds");
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), FIBERS, "each is visited once");
    for fiber in &fibers {
        fiber.cancel();
    }
}

/// A walk that ends because its time is up is marked as incomplete, though the fibers that it has
/// visited have ended and fewer are left than it has seen.
#[test]
fn what_the_time_leaves_out_is_marked() {
    const MORTAL: usize = 2_000;
    let runtime = Runtime::builder().workers(1).build().expect("a runtime");
    let mortal: Vec<_> = (0..MORTAL)
        .map(|_| runtime.spawn(spawn::park_interruptible))
        .collect();
    let last = runtime.spawn(spawn::park_interruptible);
    while runtime.metrics().total.fiber_parks <= MORTAL as u64 {
        thread::yield_now();
    }
    let pool = runtime.handle().pool().clone();
    let until = shim::now() + Duration::from_millis(200);
    let _turn = begin_walk(&pool, until);
    let mut seen_last = false;
    let walk = walk(&pool, usize::MAX, 0, until, &mut |fiber| {
        seen_last |= fiber.id == last.fiber().id();
        mortal.iter().for_each(|fiber| fiber.cancel());
        while pool.settled(0) > 1 {
            thread::yield_now();
        }
        while shim::now() < until {
            thread::yield_now();
        }
        Ok(())
    });
    let walk = walk.expect("nothing fails here");
    let left_out: usize = walk.workers.iter().map(|it| it.left_out).sum();
    assert!(
        seen_last || left_out > 0,
        "one is missing, and it is not said"
    );
    // The walk visits none if the worker is late.
    mortal.iter().for_each(|fiber| fiber.cancel());
    last.cancel();
}
