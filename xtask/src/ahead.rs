//! Building ahead: the binaries of several steps, as many builds at once as there are processors.
//!
//! For half of its time a build of the library's tests is one compiler on one processor. Every lane has
//! a target directory of its own, so that two such builds need not wait for each other. A step then finds its
//! binaries built; what does not build it finds out, and says, itself.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use crate::harness::Build;
use crate::tally::seconds;

/// Builds them, in this order, as far as they build. Nothing else must run meanwhile that measures time.
pub(crate) fn build(builds: &[Build]) {
    let begun = Instant::now();
    let next = AtomicUsize::new(0);
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|s| {
        for _ in 0..cores.min(builds.len()) {
            s.spawn(|| {
                while let Some(build) = builds.get(next.fetch_add(1, Ordering::Relaxed)) {
                    // The step says what is wrong.
                    let _ = build.binaries();
                }
            });
        }
    });
    println!(
        "    {} lanes built in {}",
        builds.len(),
        seconds(begun.elapsed())
    );
}
