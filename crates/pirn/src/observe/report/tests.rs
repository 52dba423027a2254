//! A walk in pieces: the work of one round, and the marks of fibers that no round has reached.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::question::Want;
use super::snapshot::ask;
use super::survey::{survey_links, survey_pieces};
use super::walk::{first_wants, listed};
use super::{Question, WorkerInfo, begin_walk, describe_all, walk};
use crate::{Interrupt, JoinHandle, Runtime, shim, spawn};

/// A worker that has thousands of fibers visits a fraction of them in one round, in the order of
/// its list, and those behind them in the next.
// Proves: P15.
#[test]
fn a_round_visits_some() {
    const FIBERS: usize = 5_000;
    let runtime = Runtime::builder().workers(1).build().expect("a runtime");
    let fibers = parked(&runtime, FIBERS);
    let mut ids = Vec::new();
    let rounds = rounds(&runtime, FIBERS, Question::Piece, |piece| {
        ids.extend(piece.fibers.iter().map(|fiber| fiber.id));
    });
    assert!(rounds > 2, "{rounds} rounds");
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), FIBERS, "each is visited once");
    for fiber in &fibers {
        fiber.cancel();
    }
}

/// Reports list fibers in one order, wherever the last walk has ended.
// Proves: P4.
#[test]
fn a_walk_does_not_change_the_order() {
    let runtime = Runtime::builder().workers(1).build().expect("a runtime");
    let fibers = parked(&runtime, 10);
    let pool = runtime.handle().pool().clone();
    // On a busy machine the worker may be late.
    let listed = || loop {
        let listed = describe_all(&pool).fibers();
        if listed.len() == fibers.len() {
            break listed.iter().map(|fiber| fiber.id).collect::<Vec<_>>();
        }
    };
    // The detector of the process would end a walk elsewhere.
    let turn = begin_walk(&pool, shim::now() + Duration::from_secs(60));
    let _turn = turn.expect("other walks end");
    let before = listed();
    let mut wants = vec![None; pool.places()];
    wants[0] = Some(Want {
        left: 3,
        describe: 3,
        frames: 0,
    });
    let mut visited = 0;
    while visited == 0 {
        let answers = match pool.is_free() {
            true => survey_pieces(&pool, Question::Piece, &wants),
            false => ask(&pool, Question::Piece, &wants).workers,
        };
        visited = answers.iter().map(|answer| answer.visited).sum();
    }
    assert_eq!(listed(), before);
    for fiber in &fibers {
        fiber.cancel();
    }
}

/// The detector reads links in pieces too: no piece covers all fibers.
// Proves: P6.
#[test]
fn a_look_for_cycles_reads_some() {
    const FIBERS: usize = 20_000;
    let runtime = Runtime::builder().workers(1).build().expect("a runtime");
    let fibers = parked(&runtime, FIBERS);
    rounds(&runtime, FIBERS, Question::Links, |_| {});
    for fiber in &fibers {
        fiber.cancel();
    }
}

/// A request for one fiber reads the others in pieces too, and describes none of them.
// Proves: P15.
#[test]
fn a_look_for_one_fiber_reads_some() {
    const FIBERS: usize = 20_000;
    let runtime = Runtime::builder().workers(1).build().expect("a runtime");
    let fibers = parked(&runtime, FIBERS);
    let wanted = fibers[FIBERS / 2].fiber().id();
    let mut found = Vec::new();
    rounds(
        &runtime,
        FIBERS,
        Question::Fiber(wanted.number()),
        |piece| {
            found.extend(piece.fibers.iter().map(|fiber| fiber.id));
        },
    );
    assert!(found.iter().all(|id| *id == wanted), "{found:?}");
    for fiber in &fibers {
        fiber.cancel();
    }
}

/// Spawns fibers that wait until they are cancelled; returns when all wait.
fn parked(runtime: &Runtime, fibers: usize) -> Vec<JoinHandle<Result<(), Interrupt>>> {
    let spawn = |_| runtime.spawn(spawn::park_interruptible);
    let all = (0..fibers).map(spawn).collect();
    while runtime.metrics().total.fiber_parks < fibers as u64 {
        thread::yield_now();
    }
    all
}

/// Asks the one worker of `runtime` for all of its fibers, a piece at a time. Returns the number of
/// pieces.
fn rounds(
    runtime: &Runtime,
    fibers: usize,
    question: Question,
    mut each: impl FnMut(&WorkerInfo),
) -> u32 {
    let pool = runtime.handle().pool().clone();
    // The detector of the process would move fibers between two pieces.
    let turn = begin_walk(&pool, shim::now() + Duration::from_secs(60));
    let _turn = turn.expect("other walks end");
    let (mut visited, mut rounds) = (0, 0);
    while visited < fibers {
        let mut wants = vec![None; pool.places()];
        wants[0] = Some(Want {
            left: fibers - visited,
            describe: fibers,
            frames: 0,
        });
        let answers = match (pool.is_free(), question) {
            (false, _) => ask(&pool, question, &wants).workers,
            (true, Question::Links) => survey_links(&pool, &wants),
            (true, _) => survey_pieces(&pool, question, &wants),
        };
        // On a busy machine it may be late.
        let [piece] = &answers[..] else {
            panic!("{} answers", answers.len());
        };
        if piece.answered {
            let visits = 1..fibers;
            assert!(
                visits.contains(&piece.visited),
                "{} in a round",
                piece.visited
            );
            visited += piece.visited;
            rounds += 1;
            each(piece);
        }
    }
    rounds
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
    let (question, is_over) = (Question::Piece, || shim::now() >= until);
    let walk = walk(&pool, question, usize::MAX, 0, &is_over, &mut |fiber| {
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

/// A worker that is added while a walk begins is not part of it.
#[test]
fn a_worker_may_be_added_meanwhile() {
    let runtime = Runtime::builder().workers(1).build().expect("a runtime");
    let fiber = runtime.spawn(spawn::park_interruptible);
    while runtime.metrics().total.fiber_parks == 0 {
        thread::yield_now();
    }
    let pool = runtime.handle().pool().clone();
    let wants = first_wants(&pool, usize::MAX, 0);
    runtime.set_workers(NonZeroUsize::new(3).expect("not 0"));
    let begun = Arc::new(AtomicBool::new(false));
    let busy = (0..8).map(|_| {
        let begun = Arc::clone(&begun);
        runtime.spawn(move || {
            while !begun.load(Ordering::Acquire) {
                crate::yield_now();
            }
        })
    });
    let busy: Vec<_> = busy.collect();
    while !(1..3).any(|worker| pool.remote(worker).is_launched()) {
        thread::yield_now();
    }
    let listed: Vec<usize> = listed(&pool, &wants).iter().map(|it| it.worker).collect();
    let answers = match pool.is_free() {
        true => survey_pieces(&pool, Question::Piece, &wants),
        false => ask(&pool, Question::Piece, &wants).workers,
    };
    let answers: Vec<usize> = answers.iter().map(|it| it.worker).collect();
    begun.store(true, Ordering::Release);
    busy.into_iter().for_each(|it| it.join().expect("it ends"));
    fiber.cancel();
    assert_eq!((listed, answers), (vec![0], vec![0]));
}
