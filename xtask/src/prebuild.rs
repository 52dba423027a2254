//! Builds the binaries of several steps ahead, one build at a time for each processor.
//!
//! For half of its time a build of the library's tests is one compiler on one processor. Builds
//! with different flags have target directories of their own, so that two of them need not wait for
//! each other; those that share one are built one after the other. A step then finds its binaries
//! built. A failed build is reported by its step.

use std::time::Instant;

use crate::parallel::{parallel, processors};
use crate::tally::seconds;
use crate::{bench, jobs, processor};

/// Builds what these steps run, in this order, and ignores failures. The steps of a group share a
/// directory. No time measurement may run meanwhile.
pub(crate) fn build(groups: &[Vec<&str>]) {
    let steps: usize = groups.iter().map(Vec::len).sum();
    if steps < 2 {
        return;
    }
    println!("== building ahead");
    let (begun, before) = (Instant::now(), processor::of_children());
    parallel(groups, processors(), |group| {
        for step in group {
            let begun = Instant::now();
            match *step {
                "guard" => drop(bench::build_guard(false)),
                "cost" => drop(bench::build_guard(true)),
                step => drop(jobs::build(step).and_then(|build| build.binaries())),
            }
            println!("    {:>8}  {step}", seconds(begun.elapsed()));
        }
    });
    println!(
        "    {steps} steps built in {}, by processors in {}",
        seconds(begun.elapsed()),
        processor::since(before)
    );
}
