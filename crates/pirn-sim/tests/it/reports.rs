//! What a report says of fibers that wait.

use std::sync::atomic::{AtomicU32, Ordering};

use pirn::channel;
use pirn::sync::Mutex;
use pirn_sim::campaign;

/// The report names the last operation of another fiber on the object.
// Proves: U5.
#[test]
fn the_last_other_operation_is_named() {
    let failure = campaign().runs(100).find(|| {
        let (tx, rx) = channel::bounded(1);
        let (done, over) = channel::bounded::<()>(1);
        let sender = pirn::spawn(move || {
            // The receiver takes one of them.
            let sent = [tx.send(1), tx.send(2), tx.send(3)];
            drop(done);
            sent
        });
        let receiver = pirn::spawn(move || {
            let first = rx.recv();
            let _ = over.recv();
            drop(rx);
            first
        });
        let _ = (sender.join(), receiver.join());
    });
    let report = failure.unwrap().to_string();
    let line = |part: &str| {
        let found = report.lines().find(|line| line.contains(part));
        found.unwrap_or_else(|| panic!("no `{part}`: {report}"))
    };
    let full = line("(1 of 1 values)");
    assert!(
        full.contains("; the last other operation on it is fiber "),
        "{full}"
    );
    assert!(full.contains("'s `recv` channel 1 ("), "{full}");
    let empty = line("(0 of 1 values)");
    assert!(
        empty.ends_with("; no operation of another fiber names it"),
        "{empty}"
    );
}

/// Locks one after the other, in the order of the arguments.
fn transfer(from: &Mutex<u32>, to: &Mutex<u32>) {
    let mut from = from.lock();
    let mut to = to.lock();
    (*from, *to) = (*from - 1, *to + 1);
}

/// Where a function of the test waits, the report names its callers too: here only they differ.
// Proves: U5.
#[test]
fn the_callers_of_a_function_that_waits_are_named() {
    static LINES: [AtomicU32; 2] = [const { AtomicU32::new(0) }; 2];
    let failure = campaign().runs(1_000).find(|| {
        let accounts = [Mutex::new(10), Mutex::new(10)];
        pirn::scope(|s| {
            s.spawn(|| {
                LINES[0].store(line!() + 1, Ordering::Relaxed);
                transfer(&accounts[0], &accounts[1]);
            });
            s.spawn(|| {
                LINES[1].store(line!() + 1, Ordering::Relaxed);
                transfer(&accounts[1], &accounts[0]);
            });
        });
    });
    let report = failure.unwrap().to_string();
    for line in &LINES {
        let line = line.load(Ordering::Relaxed);
        let called = format!(", called at :{line}");
        let waits = |it: &str| it.contains(" waits for ") && it.contains(&called);
        assert!(report.lines().any(waits), "no `{called}`: {report}");
    }
}
