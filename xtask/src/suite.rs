//! `cargo xtask test`: all tests that do not depend on the speed of the machine.
//! `cargo xtask timing`: the others.
//!
//! Unit, integration and compile-fail tests of every crate, each in its own process, and doc tests.
//! With `--all`, as in CI: crossbeam-channel's tests on pirn's channels; the thread-local suite
//! again in the most optimized profile; the platform-dependent modules again in their portable
//! version; the features `diagnostics` and `tracing`. These take as long again, most of it to
//! build.
//!
//! A test with `alone_` in its name bounds a time or needs the whole machine. It runs in the
//! lane `timing`, after everything else, one at a time. Other processes can delay such a test, so
//! one that fails is tried again (`on_time`), and the summary counts it.

use std::time::{Duration, Instant};

use crate::command;
use crate::harness::{Build, Case, Run, cases, run};
use crate::on_time::in_time;
use crate::options::Options;
use crate::parallel::processors;
use crate::processor;
use crate::skips;
use crate::tally::{Tally, seconds};

/// Runs all tests, or those with one of the words in their names.
///
/// # Errors
/// When something does not build, or nothing ran.
pub(crate) fn all(options: &Options) -> Result<Tally, String> {
    let package: Option<String> = options.value("package")?;
    if !options.words.is_empty() || package.is_some() {
        return unit_and_integration(options);
    }
    let build = if options.has("all") {
        workspace_build()
    } else {
        println!(
            "    crossbeam's tests and tests of other builds: `cargo xtask test --all`"
        );
        // Line tables suffice for the reports of failures.
        Build::new(&["--workspace", "--exclude", "pirn-crossbeam-suite"])
            .debug("line-tables-only")
    };
    println!("    tests that bound times: `cargo xtask timing`");
    let mut tally = lane_of("tests", &build, options, |case| !case.is_alone())?;
    if options.has("all") {
        tally += fat(options)?;
        tally += portable(options)?;
        tally += checked(options)?;
    }
    tally += doc()?;
    tally.nonzero("tests")
}

/// Runs unit, integration, compile-fail tests of every crate.
///
/// # Errors
/// When something does not build, or nothing ran.
pub(crate) fn unit_and_integration(options: &Options) -> Result<Tally, String> {
    let picks = |case: &Case| !options.words.is_empty() || !case.is_alone();
    lane_of("tests", &chosen_build(options)?, options, picks)
}

/// Runs the tests that bound times, or those with one of the words in their names, one at a time.
///
/// # Errors
/// When something does not build, or nothing ran.
pub(crate) fn timing(options: &Options) -> Result<Tally, String> {
    lane_of("timing", &chosen_build(options)?, options, Case::is_alone)
}

fn chosen_build(options: &Options) -> Result<Build, String> {
    Ok(match options.value::<String>("package")? {
        Some(package) => Build::new(&["--package", &package]),
        None => workspace_build(),
    })
}

/// Returns the build of [`unit_and_integration`].
pub(crate) fn workspace_build() -> Build {
    Build::new(&["--workspace"])
}

/// Runs the tests of optimised code, under fat LTO: no optimisation may carry an address of a
/// thread-local over a suspension point, and no operation may exceed its number of
/// read-modify-writes.
///
/// # Errors
/// When it does not build, or nothing ran.
pub(crate) fn fat(options: &Options) -> Result<Tally, String> {
    lane("optimised code, fat LTO", &fat_build(), options)
}

/// Returns the build of [`fat`].
pub(crate) fn fat_build() -> Build {
    Build::new(&[
        "--package",
        "pirn",
        "--test",
        "thread_locals",
        "--test",
        "rmw",
        "--profile",
        "fat",
    ])
}

