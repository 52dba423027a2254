//! The memory of parked fibers. Only optimised code is judged: the frames of other code reach into
//! further pages of a stack, and how far depends on the way by which a fiber happens to park.

use std::fs;
use std::sync::Arc;

use pirn::runtime::Scheduler;
use pirn::{Runtime, channel};

/// A hundred thousand parked fibers take less than 6 KiB each, of which the touched page of the
/// stack is four.
// Proves: M5.
#[test]
#[ignore = "alone: run by `cargo xtask ci fat`"]
fn alone_a_parked_fiber_takes_one_page_of_stack() {
    const FIBERS: usize = 100_000;
    for scheduler in [Scheduler::WorkStealing, Scheduler::SingleQueue] {
        let runtime = Runtime::builder().workers(2).scheduler(scheduler).build();
        let runtime = runtime.expect("a runtime starts");
        let before = resident();
        let (tx, rx) = channel::bounded::<()>(0);
        let (rx, started) = (Arc::new(rx), Arc::new(channel::bounded::<()>(FIBERS)));
        for _ in 0..FIBERS {
            let (rx, started) = (Arc::clone(&rx), Arc::clone(&started));
            drop(runtime.spawn(move || {
                started.0.send(()).expect("there is room");
                drop(started);
                assert!(rx.recv().is_err());
            }));
        }
        started.1.iter().take(FIBERS).for_each(drop);
        let each = (resident() - before) / FIBERS;
        println!("{scheduler:?}: {each} bytes for each parked fiber");
        assert!(each < 6 << 10, "{each} bytes for each parked fiber");
        drop(tx);
        runtime.wait_idle().expect("it is not interrupted");
    }
}

/// Returns the resident memory of this process, in bytes.
fn resident() -> usize {
    let pages = fs::read_to_string("/proc/self/statm").expect("the file is there");
    let resident = pages.split(' ').nth(1).and_then(|text| text.parse().ok());
    resident.map_or(0, |pages: usize| pages * 4_096)
}
