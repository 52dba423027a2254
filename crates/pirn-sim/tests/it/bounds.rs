//! Campaigns leave little behind: runtimes, threads, and lines on standard error.

use std::collections::HashSet;
use std::env;
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use pirn::sim::atomic;
use pirn_sim::{Strategy, Verdict, campaign};

/// Runs an ignored test of this program in a child.
fn child(test: &str) -> Output {
    let mut child = Command::new(env::current_exe().unwrap());
    child.args(["--exact", test, "--ignored", "--nocapture"]);
    for variable in ["SEED", "RUNS", "TIME", "TRACE"] {
        child.env_remove(format!("PIRN_SIM_{variable}"));
    }
    child.output().unwrap()
}

/// A run that leaves a fiber behind costs a runtime, with a thread. Here nearly all shorter traces
/// leave one.
// Proves: U4-short.
#[test]
fn shrinking_leaves_few_runtimes_behind() {
    static LEFT: AtomicU32 = AtomicU32::new(0);
    let campaign = campaign().seed(1).strategy(Strategy::Random);
    let failure = campaign.find(|| {
        let step = Arc::new(atomic::AtomicU32::new(0));
        let other = Arc::clone(&step);
        let walker = pirn::spawn(move || {
            for _ in 0..20 {
                other.fetch_add(1, Ordering::SeqCst);
            }
        });
        let seen: HashSet<_> = (0..20).map(|_| step.load(Ordering::SeqCst)).collect();
        walker.join().unwrap();
        match seen.len() {
            1 => {}
            2..=5 => {
                LEFT.fetch_add(1, Ordering::Relaxed);
                drop(pirn::spawn(pirn::spawn::park));
            }
            _ => panic!("many values"),
        }
    });
    let failure = failure.unwrap();
    assert!(matches!(failure.verdict(), Verdict::Panic(_)), "{failure}");
    let left = LEFT.load(Ordering::Relaxed);
    assert!(left <= 200, "{left} runs");
}

/// The body depends on more than the schedule, so each run that is repeated takes another way.
// Proves: U4.
#[test]
fn runs_that_differ_are_reported_once() {
    let output = child("bounds::differs_if_asked");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let lines = said
        .matches("took another way when it was repeated")
        .count();
    assert_eq!(lines, 1, "{said}");
}

#[test]
#[ignore = "another test reads what it prints"]
fn differs_if_asked() {
    static RUNS: AtomicU32 = AtomicU32::new(0);
    campaign().seed(1).runs(640).check(|| {
        for _ in 0..=RUNS.fetch_add(1, Ordering::Relaxed) % 2 {
            pirn::spawn(|| ()).join().unwrap();
        }
    });
}

/// Another runtime begins when the virtual time of one is nearly spent. The first one ends then.
// Proves: U11.
#[cfg(target_os = "linux")]
#[test]
fn runtimes_with_much_virtual_time_end() {
    let output = child("bounds::counts_threads_if_asked");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "another test asks for it, in a process of its own"]
fn counts_threads_if_asked() {
    use std::time::{Duration, Instant};

    let years = Duration::from_secs(5 * 365 * 86_400);
    campaign()
        .runs(60)
        .check(move || pirn::sleep(years).unwrap());
    let threads = || std::fs::read_dir("/proc/self/task").unwrap().count();
    // Threads may end a little later than their runtimes.
    let begun = Instant::now();
    while threads() > 30 {
        let passed = begun.elapsed();
        assert!(passed < Duration::from_secs(60), "{} threads", threads());
        std::thread::sleep(Duration::from_millis(10));
    }
}
