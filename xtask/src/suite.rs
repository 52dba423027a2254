//! `cargo xtask test`: the tests that bound no times; without `--all`, neither long ones.
//! `cargo xtask timing`: the others.
//!
//! Unit, integration and compile-fail tests of every crate, each in its own process, and doc tests.
//! With `--all`, as in CI: those named `storm`, crossbeam-channel's tests on pirn's channels, and the tests of
//! other builds (`jobs`). These take as long again, most of it to build.
//!
//! A test with `alone_` in its name bounds a time or needs the whole machine. It runs in the
//! step `timing`, after everything else, one at a time; one of another build, at the end of the step
//! of that build. Other processes can delay such a test, so one that fails is tried again
//! (`on_time`), and the summary counts it.

use std::thread;
use std::time::{Duration, Instant};

use crate::command::{self, Streams};
use crate::harness::{Build, Case, Run, cases, run};
use crate::on_time::in_time;
use crate::options::Options;
use crate::parallel::processors;
use crate::tally::{Tally, seconds};
use crate::{hung, jobs, outcomes, processor};

/// Runs all tests, or those with one of the words in their names.
///
/// # Errors
/// When something does not build, or nothing ran.
pub(crate) fn all(options: &Options) -> Result<Tally, String> {
    if !options.words.is_empty() || options.has("package") {
        return tests(options);
    }
    println!("    tests that bound times: `cargo xtask timing`");
    if options.has("all") {
        let mut tally = whole(options)?;
        for step in ["fat", "portable", "checked"] {
            tally += job(step, options)?;
        }
        return tally.nonzero("tests");
    }
    println!("    long tests, crossbeam's, other builds: `cargo xtask test --all`");
    // Lines would add a fifth to the time to build. Panics name their lines without them.
    let build = Build::new("--workspace --exclude pirn-crossbeam-suite").debug("none");
    build.binaries()?;
    let is_chosen = |case: &Case| !case.is_alone() && !case.is_storm();
    beside_docs(&build, || picked("tests", &build, options, is_chosen))
}

/// Runs all tests that bound no times, and the doc tests.
///
/// # Errors
/// When something does not build, or nothing ran.
pub(crate) fn whole(options: &Options) -> Result<Tally, String> {
    beside_docs(&jobs::build("test")?, || tests(options))
}

/// Runs the doc tests beside the others: most of their time is one compiler's.
fn beside_docs(
    build: &Build,
    others: impl FnOnce() -> Result<Tally, String>,
) -> Result<Tally, String> {
    thread::scope(|s| {
        let docs = s.spawn(|| doc_tests(build));
        let mut tally = others()?;
        tally += docs.join().expect("running doc tests does not panic")?;
        tally.nonzero("tests")
    })
}

/// Runs unit, integration, compile-fail tests of every crate.
///
/// # Errors
/// When something does not build, or nothing ran.
pub(crate) fn tests(options: &Options) -> Result<Tally, String> {
    let picks = |case: &Case| !options.words.is_empty() || !case.is_alone();
    let build = chosen_build(options)?;
    picked("tests", &build, options, picks)
}

/// Runs the tests that bound times, or those with one of the words in their names, one at a time.
///
/// # Errors
/// When something does not build, or nothing ran.
pub(crate) fn timing(options: &Options) -> Result<Tally, String> {
    picked("timing", &chosen_build(options)?, options, Case::is_alone)
}

fn chosen_build(options: &Options) -> Result<Build, String> {
    let package = options.value::<String>("package")?;
    let build = package.map(|package| Build::new(&format!("--package {package}")));
    build.map_or_else(|| jobs::build("test"), Ok)
}

/// Runs the tests of a step with a build of its own.
///
/// # Errors
/// When it does not build, or nothing ran.
pub(crate) fn job(step: &str, options: &Options) -> Result<Tally, String> {
    let own = |case: &Case| jobs::names(step).split('|').any(|n| case.id().contains(n));
    let picks = |case: &Case| !options.words.is_empty() || own(case);
    picked(step, &jobs::build(step)?, options, picks)
}

/// Builds; runs those of the tests that the options and `picks` choose.
fn picked(
    what: &str,
    build: &Build,
    options: &Options,
    picks: impl Fn(&Case) -> bool,
) -> Result<Tally, String> {
    let (begun, before) = (Instant::now(), processor::of_children());
    let mut chosen = cases(build)?;
    let (took, worked) = (seconds(begun.elapsed()), processor::since(before));
    println!("    {what}: built in {took}, by processors in {worked}");
    let mut tally = Tally::default();
    chosen.retain(|case| {
        let is_picked = options.picks(&case.id()) && picks(case);
        let reason = why_left_out(case, build, !options.words.is_empty());
        if let Some(reason) = reason.as_ref().filter(|_| is_picked) {
            tally += outcomes::leave_out(case.id(), reason);
        }
        is_picked && reason.is_none()
    });
    let is_crossbeams = |case: &Case| case.id().starts_with(CROSSBEAM);
    let (crossbeams, own): (Vec<_>, Vec<_>) = chosen.into_iter().partition(is_crossbeams);
    let how = Run::default().with(options)?;
    tally += run_all(own, how)?;
    println!("    {what}: {tally}");
    if !crossbeams.is_empty() {
        let more = run_crossbeams(crossbeams, how)?;
        println!("    crossbeam's tests: {more}");
        tally += more;
    }
    tally.nonzero(what)
}