/// Runs the tests of stacks, parking and spawning again on the portable switch and the portable
/// parker, which other systems would use.
///
/// # Errors
/// When it does not build, or nothing ran.
pub(crate) fn portable(options: &Options) -> Result<Tally, String> {
    let mut chosen = options.clone();
    if chosen.words.is_empty() {
        let rooms = [
            "context::",
            "parker",
            " sockets::",
            " socket_faults::",
            " socket_waits::",
            "readiness::",
            " park::",
            " spawn::",
            " panics::",
            " stacks::",
        ];
        chosen.words = rooms.map(str::to_owned).to_vec();
    }
    lane(
        "portable switch, parker and poller",
        &portable_build(),
        &chosen,
    )
}

/// Runs the tests of the features `diagnostics` and `tracing`, and tests that must pass with them
/// too.
///
/// # Errors
/// When it does not build, or nothing ran.
pub(crate) fn checked(options: &Options) -> Result<Tally, String> {
    let mut chosen = options.clone();
    if chosen.words.is_empty() {
        let rooms = [
            " checks::",
            " spans::",
            " environment::",
            " frames::",
            " panics::",
            " spawn::",
            " stacks::",
            " unwinding::",
        ];
        chosen.words = rooms.map(str::to_owned).to_vec();
    }
    lane("with diagnostics and tracing", &checked_build(), &chosen)
}

/// Returns the build of [`checked`]. Debuggers inspect it: it has full debug information, unlike
/// other lanes.
pub(crate) fn checked_build() -> Build {
    Build::new(&[
        "--package",
        "pirn",
        "--features",
        "diagnostics,tracing",
        "--test",
        "machine",
    ])
    .debug("full")
}

/// Runs the library's tests of waits and their ends again where fibers may migrate.
///
/// # Errors
/// When it does not build, or nothing ran.
pub(crate) fn free(options: &Options) -> Result<Tally, String> {
    let mut chosen = options.clone();
    if chosen.words.is_empty() {
        let rooms = [
            " cancel::",
            " channel_storm::",
            " deadline::",
            " deadlock ",
            " elastic::",
            " futures",
            " idle ",
            " join::",
            " loans::",
            " par_",
            " park::",
            " reports::",
            " scope::",
            " select::",
            " shutdown::",
            " sockets::",
            " socket_faults::",
            " socket_waits::",
            " structure::",
            " timers::",
        ];
        chosen.words = rooms.map(str::to_owned).to_vec();
    }
    lane("fibers that may migrate", &free_build(), &chosen)
}

/// Returns the build of [`free`].
pub(crate) fn free_build() -> Build {
    let args = &[
        "--package",
        "pirn",
        "--test",
        "it",
        "--test",
        "machine",
        "--test",
        "idle",
        "--test",
        "deadlock",
    ];
    Build::new(args)
        .lane("free", "--cfg pirn_free")
        .debug("none")
}

/// Returns the build of [`portable`].
pub(crate) fn portable_build() -> Build {
    let args = &[
        "--package",
        "pirn",
        "--features",
        "corosensei",
        "--lib",
        "--test",
        "machine",
    ];
    Build::new(args)
        .lane("portable", "--cfg pirn_condvar --cfg pirn_polling")
        .debug("none")
}

/// Builds a lane and runs its chosen tests that are not ignored.
fn lane(what: &str, build: &Build, options: &Options) -> Result<Tally, String> {
    lane_of(what, build, options, |_| true)
}

