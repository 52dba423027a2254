//! When a thread counts as one that waits.

use crate::sys::ThreadProbe;

const MS: u64 = 1_000_000;

/// The thread that asks runs while it asks, as one does that waits for a processor.
// Proves: E2, N3.
#[test]
fn a_thread_that_has_waited_may_wait_for_a_processor() {
    let probe = ThreadProbe::new();
    probe.introduce();
    assert!(!probe.waits(1_000 * MS, true), "nothing is known yet");
    assert!(!probe.waits(1_010 * MS, false), "it runs");
    assert!(probe.waits(1_020 * MS, true), "it has used little");
    let before = probe.processor_time().unwrap();
    while probe.processor_time().unwrap() - before < 5 * MS {
        std::hint::spin_loop();
    }
    assert!(!probe.waits(1_030 * MS, true), "it computes");
}
