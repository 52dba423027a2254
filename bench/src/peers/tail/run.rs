//! Maps a case to its program.

use std::thread;
use std::time::Duration;

use crate::case::{Kind, Tail};
use crate::child::{Job, Outcome, Skip, calibrate, fail};

use super::fresh::fresh;
use super::late::late;
use super::library::Library;
use super::message::message;
use super::programs::{blockers, pool, ring, sleepers, stages};

/// Runs the program of the case with this library and prints its samples.
pub(in crate::peers) fn run<L: Library>(job: &Job, work: Tail) -> Outcome {
    calibrate();
    give_up_later();
    let job = *job;
    match work {
        Tail::Pool(fibers) => L::run(job.workers, pool::<L>(job, fibers)),
        Tail::Sleepers => L::run(job.workers, sleepers::<L>(job)),
        Tail::Blockers => L::run(job.workers, blockers::<L>(job)),
        Tail::Ring => L::run(job.workers, ring::<L>(job)),
        Tail::Stages => L::run(job.workers, stages::<L>(job)),
        Tail::Late { hogs, hog, order } => {
            L::run(job.workers, late::<L>(job, (hogs, hog), order));
        }
        Tail::Fresh => L::run(job.workers, fresh::<L>(job)),
        Tail::Message(hogs) => L::run(job.workers, message::<L>(job, hogs)),
    }
    Ok(())
}

/// Ends the child in time if its program is starved: some schedulers never run a fiber beside
/// others that only yield.
fn give_up_later() {
    thread::spawn(|| {
        thread::sleep(PATIENCE);
        fail("starved: not done within 15 s");
    });
}

/// Arbitrary: several times the time of the slowest program.
const PATIENCE: Duration = Duration::from_secs(15);

/// As [`run`], for a peer that has no other cases.
pub(in crate::peers) fn only<L: Library>(job: &Job) -> Outcome {
    match job.kind {
        Kind::Tail(work) => run::<L>(job, work),
        _ => Err(Skip("tails only")),
    }
}
