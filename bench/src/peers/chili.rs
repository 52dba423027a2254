//! chili: fork-join only, so the cases that are trees of joins.

use std::array;
use std::num::NonZero;

use chili::{Config, Scope, ThreadPool};

use crate::case::Kind;
use crate::child::{Job, Laps, Outcome, Skip};

use super::fork;

/// A note on the use of chili.
pub(super) const NOTE: &str = "`Scope::join`; a join runs inline unless a worker is idle";

pub(super) fn run(job: &Job) -> Outcome {
    match job.kind {
        Kind::SpawnJoin => spawn_join(job),
        Kind::Skynet => skynet(job),
        Kind::Fork(work) => fork::run::<ThreadPool>(job, work),
        _ => return Err(Skip("fork-join only")),
    }
    Ok(())
}

pub(super) fn pool(workers: usize) -> ThreadPool {
    ThreadPool::with_config(Config {
        thread_count: NonZero::new(workers),
        ..Config::default()
    })
}

fn spawn_join(job: &Job) {
    let pool = pool(job.workers);
    let mut scope = pool.scope();
    let laps = Laps::of(job, || {
        for _ in 0..job.n {
            std::hint::black_box(scope.join(|_| {}, |_| {}));
        }
    });
    laps.per_operation(job.n);
}

fn skynet(job: &Job) {
    let pool = pool(job.workers);
    let mut scope = pool.scope();
    let laps = Laps::of(job, || {
        let sum = node(&mut scope, 0, job.n);
        assert_eq!(sum, job.n * (job.n - 1) / 2);
    });
    laps.milliseconds(1.0);
}

fn node(scope: &mut Scope<'_>, number: u64, leaves: u64) -> u64 {
    if leaves == 1 {
        return number;
    }
    let below = leaves / 10;
    let children: [u64; 10] = array::from_fn(|index| number + index as u64 * below);
    siblings(scope, &children, below)
}

/// Ten children by joins of two: chili has no other form.
fn siblings(scope: &mut Scope<'_>, children: &[u64], leaves: u64) -> u64 {
    match children {
        [] => 0,
        [one] => node(scope, *one, leaves),
        many => {
            let (left, right) = many.split_at(many.len() / 2);
            let (a, b) = scope.join(
                |scope| siblings(scope, left, leaves),
                |scope| siblings(scope, right, leaves),
            );
            a + b
        }
    }
}
