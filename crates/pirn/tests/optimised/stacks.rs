//! The memory of parked fibers. Only optimised code is judged: the frames of other code reach into
//! further pages of a stack, and how far depends on the way by which a fiber happens to park.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use pirn::channel::RecvTimeoutError;
use pirn::runtime::Scheduler;
use pirn::{Runtime, channel};

/// A hundred thousand parked fibers take less than 6 KiB each, of which the touched page of the
/// stack is four: also those that sleep, half of them here. All take less than a gigabyte.
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
        for number in 0..FIBERS {
            let (rx, started) = (Arc::clone(&rx), Arc::clone(&started));
            drop(runtime.spawn(move || {
                started.0.send(()).expect("there is room");
                drop(started);
                let limit = Duration::from_secs(3_600);
                assert!(match number % 2 {
                    0 => rx.recv().is_err(),
                    _ => rx.recv_timeout(limit) == Err(RecvTimeoutError::Disconnected),
                });
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
