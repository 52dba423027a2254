//! A failure replays from its seed and from its trace.

use std::env;
use std::process::Command;
use std::sync::Arc;

use pirn::sync::Mutex;
use pirn_sim::{Trace, Verdict, campaign};

/// Two deposits of which one may be lost.
fn deposits() {
    let balance = Arc::new(Mutex::new(0));
    let deposit = |amount| {
        let balance = Arc::clone(&balance);
        pirn::spawn(move || {
            let before = *balance.lock();
            *balance.lock() = before + amount;
        })
    };
    let both = [deposit(1), deposit(2)];
    both.into_iter().for_each(|fiber| fiber.join().unwrap());
    assert_eq!(*balance.lock(), 3);
}

// Proves: U4.
#[test]
fn a_seed_is_one_run() {
    for seed in 0..20 {
        let find = || campaign().seed(seed).runs(1_000).find(deposits);
        let (one, other) = (find().unwrap(), find().unwrap());
        assert_eq!(one.trace(), other.trace());
        assert_eq!(one.run(), other.run());
        assert_eq!(one.to_string(), other.to_string());
        let again = campaign().seed(one.seed()).runs(1).find(deposits).unwrap();
        assert_eq!(again.trace(), one.trace());
    }
}

// Proves: U4.
#[test]
fn a_trace_fails_again() {
    let failure = campaign().find(deposits).unwrap();
    let trace: Trace = failure.trace().to_string().parse().unwrap();
    let again = campaign().replay(trace).find(deposits).unwrap();
    assert_eq!(again.verdict(), failure.verdict());
    // The canonical schedule is correct.
    assert!(campaign().replay(Trace::default()).find(deposits).is_none());
}

// Proves: U4.
#[test]
fn a_trace_fails_again_in_another_process() {
    for seed in 0..5 {
        let failure = campaign().seed(seed).find(deposits).unwrap();
        let mut child = Command::new(env::current_exe().unwrap());
        child.args(["--exact", "replays::deposits_if_asked", "--ignored"]);
        child.env("PIRN_SIM_TRACE", failure.trace().to_string());
        let output = child.output().unwrap();
        assert!(!output.status.success());
        let said = String::from_utf8_lossy(&output.stdout);
        let verdict = failure.verdict().to_string();
        assert!(said.contains(&verdict), "{verdict} is not in\n{said}");
        let trace = format!("PIRN_SIM_TRACE='{}'", failure.trace());
        assert!(said.contains(&trace), "{trace} is not in\n{said}");
    }
}

#[test]
#[ignore = "fails where another test asks for it"]
fn deposits_if_asked() {
    campaign().check(deposits);
}

// Proves: U4.
#[test]
fn a_wrong_variable_is_reported() {
    let mut child = Command::new(env::current_exe().unwrap());
    child.args(["--exact", "replays::deposits_if_asked", "--ignored"]);
    let output = child.env("PIRN_SIM_SEED", "seven").output().unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        said.contains("PIRN_SIM_SEED=seven: cannot use this value: invalid digit"),
        "{said}"
    );
}

// Proves: U5.
#[test]
fn a_report_names_the_two_places() {
    let failure = campaign().find(deposits).unwrap();
    let report = failure.to_string();
    assert!(report.lines().count() <= 12, "{report}");
    assert!(report.contains("a_report_names_the_two_places"), "{report}");
    assert!(report.contains("replays.rs"), "{report}");
    assert!(
        matches!(failure.verdict(), Verdict::Panic(text) if text.contains("replays.rs:"))
    );
    for part in [
        "fiber 2 (spawned at crates/pirn-sim/tests/it/replays.rs:",
        "`lock` lock 1 (:",
        " came between fiber 1's `lock` lock 1 (:",
        "without this it does not fail so",
        "PIRN_SIM_TRACE='1:",
    ] {
        assert!(report.contains(part), "{part} is not in\n{report}");
    }
}
