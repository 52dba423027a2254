//! When a thread counts as one that waits.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::sys::{Activity, ThreadProbe};

const MS: u64 = 1_000_000;

fn until(mut is_so: impl FnMut() -> bool) {
    while !is_so() {
        thread::sleep(Duration::from_micros(100));
    }
}

/// A thread that waits, and then needs a processor. The times of the questions are made up; the
/// thread's processor time is real.
// Proves: E2, N3.
#[test]
fn a_thread_that_has_waited_may_wait_for_a_processor() {
    // The second question is only about a thread that has used little: repeated if it has not.
    let attempts = (0..100).map(|_| attempt()).find_map(|ended| ended);
    attempts.expect("a thread that has used less than 10 ms");
}

/// Returns `None` if the thread has computed for too long between two questions.
fn attempt() -> Option<()> {
    let (probe, runs, over) = (
        ThreadProbe::new(),
        AtomicBool::new(false),
        AtomicBool::new(false),
    );
    thread::scope(|s| {
        let thread = s.spawn(|| {
            probe.introduce();
            while !runs.load(Ordering::Relaxed) {
                thread::park();
            }
            while !over.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        });
        until(|| probe.activity() == Some(Activity::Waits));
        let first = probe.waits(1_000 * MS, true);
        let listed = probe.waits(1_040 * MS, false);
        let before = probe.processor_time().unwrap();
        runs.store(true, Ordering::Relaxed);
        thread.thread().unpark();
        until(|| probe.activity() == Some(Activity::Runs));
        let lately = probe.waits(1_080 * MS, true);
        let used = probe.processor_time().unwrap() - before;
        let unasked = probe.waits(1_085 * MS, false);
        let late = probe.waits(1_095 * MS, true);
        let before = probe.processor_time().unwrap();
        until(|| probe.processor_time().unwrap() - before > 15 * MS);
        let computes = probe.waits(1_100 * MS, true);
        // Before the assertions: the scope waits for the thread.
        over.store(true, Ordering::Relaxed);
        assert!(!first, "the last question was long ago");
        assert!(listed, "it is listed as waiting");
        assert!(!unasked, "without the last answer");
        assert!(!late, "listed as waiting 55 ms ago");
        assert!(!computes, "it computes");
        // It has used less than a quarter of 40 ms, and was listed as waiting 40 ms ago.
        (used < 10 * MS).then(|| assert!(lately, "after {used} ns"))
    })
}