/// As [`lane`], for tests that `picks` also accepts.
fn lane_of(
    what: &str,
    build: &Build,
    options: &Options,
    picks: impl Fn(&Case) -> bool,
) -> Result<Tally, String> {
    let (begun, before) = (Instant::now(), processor::of_children());
    let all = cases(&build.binaries()?)?;
    println!(
        "    {what}: built in {}, by processors in {}",
        seconds(begun.elapsed()),
        processor::since(before)
    );
    let (chosen, rest): (Vec<_>, Vec<_>) = all
        .into_iter()
        .filter(|case| options.picks(&case.id()) && picks(case))
        .partition(|case| {
            let is_asked_for = !is_twin(case) || !options.words.is_empty();
            case.ignored.is_none()
                && is_asked_for
                && (!reads_frames(case) || build.tells_all())
        });
    let is_crossbeams = |case: &Case| case.id().starts_with(CROSSBEAM);
    let (crossbeams, own): (Vec<_>, Vec<_>) = chosen.into_iter().partition(is_crossbeams);
    let mut tally = run_all(own, how(options)?)?;
    for case in rest {
        tally += skips::leave_out(case.id(), &why_left_out(&case));
    }
    println!("    {what}: {tally}");
    if !crossbeams.is_empty() {
        let (timed, others): (Vec<_>, Vec<_>) =
            crossbeams.into_iter().partition(is_timed);
        let how = side_by_side(how(options)?);
        let (mut more, _) = run(&others, how)?;
        more += in_time(&timed, how)?;
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

/// More at a time: crossbeam-channel's own tests spend most of their time asleep.
fn side_by_side(how: Run) -> Run {
    let jobs = if how.jobs == 0 {
        6 * processors()
    } else {
        how.jobs
    };
    Run { jobs, ..how }
}

/// Returns true for tests that must be on time within 50 ms, and so run separately from those that
/// compute.
fn is_timed(case: &Case) -> bool {
    let (file, name) = case.name.split_once("::").unwrap_or_default();
    let waits = ["timeout", "default", "intervals"];
    ["after", "never", "tick"].contains(&file)
        || waits.iter().any(|word| name.contains(word)) && !name.contains("linearizable")
}

/// Returns true for crossbeam tests of about ten seconds that duplicate another one: with the
/// function in place of the macro, or on fibers in place of threads. They run when they are named.
fn is_twin(case: &Case) -> bool {
    let twins = [
        "threads select::loop_try",
        "threads select_macro::loop_try",
        "fibers select_macro::loop_try",
        "threads select_macro::linearizable_default",
        "threads select_macro::linearizable_timeout",
    ];
    let id = case.id();
    id.strip_prefix(CROSSBEAM)
        .is_some_and(|name| twins.contains(&name))
}

/// Returns the reason why [`lane_of`] does not run it.
fn why_left_out(case: &Case) -> String {
    match &case.ignored {
        Some(reason) => reason.clone(),
        None if is_twin(case) => "the same as another test".to_owned(),
        None => "run by the lane `checked`, with all debug information".to_owned(),
    }
}

/// Returns true for tests that read the frames of fibers by the paths of their functions, or with a
/// debugger. With less debug information they would fail; the lane `checked` runs them.
fn reads_frames(case: &Case) -> bool {
    let tests = ["frames::frames_are_reported", "frames::gdb_knows_fibers"];
    tests.contains(&case.name.as_str())
}

/// The beginning of the names of crossbeam's tests.
const CROSSBEAM: &str = "crossbeam-suite::";

/// Returns the settings of a run, from the options.
///
/// # Errors
/// When a value cannot be read.
pub(crate) fn how(options: &Options) -> Result<Run, String> {
    let mut how = Run {
        verbose: options.has("verbose"),
        ..Run::default()
    };
    if let Some(seconds) = options.value("timeout")? {
        how.timeout = Duration::from_secs(seconds);
    }
    if let Some(jobs) = options.value("jobs")? {
        how.jobs = jobs;
    }
    Ok(how)
}

/// Runs the doc tests through cargo: rustdoc builds and runs them.
///
/// # Errors
/// When nothing ran.
pub(crate) fn doc() -> Result<Tally, String> {
    // The crossbeam suite's macros have the documentation of another crate, and its `doctest =
    // false` applies only without `--doc`.
    let which = ["--workspace", "--exclude", "pirn-crossbeam-suite"];
    let mut cargo = command::cargo();
    let (ok, text) = command::outcome(cargo.args(["test", "--doc"]).args(which))?;
    let mut tally = summed(&text);
    if !ok {
        print!("{text}");
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
            before
                .split_whitespace()
                .next_back()
                .and_then(|n| n.parse().ok())
                .unwrap_or(0)
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
        assert_eq!(
            summed(text),
            Tally {
                passed: 7,
                failed: 1,
                left_out: 2,
                ..Tally::default()
            }
        );
    }
}
