//! Games in which some of the players are cancelled at random moments, in every way, while the
//! others must finish. If a cancelled player swallows a wake, a permit or a value, another one
//! waits indefinitely, or a count is wrong.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use pirn::Runtime;
use pirn::scope::{Scope, ScopedJoinHandle};

use crate::executor_kind::{Job, runtime};
use crate::util::{Dice, scaled};

/// The players.
pub(crate) struct Game<'a> {
    doomed: Vec<Job<'a>>,
    others: Vec<Job<'a>>,
    seed: usize,
}

impl<'a> Game<'a> {
    pub(crate) fn new(seed: usize) -> Self {
        Game {
            doomed: Vec::new(),
            others: Vec::new(),
            seed,
        }
    }

    /// Adds a player that continues until it is interrupted. It may not start at all.
    pub(crate) fn doomed(&mut self, job: impl FnOnce() + Send + 'a) {
        self.doomed.push(Box::new(job));
    }

    /// Adds a player that ends by itself, whether or not others are cancelled.
    pub(crate) fn other(&mut self, job: impl FnOnce() + Send + 'a) {
        self.others.push(Box::new(job));
    }

    /// Plays on `runtime`; returns when all players have ended.
    pub(crate) fn play(self, runtime: &Runtime) {
        let dice = Dice(self.seed as u64);
        let (others, doomed) = (self.others, self.doomed);
        runtime.run(|| {
            pirn::scope(|all| {
                for job in others {
                    all.spawn(job);
                }
                pirn::scope(|s| {
                    let doomed = doomed.into_iter().map(|job| s.spawn(job)).collect();
                    strike(s, doomed, dice);
                });
            });
        });
    }
}

/// Cancels the children of a scope, in one of the ways.
fn strike<'scope>(
    scope: &Scope<'scope, '_>,
    mut doomed: Vec<ScopedJoinHandle<'scope, ()>>,
    mut dice: Dice,
) {
    match dice.below(3) {
        // All at once.
        0 => {
            (0..dice.below(60)).for_each(|_| pirn::yield_now());
            scope.cancel();
        }
        // One after the other, by a fiber, at places where fibers switch.
        1 => {
            while !doomed.is_empty() {
                (0..dice.below(12)).for_each(|_| pirn::yield_now());
                doomed.swap_remove(dice.below(doomed.len())).cancel();
            }
        }
        // One after the other, by a thread that runs beside them.
        _ => pirn::blocking(move || {
            while !doomed.is_empty() {
                let spins = dice.below(20_000);
                (0..spins).for_each(|_| std::hint::spin_loop());
                doomed.swap_remove(dice.below(doomed.len())).cancel();
            }
        }),
    }
}

/// Plays `game` repeatedly, each time with another seed, with 1, 2, 4 and 8 workers and with a
/// number that a thread changes meanwhile. Each call sets up a game, plays it and checks the rest.
pub(crate) fn again_and_again(rounds: usize, game: impl Fn(&Runtime, usize)) {
    for workers in [1, 2, 4, 8] {
        let runtime = runtime(workers);
        play_on(&runtime, rounds, workers.ilog2() as usize, &game);
    }
    let runtime = runtime(3);
    let over = AtomicBool::new(false);
    thread::scope(|threads| {
        threads.spawn(|| {
            for size in [1, 8, 2, 5, 1, 3].into_iter().cycle() {
                if over.load(Ordering::SeqCst) {
                    break;
                }
                runtime.set_workers(NonZeroUsize::new(size).expect("is more"));
                thread::sleep(Duration::from_micros(300));
            }
        });
        let ended = catch_unwind(AssertUnwindSafe(|| {
            play_on(&runtime, rounds, 4, &game);
        }));
        over.store(true, Ordering::SeqCst);
        if let Err(panic) = ended {
            resume_unwind(panic);
        }
    });
}

fn play_on(
    runtime: &Runtime,
    rounds: usize,
    shape: usize,
    game: &impl Fn(&Runtime, usize),
) {
    for round in 0..scaled(rounds) {
        game(runtime, round * 5 + shape);
    }
    let rescues = runtime.metrics().total.rescues;
    assert_eq!(rescues, 0, "with {} workers", runtime.workers());
}

/// A count that players share.
#[derive(Clone, Default)]
pub(crate) struct Count(Arc<AtomicU64>);

impl Count {
    /// Adds one; returns the previous count.
    pub(crate) fn one(&self) -> u64 {
        self.0.fetch_add(1, Ordering::SeqCst)
    }

    pub(crate) fn add(&self, n: u64) {
        self.0.fetch_add(n, Ordering::SeqCst);
    }

    /// Subtracts one.
    pub(crate) fn back(&self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}
