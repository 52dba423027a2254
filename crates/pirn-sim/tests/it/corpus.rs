//! Failures that have been repaired run first.

use std::env;
use std::fs;
use std::panic;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use pirn::sync::Mutex;
use pirn_sim::campaign;

/// Two deposits of which one may be lost, if `is_whole` is false.
fn deposits(is_whole: bool) {
    let balance = Arc::new(Mutex::new(0));
    let deposit = |amount| {
        let balance = Arc::clone(&balance);
        pirn::spawn(move || {
            if is_whole {
                *balance.lock() += amount;
            } else {
                let before = *balance.lock();
                *balance.lock() = before + amount;
            }
        })
    };
    let both = [deposit(1), deposit(2)];
    both.into_iter().for_each(|fiber| fiber.join().unwrap());
    assert_eq!(*balance.lock(), 3);
}

/// Returns a file with this text.
fn corpus(name: &str, text: &str) -> PathBuf {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    fs::create_dir_all(&directory).unwrap();
    let path = directory.join(format!("{name}.runs"));
    fs::write(&path, text).unwrap();
    path
}

// Proves: U5-corpus.
#[test]
fn a_line_that_fails_is_the_first_run() {
    let path = corpus("fails", "# Two sections.\n\n1:0:1.2>2 panicked: once\n");
    let found = campaign().corpus(&path).runs(0).find(|| deposits(false));
    let report = found.expect("the line fails").to_string();
    assert!(report.contains("fails.runs:3"), "{report}");
    assert!(!report.contains("add this line"), "{report}");
    // A replay does without the file.
    let canonical = "1:0:".parse().unwrap();
    let found = campaign()
        .corpus(&path)
        .replay(canonical)
        .find(|| deposits(false));
    assert!(found.is_none());
}

// Proves: U5-corpus.
#[test]
fn a_report_has_the_line_to_add() {
    let path = corpus("add", "");
    let failure = campaign().corpus(&path).find(|| deposits(false)).unwrap();
    let report = failure.to_string();
    let line = report.lines().last().unwrap();
    assert!(
        line.contains(" panicked: crates/pirn-sim/tests/it/corpus.rs:"),
        "{report}"
    );
    assert!(report.contains("add.runs:\n"), "{report}");
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "",
        "nothing is added by itself"
    );
    fs::write(&path, format!("{line}\n")).unwrap();
    let again = campaign()
        .corpus(&path)
        .runs(0)
        .find(|| deposits(false))
        .unwrap();
    assert_eq!(again.verdict(), failure.verdict());
    assert_eq!(again.trace(), failure.trace());
    // It passes once the program is repaired.
    campaign().corpus(&path).runs(10).check(|| deposits(true));
}

#[test]
#[ignore = "another test reads what it prints"]
fn stale_if_asked() {
    let path = env::var_os("STALE").expect("another test sets it");
    campaign().corpus(path).runs(1).check(|| deposits(true));
}

// Proves: U5-corpus.
#[test]
fn a_line_with_choices_that_do_not_occur_is_stale() {
    let text =
        "1:0:1.9>2 panicked: x\n1:0:0.2>2 panicked: y\n1:0:0.2>2,1.8>2,9.1>7 deadlock\n";
    let path = corpus("stale", text);
    let mut child = Command::new(env::current_exe().unwrap());
    child.args([
        "--exact",
        "corpus::stale_if_asked",
        "--ignored",
        "--nocapture",
    ]);
    let output = child.env("STALE", &path).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(
        said.contains("stale.runs:1 is stale: 1 of its 1 choices"),
        "{said}"
    );
    assert!(!said.contains("stale.runs:2"), "{said}");
    assert!(
        said.contains("stale.runs:3 is stale: 2 of its 3 choices"),
        "{said}"
    );
}

// Proves: U5-corpus.
#[test]
fn a_damaged_line_is_an_error() {
    let path = corpus("damaged", "# one\n1:0:1.2 panicked: x\n");
    let missing = path.with_extension("none");
    for (path, parts) in [
        (&path, ["damaged.runs:2: no trace", "version control"]),
        (
            &missing,
            ["damaged.none: cannot read", "create an empty file"],
        ),
    ] {
        let path = path.clone();
        let caught = panic::catch_unwind(|| campaign().corpus(path).check(|| ()));
        let payload = caught.expect_err("it panics");
        let said = payload
            .downcast_ref::<String>()
            .expect("the panic has a text");
        for part in parts {
            assert!(said.contains(part), "{part} is not in\n{said}");
        }
    }
}
