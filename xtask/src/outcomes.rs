//! Tests that failed, reported stalls, measured nothing or did not run: their names, and the
//! reasons, at the end of the output.
//!
//! There are two kinds. A test is *skipped* if this machine lacks a tool for its measurement: it
//! reports that itself (`crates/pirn/src/base/tests/unmeasured.rs`), and its promise is open. Where
//! `PIRN_TOOLS` is `required`, as in `.ci/run`, such a test fails. A bound on time that only a
//! disturbed machine has missed is skipped too; where `PIRN_TOOLS` is `required`, only a few in a
//! run (`on_time`). A test is *left out* if another step runs it, or it is a part of another test.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::ffi::OsStr;
use std::sync::{Mutex, PoisonError};

use crate::tally::Tally;

/// The skipped tests of this run: by name, the reason.
static SKIPPED: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());
/// The tests left out: by reason, the names.
static LEFT_OUT: Mutex<BTreeMap<String, BTreeSet<String>>> = Mutex::new(BTreeMap::new());

/// The tests with a report of a stall in their output.
static STALLED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// The failed tests, those that passed at another try among them: by name, the verdict and the
/// first lines of their panics.
static FAILED: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());

/// A part of every report of a stall.
const STALL: &str = " has kept worker ";

/// The beginning of the line that a test without a measurement prints.
const MARK: &str = "unmeasured: ";

/// Returns the missing requirement of the test with this `output`, if it reports one.
pub(crate) fn missing_in(output: &str) -> Option<String> {
    let mut lines = output.lines();
    lines.find_map(|line| line.strip_prefix(MARK).map(str::to_owned))
}

/// Records a test that measured nothing, and its missing requirement; counts it.
pub(crate) fn skip(id: &str, missing: &str) -> Tally {
    let mut skipped = SKIPPED.lock().unwrap_or_else(PoisonError::into_inner);
    skipped.insert(id.to_owned(), missing.to_owned());
    Tally::skip()
}

/// Counts a check that cannot run here: as skipped, or as failed where `PIRN_TOOLS` is `required`.
pub(crate) fn skip_check(id: &str, missing: &str) -> Tally {
    skip_beside(0, id, missing)
}

/// Counts a test without a measurement as skipped. Where `PIRN_TOOLS` is `required`, no more than
/// `most` are skipped in a run: others have failed.
pub(crate) fn skip_beside(most: usize, id: &str, missing: &str) -> Tally {
    let tools = env::var_os("PIRN_TOOLS");
    let skipped = SKIPPED.lock().unwrap_or_else(PoisonError::into_inner).len();
    if !may_skip(tools.as_deref(), skipped, most) {
        println!(
            "    FAILED  {id}: not measured: {missing} (at most {most} are skipped)"
        );
        return Tally::check(false);
    }
    skip(id, missing)
}

fn may_skip(tools: Option<&OsStr>, skipped: usize, most: usize) -> bool {
    skipped < most || tools.is_none_or(|value| value != "required")
}

/// Returns the missing requirement of the test of that name, if a step of this run has skipped it.
pub(crate) fn missing_for(id: &str) -> Option<String> {
    let skipped = SKIPPED.lock().unwrap_or_else(PoisonError::into_inner);
    skipped.get(id).cloned()
}

/// Records a test that a step does not run, and the reason; counts it.
pub(crate) fn leave_out(id: String, reason: &str) -> Tally {
    let mut left_out = LEFT_OUT.lock().unwrap_or_else(PoisonError::into_inner);
    left_out.entry(reason.to_owned()).or_default().insert(id);
    Tally {
        left_out: 1,
        ..Tally::default()
    }
}

/// Records the test if its output has a report of a stall. A test without stalls is to have none;
/// the reader of the list knows the tests that cause some.
pub(crate) fn record_stalls(id: &str, output: &str) {
    if output.contains(STALL) {
        let mut stalled = STALLED.lock().unwrap_or_else(PoisonError::into_inner);
        stalled.insert(id.to_owned());
    }
}

/// Records a failed test, its verdict, and the panics in its output.
pub(crate) fn record_failure(id: &str, verdict: &str, output: &str) {
    let mut failed = FAILED.lock().unwrap_or_else(PoisonError::into_inner);
    failed.insert(id.to_owned(), verdict.to_owned() + &panics_in(output));
}

/// Returns each line that reports a panic, with the next one: its message.
fn panics_in(output: &str) -> String {
    let lines: Vec<_> = output.lines().collect();
    let panics = lines
        .windows(2)
        .filter(|two| two[0].contains(" panicked at "));
    let shown = panics.map(|two| format!("\n        {}\n        {}", two[0], two[1]));
    shown.collect()
}

/// Prints all records.
pub(crate) fn print() {
    let failed = FAILED.lock().unwrap_or_else(PoisonError::into_inner);
    heading("failed, some perhaps at one try only", failed.len());
    for (id, why) in failed.iter() {
        println!("    {id}: {why}");
    }
    let stalled = STALLED.lock().unwrap_or_else(PoisonError::into_inner);
    heading("reported stalls", stalled.len());
    stalled.iter().for_each(|id| println!("    {id}"));
    let skipped = SKIPPED.lock().unwrap_or_else(PoisonError::into_inner);
    heading("skipped, with what each lacks", skipped.len());
    for (id, missing) in skipped.iter() {
        println!("    {id}: {missing}");
    }
    let left_out = LEFT_OUT.lock().unwrap_or_else(PoisonError::into_inner);
    heading("left out", left_out.values().map(BTreeSet::len).sum());
    for (reason, ids) in left_out.iter() {
        println!("    {reason}:");
        ids.iter().for_each(|id| println!("        {id}"));
    }
}

/// Prints the heading of a list of tests that is not empty.
fn heading(what: &str, tests: usize) {
    if tests > 0 {
        println!("== {what}: {tests} tests");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_panics_and_their_messages() {
        let output = "a\nthread 'a' panicked at b.rs:1:2:\nleft: 1\nnote: run\n";
        let expected = "\n        thread 'a' panicked at b.rs:1:2:\n        left: 1";
        assert_eq!(panics_in(output), expected);
        assert_eq!(panics_in("test a ... ok\n"), "");
    }

    #[test]
    fn finds_what_a_test_lacks() {
        let output = "running 1 test\ntest a ... \nunmeasured: no strace here\nok\n";
        assert_eq!(missing_in(output).as_deref(), Some("no strace here"));
        assert_eq!(missing_in("test a ... ok\n"), None);
    }

    #[test]
    fn a_skipped_test_is_known_by_its_name() {
        skip("a b", "no strace");
        assert_eq!(missing_for("a b").as_deref(), Some("no strace"));
        assert_eq!(missing_for("a c"), None);
    }

    #[test]
    fn few_tests_are_skipped_where_tools_are_required() {
        let required = Some(OsStr::new("required"));
        assert!(may_skip(None, 10, 10) && may_skip(Some(OsStr::new("")), 10, 0));
        assert!(may_skip(required, 9, 10));
        assert!(!may_skip(required, 10, 10) && !may_skip(required, 0, 0));
    }
}
