//! What a fiber of a deterministic runtime asks of the run of its worker: its begin, its end, its
//! choices, its time.
//!
//! Does not own: the run (`run`, with its states).

use std::time::Instant;

use crate::base::choice::{Choose, Pick, Property};
use crate::fiber::{FiberId, current};
use crate::sched::deterministic::run::{Ended, Run};
use crate::sched::deterministic::seeded::Seeded;
use crate::sched::worker::run::Worker;
use crate::wait::reason::Reason;
use crate::wait::{Spec, park};

/// Calls `f` with the deterministic part of the caller's worker.
///
/// # Panics
/// If the caller is not a fiber of a deterministic runtime.
fn with_seeded<R>(f: impl FnOnce(&Seeded) -> R) -> R {
    let worker = Worker::of(current::local());
    let seeded = worker.and_then(|worker| worker.seeded.as_ref());
    f(seeded.expect("the caller is not a fiber of a deterministic runtime"))
}

/// Begins a run with `most` choices at most, with the caller as its runner. Each operation that
/// other fibers notice is a choice then.
///
/// # Panics
/// If the caller is not a fiber of a deterministic runtime, or there is a run.
pub(crate) fn begin(strategy: Box<dyn Choose>, most: u64) {
    let local = current::local();
    let runner = local.fiber().expect("the caller is no fiber");
    with_seeded(|seeded| seeded.begin_run(Run::new(strategy, most, runner)));
    local.set_chooses(true);
}

/// Waits until the run has ended.
///
/// # Panics
/// If the caller is not the runner of a run.
pub(crate) fn settle() -> Ended {
    let ticket = park::ticket();
    with_seeded(|seeded| {
        let mut run = seeded.run.borrow_mut();
        let run = run.as_mut().expect("sim::settle: no run has begun");
        assert!(run.runner == ticket.fiber(), "the caller is not the runner");
        run.ticket = Some(ticket);
    });
    let _ = park::park(ticket, &Spec::of(Reason::Run));
    let end = |seeded: &Seeded| seeded.run.borrow().as_ref().and_then(|run| run.ended);
    let ended = with_seeded(end);
    ended.expect("only the end of the run wakes the runner")
}

/// Finishes the run; returns its strategy. Fibers that are still ready never run again. Until then,
/// an ended run resumes only its runner.
///
/// # Panics
/// If there is no run.
pub(crate) fn finish() -> Box<dyn Choose> {
    let run = with_seeded(|seeded| seeded.run.take());
    let run = run.expect("sim::finish: no run has begun");
    current::local().set_chooses(false);
    run.strategy
}

/// Returns the number below `count` that the strategy picks; 0 if it does not say.
///
/// # Panics
/// If the caller is not a fiber of a deterministic runtime.
pub(in crate::sched) fn pick(pick: Pick, count: usize) -> usize {
    with_seeded(|seeded| {
        let mut run = seeded.run.borrow_mut();
        let picked = run.as_mut().and_then(|run| run.strategy.pick(pick, count));
        picked.filter(|picked| *picked < count).unwrap_or(0)
    })
}

/// Passes a property to the strategy, if there is a run.
pub(crate) fn note(property: Property) {
    with_seeded(|seeded| {
        if let Some(run) = &mut *seeded.run.borrow_mut() {
            run.strategy.observe(property);
        }
    });
}

/// Returns the virtual time.
///
/// # Panics
/// If the caller is not on the worker of a deterministic runtime.
pub(crate) fn now() -> Instant {
    with_seeded(Seeded::present)
}

/// Returns the fibers of the run by number: the identity of each, and its address as an object.
///
/// # Panics
/// If there is no run.
pub(crate) fn fibers() -> Vec<(FiberId, usize)> {
    with_seeded(|seeded| {
        let run = seeded.run.borrow();
        let run = run.as_ref().expect("sim::fibers: no run has begun");
        run.identities.clone()
    })
}

/// Returns the number of fibers of the caller's runtime that have not ended, the caller included.
///
/// # Panics
/// If the caller is not on a worker.
pub(crate) fn live() -> u64 {
    Worker::here(current::local()).pool.live()
}
