//! The counted process: works between two marks, on the one worker of a runtime.
//!
//! At the first mark it sends the counting process the worker's thread and the addresses of the
//! marks, and waits for a byte. From there on it is stepped. Everything before, such as the start
//! of the parties and the first allocations, runs at full speed.

use std::hint::black_box;
use std::io::{self, Read, Write};

use pirn::Runtime;
use pirn::runtime::Deadlock;

/// Sent at the start of a line of its own.
pub(crate) const READY: &str = "ready ";

/// Everything after this is counted.
pub(crate) fn begin() {
    let thread = std::fs::read_link("/proc/thread-self").expect("is there");
    let thread = thread.file_name().expect("a number").to_string_lossy();
    let marks = [first as *const () as u64, end as *const () as u64];
    println!("\n{READY}{thread} {} {}", marks[0], marks[1]);
    io::stdout().flush().expect("it is read");
    let mut byte = [0];
    io::stdin().read_exact(&mut byte).expect("it is written");
    first();
}

/// The first mark. The bodies of the two differ, so that the compiler does not merge them.
#[inline(never)]
extern "C" fn first() {
    black_box(1);
}

/// Everything before this is counted.
#[inline(never)]
pub(crate) extern "C" fn end() {
    black_box(2);
}

/// How many operations there are between the marks; an arbitrary number.
pub(crate) const OPERATIONS: u64 = 100;

/// Does `work` on a fiber of a runtime with so many workers. The deadlock detector is off: its work
/// once a second would count, since stepping takes seconds.
pub(crate) fn run(workers: usize, work: impl FnOnce() + Send) {
    // At this stepping speed no fiber is short: its spawn line would be tracked.
    let runtime = Runtime::builder()
        .spread(pirn::runtime::Spread::Never)
        .workers(workers)
        .deadlock(Deadlock::Off)
        .build();
    runtime.expect("a runtime starts").run(work);
}
