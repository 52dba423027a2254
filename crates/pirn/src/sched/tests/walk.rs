//! A walk in pieces: what a worker does in one round.

use crate::sched::roll::Question;
use crate::sched::walk::Want;
use crate::{Runtime, spawn};

/// A worker that has thousands of fibers visits a fraction of them in one round, in the order of its
/// list, and those behind them in the next.
#[test]
fn a_round_visits_some() {
    const FIBERS: usize = 5_000;
    let runtime = Runtime::builder().workers(1).build().expect("a runtime");
    let fibers: Vec<_> = (0..FIBERS)
        .map(|_| runtime.spawn(spawn::park_interruptible))
        .collect();
    while runtime.metrics().total.fiber_parks < FIBERS as u64 {
        std::thread::yield_now();
    }
    let pool = runtime.handle().pool().clone();
    let (mut visited, mut rounds, mut ids) = (0, 0, Vec::new());
    while visited < FIBERS {
        let mut wants = vec![None; pool.remotes.len()];
        wants[0] = Some(Want {
            left: FIBERS - visited,
            describe: FIBERS,
            frames: 0,
        });
        let answers = match pool.is_free() {
            true => pool.survey_pieces(&wants),
            false => pool.ask(Question::Piece, &wants).workers,
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
