//! What a report says of fibers that wait.

use pirn::channel;
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
