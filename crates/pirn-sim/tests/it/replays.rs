//! A failure replays from its seed and from its trace.

use std::collections::HashSet;
use std::env;
use std::fmt::Write as _;
use std::hint;
use std::io;
use std::ops::Range;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use pirn::sync::Mutex;
use pirn_sim::{Trace, Verdict, campaign};

use crate::unmeasured::unmeasured;

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
fn traces(number: usize) -> Vec<String> {
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

/// The other process has random addresses or fixed ones, and is alone or beside four busy threads.
// Proves: U4-processes.
#[test]
fn traces_are_the_same_runs_in_another_process() {
    let number = env::var("PIRN_REPLAYS").map_or(500, |it| it.parse().unwrap());
    let traces = traces(number);
    let here: Vec<_> = traces.iter().map(|trace| outcome(trace)).collect();
    let ways = [(0, false), (4, false), (0, true), (4, true)];
    // Only Linux is asked for fixed addresses.
    let ways = ways
        .into_iter()
        .filter(|way| cfg!(target_os = "linux") || !way.1);
    let ways: Vec<_> = ways.collect();
    let most = number.div_ceil(ways.len());
    for (at, (part, (busy, is_fixed))) in here.chunks(most).zip(ways).enumerate() {
        let begin = at * most;
        let numbers = begin..begin + part.len();
        let Some(there) = outcomes_there(&numbers, busy, is_fixed) else {
            unmeasured("the system refuses a process with fixed addresses");
            continue;
        };
        assert_eq!(there.len(), part.len());
        let both = part.iter().zip(&there);
        let differ: Vec<_> = both.filter(|(one, other)| one != other).collect();
        println!(
            "{} runs, {} differences; busy threads: {busy}, fixed addresses: {is_fixed}",
            part.len(),
            differ.len()
        );
        assert!(differ.is_empty(), "{:?}", differ[0]);
    }
    let failed = here.iter().filter(|it| it.contains("panicked")).count();
    let kinds: HashSet<_> = here.iter().collect();
    assert!(failed * 10 > here.len(), "only {failed} failed");
    assert!(failed * 10 < here.len() * 9, "{failed} failed");
    assert!(kinds.len() * 10 > here.len(), "only {} kinds", kinds.len());
}

/// Returns what the runs of the traces with these numbers do in another process, beside `busy`
/// threads that compute. None if its addresses are to be fixed, and the system refuses that.
fn outcomes_there(
    numbers: &Range<usize>,
    busy: usize,
    is_fixed: bool,
) -> Option<Vec<String>> {
    let mut child = Command::new(env::current_exe().unwrap());
    child.args([
        "--exact",
        "replays::outcomes_if_asked",
        "--ignored",
        "--nocapture",
    ]);
    child.env("PIRN_REPLAYED", format!("{numbers:?}"));
    if is_fixed {
        addresses::fix(&mut child);
    }
    let output = match beside(busy, || child.output()) {
        Err(error) if is_fixed && error.kind() == io::ErrorKind::PermissionDenied => {
            return None;
        }
        output => output.unwrap(),
    };
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    if is_fixed {
        assert!(said.contains("\naddresses are fixed: true\n"), "{said}");
    }
    let runs = said.lines().filter_map(|it| it.strip_prefix("run "));
    Some(runs.map(str::to_owned).collect())
}

/// Calls `f`, which must not panic, beside `busy` threads that compute.
fn beside<R>(busy: usize, f: impl FnOnce() -> R) -> R {
    let is_over = AtomicBool::new(false);
    thread::scope(|threads| {
        for _ in 0..busy {
            threads.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    hint::spin_loop();
                }
            });
        }
        let result = f();
        is_over.store(true, Ordering::Relaxed);
        result
    })
}

#[test]
#[ignore = "another test asks for it"]
fn outcomes_if_asked() {
    let numbers = env::var("PIRN_REPLAYED");
    let numbers = numbers.as_deref().unwrap_or("0..1");
    let (begin, end) = numbers.split_once("..").unwrap();
    let (begin, end) = (begin.parse().unwrap(), end.parse().unwrap());
    // Before it, the name of the test may stand in the line.
    println!("\naddresses are fixed: {}", addresses::are_fixed());
    for trace in traces(end).iter().skip(begin) {
        println!("run {}", outcome(trace));
    }
}

/// Where the system places the memory of a process.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "a function of libc, and code in a child")]
mod addresses {
    use std::ffi::{c_int, c_ulong};
    use std::io;
    use std::os::unix::process::CommandExt as _;
    use std::process::Command;

    /// Addresses are not random.
    const ADDR_NO_RANDOMIZE: c_int = 0x0004_0000;

    unsafe extern "C" {
        /// Sets the flags of this process, most of which count for the program that it executes
        /// next, and returns those before. If all are set, it only returns them.
        safe fn personality(flags: c_ulong) -> c_int;
    }

    /// Fixes the addresses of the process that `command` starts.
    pub(super) fn fix(command: &mut Command) {
        let fix = || match personality(ADDR_NO_RANDOMIZE as c_ulong) {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        };
        // SAFETY: a system call, which allocates nothing and takes no lock.
        unsafe { command.pre_exec(fix) };
    }

    /// Returns true if the addresses of this process are fixed.
    pub(super) fn are_fixed() -> bool {
        personality(0xffff_ffff) & ADDR_NO_RANDOMIZE != 0
    }
}

/// Elsewhere this module has no way to ask for it.
#[cfg(not(target_os = "linux"))]
mod addresses {
    pub(super) fn fix(_: &mut std::process::Command) {
        unreachable!("only Linux is asked");
    }

    pub(super) fn are_fixed() -> bool {
        false
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
