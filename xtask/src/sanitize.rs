//! `cargo xtask asan` and `cargo xtask tsan`: the tests with instrumented memory accesses.
//!
//! Both build the library with its hooks at the switch (`--cfg pirn_asan`, `pirn_tsan`) on
//! the stable toolchain; ThreadSanitizer also instruments `std`, or correct programs would
//! appear racy. A quick run takes the unit and behaviour tests; a full one adds the storms and the
//! tests that need the machine to themselves.
//!
//! A checker that finds nothing may be ineffective: tests named `seeded_…` plant a leak or a race,
//! run in a process of their own, and must be reported.

use std::slice;

use crate::harness::{Build, Case, Run, cases, run};
use crate::options::Options;
use crate::tally::Tally;
use crate::{command, repo, rust_src};

/// One run may miss a seeded race: a switch is an ordering too.
const TRIES: usize = 20;

/// The tests of a quick run.
const QUICK: &str = "--lib --test it --test machine --test crossing";

/// Tests that a run under ThreadSanitizer without names leaves out: the wheel and plans use no
/// threads, and the text of a backtrace has no race; each would take up to half a minute.
const WITHOUT_RACES: [&str; 3] = [
    "timer::",
    "par::graph::tests::plan::",
    "stacks::ordinary_work_fits_a_stack",
];

/// A checker of memory accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sanitizer {
    Address,
    Thread,
}

impl Sanitizer {
    fn name(self) -> &'static str {
        match self {
            Sanitizer::Address => "asan",
            Sanitizer::Thread => "tsan",
        }
    }

    /// The beginning of its report on a seeded bug.
    fn reports(self) -> &'static [&'static str] {
        match self {
            Sanitizer::Address => &["ERROR: AddressSanitizer", "ERROR: LeakSanitizer"],
            Sanitizer::Thread => &["WARNING: ThreadSanitizer"],
        }
    }

    /// The packages with tests, and what their builds need.
    fn packages(self) -> &'static str {
        match self {
            // The crate of libc's functions is one object, so that the linker takes all of them in
            // place of the sanitizer's, which are weak.
            Sanitizer::Address => {
                "--package pirn --package pirn-hooks \
                 --config profile.dev.package.pirn-hooks.codegen-units=1"
            }
            // Without `pirn-hooks`: it takes the place of the functions by which the sanitizer
            // follows descriptors, so the next use of a number appears to race with the last one.
            Sanitizer::Thread => "--package pirn",
        }
    }

    /// Returns the build of a quick run.
    ///
    /// # Errors
    /// When the compiler does not name its host, or there are no sources of the library.
    pub(crate) fn quick_build(self) -> Result<Build, String> {
        self.build(QUICK, true)
    }

    /// The build of these targets. For a quick run a report names functions, not lines: lines are a
    /// fifth of the build, and each backtrace in an instrumented program reads all of them. Under
    /// ThreadSanitizer always: where there are lines, a report names inlined functions, without their
    /// paths, and suppressions do not match.
    fn build(self, targets: &str, quick: bool) -> Result<Build, String> {
        let build_std = match self {
            Sanitizer::Address => "",
            Sanitizer::Thread => "-Zbuild-std",
        };
        let host = host()?;
        let args = format!("{} --target {host} {targets} {build_std}", self.packages());
        // A backtrace takes an instrumented std half a minute.
        let build = Build::new(&args)
            .debug(match quick || self == Sanitizer::Thread {
                true => "none",
                false => "line-tables-only",
            })
            .env("RUSTC_BOOTSTRAP", "1")
            .env("RUST_BACKTRACE", "0");
        Ok(match self {
            Sanitizer::Address => build
                .flags("asan", "-Zsanitizer=address --cfg pirn_asan")
                // Variables stay on their stacks; otherwise memory referenced from a parked fiber
                // is reported as a leak
                // (docs/design/02-stacks-and-switch.md#no-search-for-uses-after-return).
                .env(
                    "ASAN_OPTIONS",
                    "detect_leaks=1:detect_stack_use_after_return=0",
                )
                .env("LSAN_OPTIONS", lsan_options()),
            Sanitizer::Thread => build
                .flags("tsan", "-Zsanitizer=thread --cfg pirn_tsan")
                // No wait of a second at the end of each process for its threads: for 700 tests
                // that is most of the time.
                .env("TSAN_OPTIONS", "atexit_sleep_ms=10")
                .env("__CARGO_TESTS_ONLY_SRC_ROOT", rust_src::library()?),
        })
    }

    /// Runs the tests under it; leaks are found by AddressSanitizer alone.
    ///
    /// # Errors
    /// When they do not build, or nothing ran.
    pub(crate) fn run(self, options: &Options) -> Result<Tally, String> {
        let (name, quick) = (self.name(), options.has("quick"));
        let how = Run::default().with(options)?;
        let mut chosen = cases(&self.build(QUICK, quick)?)?;
        chosen.retain(|case| options.picks(&case.name));
        let is_seeded = |case: &Case| case.name.contains("seeded_");
        let chosen = chosen.into_iter();
        let (seeded, mut plain): (Vec<_>, Vec<_>) = chosen.partition(is_seeded);
        plain.retain(|case| {
            let takes_long = quick && (case.is_alone() || case.is_storm());
            let is_unnamed = options.words.is_empty() && self == Sanitizer::Thread;
            let has_no_race = WITHOUT_RACES.iter().any(|it| case.name.starts_with(it));
            case.ignored.is_none() && !takes_long && !(is_unnamed && has_no_race)
        });
        let (mut tally, _) = run(&plain, how)?;
        println!("    {name}: {tally}");
        tally += self.caught(&seeded, options)?;
        if !quick {
            let mut storms = cases(&self.build("--release --test stress", quick)?)?;
            // Bounds on time mean nothing here.
            storms.retain(|storm| !storm.is_alone() && options.picks(&storm.name));
            let (storms, _) = run(&storms, how)?;
            println!("    {name} storms: {storms}");
            tally += storms;
        }
        tally.nonzero(name)
    }

    /// Runs the seeded bugs; each must be reported. If tests are named, there may be none.
    fn caught(self, seeded: &[Case], options: &Options) -> Result<Tally, String> {
        let how = Run {
            quiet: true,
            ..Run::default()
        };
        let is_report = |line: &str| self.reports().iter().any(|r| line.contains(r));
        let mut tally = Tally::default();
        for case in seeded {
            let mut found = None;
            for attempt in 1..=TRIES {
                let (_, endings) = run(slice::from_ref(case), how)?;
                let is_reported = |output: &str| output.lines().any(is_report);
                if endings.iter().any(|e| !e.passed && is_reported(&e.output)) {
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
        if !options.words.is_empty() {
            return Ok(tally);
        }
        tally.nonzero("seeded bugs")
    }
}

fn lsan_options() -> String {
    let known = repo::root().join("xtask/lsan.txt");
    format!("suppressions={}:print_suppressions=0", known.display())
}

/// Returns the target triple of the building machine.
fn host() -> Result<String, String> {
    let text = command::output(command::program("rustc").arg("-vV"))?;
    let line = text.lines().find_map(|line| line.strip_prefix("host: "));
    line.map(str::to_owned)
        .ok_or_else(|| "rustc does not name its host".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_tests_need_no_seeded_bug() {
        let named = Options::parse(&["join".to_owned()], "asan [name…]").unwrap();
        assert!(Sanitizer::Address.caught(&[], &named).is_ok());
        assert!(Sanitizer::Address.caught(&[], &Options::default()).is_err());
    }
}
