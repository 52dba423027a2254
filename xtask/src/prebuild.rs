//! Builds the binaries of several steps ahead, one build at a time for each processor.
//!
//! For half of its time a build of the library's tests is one compiler on one processor. Every lane
//! has a target directory of its own, so that two such builds need not wait for each other. A step
//! then finds its binaries built. A failed build is reported by its step.

use std::time::Instant;

use crate::parallel::{parallel, processors};
use crate::processor;
use crate::tally::seconds;

/// A step's name, and the function that builds its binaries. The step reports its errors.
pub(crate) type Prebuild = (&'static str, fn());

/// Builds them in this order and ignores failures. No time measurement may run meanwhile.
pub(crate) fn build(builds: &[Prebuild]) {
    let (begun, before) = (Instant::now(), processor::of_children());
    parallel(builds, processors(), |(name, build)| {
        let begun = Instant::now();
        build();
        println!("    {:>8}  {name}", seconds(begun.elapsed()));
    });
    println!(
        "    {} lanes built in {}, by processors in {}",
        builds.len(),
        seconds(begun.elapsed()),
        processor::since(before)
    );
}
