//! What no seed decides is named in a report.

use std::thread;
use std::time::Duration;

use pirn::channel;
use pirn_sim::campaign;

const NAMED: &str = "no seed decides when these happen";

// Proves: U15.
#[test]
fn a_call_is_named_with_its_place() {
    let failure = campaign().find(|| {
        let answer = pirn::blocking(|| 7);
        assert_eq!(answer, 8, "the answer");
    });
    let report = failure.unwrap().to_string();
    assert!(report.contains(NAMED), "{report}");
    assert!(
        report.contains(
            "1 call of files, sockets, processes, `blocking` or other runtimes"
        ),
        "{report}"
    );
    let place = "fiber 0's `io` (crates/pirn-sim/tests/it/escapes.rs:";
    assert!(report.contains(place), "{report}");
}

// Proves: U15.
#[test]
fn a_wake_by_another_thread_is_named() {
    let failure = campaign().runs(1).find(|| {
        let (tx, rx) = channel::bounded(1);
        let receiver = pirn::spawn(move || rx.recv());
        let sent = pirn::blocking(move || {
            // Until the receiver waits.
            thread::sleep(Duration::from_millis(50));
            tx.send(7)
        });
        assert_eq!(sent, Ok(()));
        assert_eq!(receiver.join().unwrap(), Ok(8), "the value");
    });
    let report = failure.unwrap().to_string();
    assert!(report.contains("by other threads and 1 call"), "{report}");
}

// Proves: U15.
#[test]
fn a_schedule_that_decides_all_names_nothing() {
    let failure = campaign().find(|| {
        let (tx, rx) = channel::bounded(1);
        let fiber = pirn::spawn(move || tx.send(7));
        pirn::sleep(Duration::from_secs(1)).unwrap();
        assert_eq!(rx.recv(), Ok(8), "the value");
        fiber.join().unwrap().unwrap();
    });
    let report = failure.unwrap().to_string();
    assert!(!report.contains(NAMED), "{report}");
}
