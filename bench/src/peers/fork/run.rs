//! Maps a case to its workload.

use crate::case::{Fork, Kind};
use crate::child::{Job, Outcome, Skip};

use super::libraries::Serial;
use super::library::Library;
use super::timing::{frames, late, rounds};
use super::work::{Counted, Fib, Frame, Mandelbrot, Matmul, Queens, Sort, Sum, Tree};

/// Runs the workload of the case with this library and prints its samples.
pub(in crate::peers) fn run<L: Library + Sync>(job: &Job, work: Fork) {
    match work {
        Fork::Fib => rounds::<L>(job, Counted::new(Fib::new(job.n))),
        Fork::Tree => rounds::<L>(job, Counted::new(Tree::new(job.n))),
        Fork::Sum => rounds::<L>(job, Counted::new(Sum::new(job.n))),
        Fork::Mergesort => rounds::<L>(job, Sort::new(job.n)),
        Fork::Queens => rounds::<L>(job, Counted::new(Queens::new(job.n))),
        Fork::Matmul => rounds::<L>(job, Matmul::new(job.n)),
        Fork::Mandelbrot => rounds::<L>(job, Mandelbrot::new(job.n)),
        Fork::Late => late::<L>(job),
        Fork::Frames(micros) => frames::<L>(job, Counted::new(Frame::new(micros))),
    }
}

/// Runs the case with plain calls.
pub(in crate::peers) fn run_serial(job: &Job) -> Outcome {
    match job.kind {
        Kind::Fork(work) => run::<Serial>(job, work),
        _ => return Err(Skip("fork-join and gzip only")),
    }
    Ok(())
}
