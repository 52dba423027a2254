//! Maps a case to its program.

use std::thread;
use std::time::Duration;

use crate::case::Tail;
use crate::child::{Job, Outcome, calibrate, fail};

use super::library::Library;
use super::{delays, late, programs};

/// Arbitrary: several times the time of the slowest program.
const PATIENCE: Duration = Duration::from_secs(15);

/// Runs the program of the case with this library and prints its samples.
pub(in crate::peers) fn run<L: Library>(job: &Job, work: Tail) -> Outcome {
    calibrate();
    // Some schedulers never run a fiber beside others that only yield.
    thread::spawn(|| {
        thread::sleep(PATIENCE);
        fail("starved: not done within 15 s");
    });
    match work {
        Tail::Pool(fibers) => L::run(job, programs::pool::<L>(*job, fibers)),
        Tail::Sleepers => L::run(job, programs::sleepers::<L>(*job)),
        Tail::Blockers => L::run(job, programs::blockers::<L>(*job)),
        Tail::Ring => L::run(job, programs::ring::<L>(*job)),
        Tail::Stages => L::run(job, programs::stages::<L>(*job)),
        Tail::Late { hogs, hog, order } => {
            L::run(job, late::late::<L>(*job, (hogs, hog), order));
        }
        Tail::Fresh => L::run(job, delays::fresh::<L>(*job)),
        Tail::Message(hogs) => L::run(job, delays::message::<L>(*job, hogs)),
    }
    Ok(())
}
