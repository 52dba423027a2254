//! Building ahead: the binaries of several steps, as many builds at once as there are processors.
//!
//! For half of its time a build of the library's tests is one compiler on one processor. Every lane has
//! a target directory of its own, so that two such builds need not wait for each other. A step then finds its
//! binaries built; what does not build it finds out, and says, itself.

use std::time::Instant;

use crate::beside::{beside, processors};
use crate::processor;
use crate::tally::seconds;

/// What a step runs: its name, and what builds it. What is wrong with it the step says.
pub(crate) type Ahead = (&'static str, fn());

/// Builds them, in this order, as far as they build. Nothing else must run meanwhile that measures time.
pub(crate) fn build(builds: &[Ahead]) {
    let (begun, before) = (Instant::now(), processor::of_children());
    beside(builds, processors(), |(name, build)| {
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
