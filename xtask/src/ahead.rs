//! Building ahead: the binaries of several steps, as many builds at once as there are processors.
//!
//! For half of its time a build of the library's tests is one compiler on one processor. Every lane has
//! a target directory of its own, so that two such builds need not wait for each other. A step then finds its
//! binaries built; what does not build it finds out, and says, itself.

use std::time::Instant;

use crate::beside::{beside, processors};
use crate::harness::Build;
use crate::processor;
use crate::tally::seconds;

/// Builds them, in this order, as far as they build. Nothing else must run meanwhile that measures time.
pub(crate) fn build(builds: &[Build]) {
    let (begun, before) = (Instant::now(), processor::of_children());
    beside(builds, processors(), |build| {
        let begun = Instant::now();
        // The step says what is wrong.
        let _ = build.binaries();
        println!(
            "    {:>8}  {}",
            seconds(begun.elapsed()),
            build.lane.as_deref().unwrap_or("tests")
        );
    });
    println!(
        "    {} lanes built in {}, by processors in {}",
        builds.len(),
        seconds(begun.elapsed()),
        processor::since(before)
    );
}