/// Runs tests, those that bound times last, with retries.
///
/// # Errors
/// When a process cannot be started or watched.
pub(crate) fn run_all(cases: Vec<Case>, how: Run) -> Result<Tally, String> {
    let (alone, together): (Vec<_>, Vec<_>) = cases.into_iter().partition(Case::is_alone);
    let (mut tally, _) = run(&together, how)?;
    tally += in_time(&alone, how)?;
    Ok(tally)
}

/// The beginning of the names of crossbeam-channel's tests.
const CROSSBEAM: &str = "crossbeam-suite::";

/// Runs crossbeam-channel's tests, more at a time: they spend most of their time asleep.
fn run_crossbeams(cases: Vec<Case>, how: Run) -> Result<Tally, String> {
    let (timed, others): (Vec<_>, Vec<_>) = cases.into_iter().partition(is_timed);
    let how = how.at_once(2 * processors() + 1);
    let (mut tally, _) = run(&others, how)?;
    tally += in_time(&timed, how)?;
    Ok(tally)
}

/// Returns true for tests that must be on time within 50 ms, and so run separately from those that
/// compute.
fn is_timed(case: &Case) -> bool {
    let (file, name) = case.name.split_once("::").unwrap_or_default();
    let waits = ["timeout", "default", "intervals"];
    ["after", "never", "tick"].contains(&file)
        || waits.iter().any(|word| name.contains(word)) && !name.contains("linearizable")
}

/// Tests of crossbeam-channel of about ten seconds that duplicate another one: with the function in
/// place of the macro, or on fibers in place of threads. They run when they are named.
const TWINS: [&str; 5] = [
    "crossbeam-suite::threads select::loop_try",
    "crossbeam-suite::threads select_macro::loop_try",
    "crossbeam-suite::fibers select_macro::loop_try",
    "crossbeam-suite::threads select_macro::linearizable_default",
    "crossbeam-suite::threads select_macro::linearizable_timeout",
];

/// Tests that read the frames of fibers by the paths of their functions, or with a debugger. With
/// less than full debug information they would fail.
const FRAMES: [&str; 2] = ["frames::frames_are_reported", "frames::gdb_knows_fibers"];

/// Returns the reason why a test is left out of a run, if it is.
fn why_left_out(case: &Case, build: &Build, is_named: bool) -> Option<String> {
    let reads_frames = FRAMES.contains(&case.name.as_str());
    if let Some(reason) = &case.ignored {
        Some(reason.clone())
    } else if !is_named && TWINS.contains(&case.id().as_str()) {
        Some("the same as another test".to_owned())
    } else if reads_frames && !build.has_full_debug() {
        Some("run by the step `checked`, with all debug information".to_owned())
    } else {
        None
    }
}

/// Timeout of all doc tests and their build.
const DOCS: Duration = Duration::from_secs(3600);

/// Runs the doc tests through cargo: rustdoc builds and runs them, with the libraries of `build`.
fn doc_tests(build: &Build) -> Result<Tally, String> {
    // The crossbeam suite's macros have the documentation of another crate, and its `doctest =
    // false` applies only without `--doc`.
    let args = "test --doc --workspace --exclude pirn-crossbeam-suite";
    let mut cargo = build.cargo(args)?;
    let watched = command::watch(&mut cargo, DOCS, Streams::Both, hung::stacks)?;
    let mut tally = summed(&watched.output);
    if !watched.succeeded() {
        print!("{}", watched.output);
        tally.failed = tally.failed.max(1);
    }
    println!("    doc tests: {tally}");
    tally.nonzero("doc tests")
}

/// Adds up the `test result:` lines of test binaries.
fn summed(text: &str) -> Tally {
    let mut tally = Tally::default();
    for line in text.lines().filter(|line| line.starts_with("test result:")) {
        let number = |what: &str| -> usize {
            let before = line.split(what).next().unwrap_or_default();
            let word = before.split_whitespace().next_back();
            word.and_then(|word| word.parse().ok()).unwrap_or(0)
        };
        tally += Tally {
            passed: number(" passed;"),
            failed: number(" failed;"),
            left_out: number(" ignored;"),
            ..Tally::default()
        };
    }
    tally
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_the_results() {
        let text = "test result: ok. 3 passed; 1 failed; 2 ignored; 0 measured; 0 filtered out\n\
            noise\ntest result: ok. 4 passed; 0 failed; 0 ignored; 0 measured\n";
        let expected = Tally {
            passed: 7,
            failed: 1,
            left_out: 2,
            ..Tally::default()
        };
        assert_eq!(summed(text), expected);
    }
}
