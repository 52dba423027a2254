//! Builds the binaries of several steps ahead, one build at a time for each processor, and runs the
//! steps without tests beside them.
//!
//! For half of its time a build of the library's tests is one compiler on one processor. Builds
//! with different flags have target directories of their own, so that two of them need not wait for
//! each other; those that share one are built one after the other. A step then finds its binaries
//! built. A failed build is reported by its step.

use std::collections::BTreeMap;
use std::time::Instant;

use crate::parallel::{parallel, processors};
use crate::tally::seconds;
use crate::{bench, jobs, processor};

/// Builds what these steps run, in this order, and ignores failures. If `run` returns the ending of
/// a step, that step needs no more; the endings are returned. The steps of a group share a
/// directory. No time measurement may run meanwhile.
pub(crate) fn build<'a, R: Send>(
    groups: &[Vec<&'a str>],
    run: impl Fn(&'a str) -> Option<R> + Sync,
) -> BTreeMap<&'a str, R> {
    let steps: usize = groups.iter().map(Vec::len).sum();
    if steps < 2 {
        return BTreeMap::new();
    }
    println!("== building ahead");
    let (begun, before) = (Instant::now(), processor::of_children());
    let one = |step: &&'a str| {
        let begun = Instant::now();
        let ending = run(step);
        match *step {
            _ if ending.is_some() => {}
            "guard" => drop(bench::build_guard(false)),
            "cost" => drop(bench::build_guard(true)),
            step => drop(jobs::build(step).and_then(|build| build.binaries())),
        }
        println!("    {:>8}  {step}", seconds(begun.elapsed()));
        Some((*step, ending?))
    };
    let ended = parallel(groups, processors(), |group| {
        group.iter().filter_map(one).collect::<Vec<_>>()
    });
    let (took, worked) = (seconds(begun.elapsed()), processor::since(before));
    println!("    {steps} steps in {took}, by processors in {worked}");
    ended.into_iter().flatten().collect()
}
