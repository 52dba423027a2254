//! `cargo xtask asan` and `cargo xtask tsan`: the tests with instrumented memory accesses.
//!
//! Both build the library with its hooks at the switch (`--cfg pirn_asan`, `pirn_tsan`) on
//! the stable toolchain; ThreadSanitizer also instruments `std`, or correct programs would
//! appear racy. A quick run takes the unit and behaviour tests; a full one adds the storms and the
//! tests that need the machine to themselves.
//!
//! A checker that finds nothing may be ineffective: tests named `seeded_…` plant a leak or a race,
//! run in a process of their own, and must be reported.

use crate::command;
use crate::harness::{Build, Case, Run, cases, run};
use crate::options::Options;
use crate::repo;
use crate::rust_src;
use crate::suite;
use crate::tally::Tally;

/// One run may miss a seeded race: a switch is an ordering too.
const TRIES: usize = 20;

/// One sanitizer.
#[derive(Debug, Clone, Copy)]
enum Lane {
    Address,
    Thread,
}

impl Lane {
    fn name(self) -> &'static str {
        match self {
            Lane::Address => "asan",
            Lane::Thread => "tsan",
        }
    }

    /// Returns true if the lane, when no tests are named, leaves this one out: the wheel uses no
    /// threads, and the text of a backtrace has no race; each would take half a minute.
    fn skips(self, case: &Case) -> bool {
        let of_one_thread = ["timer::", "stacks::ordinary_work_fits_a_stack"];
        matches!(self, Lane::Thread)
            && of_one_thread
                .iter()
                .any(|start| case.name.starts_with(start))
    }

    /// The beginning of its report on a seeded bug.
    fn reports(self) -> &'static [&'static str] {
        match self {
            Lane::Address => &["ERROR: AddressSanitizer", "ERROR: LeakSanitizer"],
            Lane::Thread => &["WARNING: ThreadSanitizer"],
        }
    }

    /// The build of these targets. For a quick run a report names functions, not lines: lines are a fifth of the build,
    /// and each backtrace in an instrumented program reads all of them.
    fn build(self, targets: &[&str], quick: bool) -> Result<Build, String> {
        let host = host()?;
        let mut args = vec!["--package", "pirn", "--target", &host];
        args.extend_from_slice(targets);
        if let Lane::Thread = self {
            args.push("-Zbuild-std");
        }
        // A backtrace takes an instrumented std half a minute.
        let build = Build::new(&args)
            .debug(if quick { "none" } else { "line-tables-only" })
            .env("RUSTC_BOOTSTRAP", "1")
            .env("RUST_BACKTRACE", "0");
        Ok(match self {
            Lane::Address => build
                .lane("asan", "-Zsanitizer=address --cfg pirn_asan")
                // Variables stay on their stacks; otherwise memory referenced from a parked fiber
                // is reported as a leak
                // (docs/design/02-stacks-and-switch.md#no-search-for-uses-after-return).
                .env(
                    "ASAN_OPTIONS",
                    "detect_leaks=1:detect_stack_use_after_return=0",
                )
                .env("LSAN_OPTIONS", lsan_options()),
            Lane::Thread => build
                .lane("tsan", "-Zsanitizer=thread --cfg pirn_tsan")
                // No wait of a second at the end of each process for its threads: for 700 tests
                // that is most of the time.
                .env("TSAN_OPTIONS", "atexit_sleep_ms=10")
                .env("__CARGO_TESTS_ONLY_SRC_ROOT", rust_src::library()?),
        })
    }
}

fn lsan_options() -> String {
    let known = repo::root().join("xtask/lsan.txt");
    format!("suppressions={}:print_suppressions=0", known.display())
}

/// Runs the tests under AddressSanitizer, leaks included.
///
/// # Errors
/// When they do not build, or nothing ran.
pub(crate) fn asan(options: &Options) -> Result<Tally, String> {
    lane(Lane::Address, options)
}

/// Runs the tests under ThreadSanitizer.
///
/// # Errors
/// When they do not build, or nothing ran.
pub(crate) fn tsan(options: &Options) -> Result<Tally, String> {
    lane(Lane::Thread, options)
}

/// Returns the build of a quick run of [`asan`].
///
/// # Errors
/// When the compiler does not report its host target.
pub(crate) fn asan_build() -> Result<Build, String> {
    Lane::Address.build(&QUICK, true)
}

/// Returns the build of a quick run of [`tsan`].
///
/// # Errors
/// As [`asan_build`], and when there are no sources of the library.
pub(crate) fn tsan_build() -> Result<Build, String> {
    Lane::Thread.build(&QUICK, true)
}

/// The sources of a quick run's tests.
const QUICK: [&str; 5] = ["--lib", "--test", "it", "--test", "machine"];

fn lane(lane: Lane, options: &Options) -> Result<Tally, String> {
    let quick = options.has("quick");
    let all = cases(&lane.build(&QUICK, quick)?.binaries()?)?;
    let (seeded, plain): (Vec<_>, Vec<_>) = all
        .into_iter()
        .filter(|case| options.picks(&case.name))
        .partition(|case| case.name.contains("seeded_"));
    let chosen: Vec<_> = plain
        .into_iter()
        .filter(|case| {
            !(case.ignored.is_some() || quick && (case.is_alone() || case.is_storm()))
        })
        .filter(|case| !(options.words.is_empty() && lane.skips(case)))
        .collect();
    let (mut tally, _) = run(&chosen, suite::how(options)?)?;
    println!("    {}: {tally}", lane.name());
    tally += caught(lane, &seeded)?;
    if !quick {
        let mut storms = cases(
            &lane
                .build(&["--release", "--test", "stress"], quick)?
                .binaries()?,
        )?;
        storms.retain(|storm| options.picks(&storm.name));
        let (storms, _) = run(&storms, suite::how(options)?)?;
        println!("    {} storms: {storms}", lane.name());
        tally += storms;
    }
    tally.nonzero(lane.name())
}

/// Runs the seeded bugs; each must be reported.
fn caught(lane: Lane, seeded: &[Case]) -> Result<Tally, String> {
    let mut tally = Tally::default();
    for case in seeded {
        let mut found = None;
        for attempt in 1..=TRIES {
            let how = Run {
                quiet: true,
                ..Run::default()
            };
            let (_, endings) = run(std::slice::from_ref(case), how)?;
            let is_report = |line: &str| lane.reports().iter().any(|r| line.contains(r));
            if endings
                .iter()
                .any(|e| !e.passed && e.output.lines().any(is_report))
            {
                found = Some(attempt);
                break;
            }
        }
        match found {
            Some(attempt) => println!("    caught  {} in run {attempt}", case.name),
            None => println!("    MISSED  {} in {TRIES} runs", case.name),
        }
        tally += Tally::check(found.is_some());
    }
    tally.nonzero("seeded bugs")
}

/// Returns the target triple of the building machine.
fn host() -> Result<String, String> {
    let text = command::output(command::program("rustc").arg("-vV"))?;
    let line = text.lines().find_map(|line| line.strip_prefix("host: "));
    line.map(str::to_owned)
        .ok_or_else(|| "rustc does not name its host".to_owned())
}
