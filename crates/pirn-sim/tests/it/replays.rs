//! A failure replays from its seed and from its trace.

use std::collections::HashSet;
use std::env;
use std::fmt::Write as _;
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

/// Returns what the run of a trace does: the values in the order in which they arrive, at which
/// virtual time, and its verdict.
fn outcome(trace: &str) -> String {
    let seen = Arc::new(std::sync::Mutex::new(String::new()));
    let log = Arc::clone(&seen);
    let failure = campaign().replay(trace.parse().unwrap()).find(move || {
        log.lock().unwrap().clear();
        let begun = pirn::time::now();
        let (tx, rx) = pirn::channel::bounded(2);
        let sum = Arc::new(Mutex::new(0));
        for sender in 0..3 {
            let (tx, sum) = (tx.clone(), Arc::clone(&sum));
            pirn::spawn(move || {
                for n in 0..3 {
                    let before = *sum.lock();
                    _ = tx.try_send(sender * 3 + n);
                    *sum.lock() = before + n;
                }
            });
        }
        drop(tx);
        let late = pirn::channel::after(std::time::Duration::from_micros(20));
        loop {
            let received = pirn::select! {
                recv(rx) -> value => value.ok(),
                recv(late) -> _ => None,
            };
            let passed = (pirn::time::now() - begun).as_nanos();
            write!(log.lock().unwrap(), "{received:?} after {passed} ns, ").unwrap();
            if received.is_none() {
                break;
            }
        }
        assert_eq!(*sum.lock(), 9);
    });
    let verdict = failure.map(|it| it.verdict().to_string());
    let seen = seen.lock().unwrap();
    format!("{seen}{verdict:?}").replace('\n', " ")
}

/// Returns traces with up to four deviations, most of which occur.
fn traces(number: u32) -> Vec<String> {
    let mut rng = fastrand::Rng::with_seed(7);
    let mut deviation = || {
        let (after, runs) = (rng.u32(0..4), rng.u32(0..4));
        format!("{after}.{}>{runs}", rng.u32(1..9))
    };
    let one = |n| {
        let deviations: Vec<_> = (0..n % 5).map(|_| deviation()).collect();
        format!("1:{n:x}:{}", deviations.join(","))
    };
    (0..number).map(one).collect()
}

// Proves: U4-processes.
#[test]
fn traces_are_the_same_runs_in_another_process() {
    let number = env::var("PIRN_REPLAYS").map(|it| it.parse().unwrap());
    let traces = traces(number.unwrap_or(500));
    let mut child = Command::new(env::current_exe().unwrap());
    child.args([
        "--exact",
        "replays::outcomes_if_asked",
        "--ignored",
        "--nocapture",
    ]);
    child.env("PIRN_REPLAYED", traces.len().to_string());
    let output = child.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let there: Vec<_> = said
        .lines()
        .filter_map(|it| it.strip_prefix("run "))
        .collect();
    let here: Vec<_> = traces.iter().map(|trace| outcome(trace)).collect();
    assert_eq!(there.len(), here.len());
    let differ = here.iter().zip(&there).filter(|(one, other)| one != *other);
    let differ: Vec<_> = differ.collect();
    println!("{} runs, {} differences", here.len(), differ.len());
    assert!(differ.is_empty(), "{:?}", differ[0]);
    let failed = here.iter().filter(|it| it.contains("panicked")).count();
    let kinds: HashSet<_> = here.iter().collect();
    assert!(failed * 10 > here.len(), "only {failed} failed");
    assert!(failed * 10 < here.len() * 9, "{failed} failed");
    assert!(kinds.len() * 10 > here.len(), "only {} kinds", kinds.len());
}

#[test]
#[ignore = "another test asks for it"]
fn outcomes_if_asked() {
    let number = env::var("PIRN_REPLAYED").map_or(1, |it| it.parse().unwrap());
    for trace in traces(number) {
        println!("run {}", outcome(&trace));
    }
}

/// A trace of which choices do not occur, and which passes, proves nothing: that is said.
// Proves: U4.
#[test]
fn a_stale_trace_that_passes_is_reported() {
    let mut child = Command::new(env::current_exe().unwrap());
    child.args(["--exact", "replays::passes_if_asked", "--ignored"]);
    child
        .arg("--nocapture")
        .env("PIRN_SIM_TRACE", "1:0:0.1>0,9.9>9");
    let output = child.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let expected =
        "the trace '1:0:0.1>0,9.9>9' is stale: 1 of its 2 choices do not occur";
    assert!(said.contains(expected), "{said}");
    "0.0>1".parse::<Trace>().unwrap_err();
    "1:0:0.0>1".parse::<Trace>().unwrap_err();
    "1:0:0.1>1".parse::<Trace>().unwrap();
}

#[test]
#[ignore = "another test asks for it"]
fn passes_if_asked() {
    campaign().check(|| pirn::spawn(|| ()).join().unwrap());
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
