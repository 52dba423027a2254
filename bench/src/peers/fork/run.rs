//! Maps a case to its workload.

use crate::case::Fork;
use crate::child::Job;

use super::late::late;
use super::library::Library;
use super::timing::{frames, rounds};
use super::work::{Fib, Frame, Mandelbrot, Matmul, Queens, Sort, Sum, Tree};

/// Runs the workload of the case with this library and prints its samples.
pub(in crate::peers) fn run<L: Library + Sync>(job: &Job, work: Fork) {
    match work {
        Fork::Fib => rounds::<L>(job, Fib::new(job.n)),
        Fork::Tree => rounds::<L>(job, Tree::new(job.n)),
        Fork::Sum => rounds::<L>(job, Sum::new(job.n)),
        Fork::Mergesort => rounds::<L>(job, Sort::new(job.n)),
        Fork::Queens => rounds::<L>(job, Queens::new(job.n)),
        Fork::Matmul => rounds::<L>(job, Matmul::new(job.n)),
        Fork::Mandelbrot => rounds::<L>(job, Mandelbrot::new(job.n)),
        Fork::Late => late::<L>(job),
        Fork::Frames(micros) => frames::<L>(job, Frame::new(micros)),
    }
}
