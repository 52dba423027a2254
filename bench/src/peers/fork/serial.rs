//! Plain calls, one after the other: the time of the work without any library.

use crate::case::Kind;
use crate::child::{Job, Outcome, Skip};

use super::library::Library;

/// No workers.
pub(super) struct Serial;

pub(in crate::peers) fn run(job: &Job) -> Outcome {
    match job.kind {
        Kind::Fork(work) => super::run::<Serial>(job, work),
        _ => return Err(Skip("fork-join and gzip only")),
    }
    Ok(())
}

impl Library for Serial {
    type Scope<'a> = ();

    fn start(_workers: usize) -> Serial {
        Serial
    }

    fn enter<R: Send>(&self, work: impl FnOnce(&mut ()) -> R + Send) -> R {
        work(&mut ())
    }

    fn join<A: Send, B: Send>(
        scope: &mut (),
        a: impl FnOnce(&mut ()) -> A + Send,
        b: impl FnOnce(&mut ()) -> B + Send,
    ) -> (A, B) {
        (a(scope), b(scope))
    }

    fn sum(_scope: &mut (), values: &[u64]) -> u64 {
        values.iter().sum()
    }
}
