//! `cargo xtask stress`: the stress tests ("storms"), repeatedly.
//!
//! Storms are tests in `crates/pirn/tests/stress`, ignored by default because each does a
//! million operations and more. They run optimised, one after the other, in rounds: a given
//! number (`--repeat 50`), or for a given time (`--minutes 5`), one whole round at least. The long
//! tests of `pgz`, ignored for the same reason, run in the first round only: they depend on size,
//! not on chance.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::harness::{Build, Case, Run, cases, run};
use crate::options::Options;
use crate::tally::{Tally, seconds};

/// Runs all storms, or those with one of the words in their names.
///
/// # Errors
/// When they do not build, or nothing ran.
pub(crate) fn stress(options: &Options) -> Result<Tally, String> {
    let (mut storms, mut once) = (storms()?, long_tests()?);
    for cases in [&mut storms, &mut once] {
        cases.retain(|case| options.picks(&case.name));
    }
    let repeat: Option<usize> = options.value("repeat")?;
    let minutes: f64 = options.value("minutes")?.unwrap_or(1.0);
    let budget = Duration::from_secs_f64(minutes * 60.0);
    let how = Run {
        timeout: Duration::from_secs(options.value("timeout")?.unwrap_or(300)),
        jobs: options.value("jobs")?.unwrap_or(1),
        verbose: options.has("verbose"),
        quiet: false,
    };
    let start = Instant::now();
    let mut scores: BTreeMap<String, Score> = BTreeMap::new();
    let mut tally = Tally::default();
    let mut round = 0;
    'rounds: while repeat.is_none_or(|n| round < n) {
        let once = if round == 0 { once.as_slice() } else { &[] };
        let jobs = how.jobs.max(1);
        for batch in once.chunks(jobs).chain(storms.chunks(jobs)) {
            if repeat.is_none() && round > 0 && start.elapsed() > budget {
                break 'rounds;
            }
            let (ran, endings) = run(batch, how)?;
            tally += ran;
            for ending in endings {
                scores
                    .entry(ending.id)
                    .or_default()
                    .add(ending.passed, ending.took);
            }
        }
        round += 1;
        if storms.is_empty() {
            break;
        }
    }
    for (storm, score) in &scores {
        println!(
            "    {}/{} {storm}, {} at most",
            score.passed,
            score.runs,
            score.longest()
        );
    }
    tally.nonzero("stress")
}

/// Builds the storms.
///
/// # Errors
/// When they do not build.
pub(crate) fn storms() -> Result<Vec<Case>, String> {
    let build = Build::new(&["--package", "pirn", "--release", "--test", "stress"]);
    cases(&build.binaries()?)
}

/// Builds the tests of `pgz` that take minutes.
fn long_tests() -> Result<Vec<Case>, String> {
    let build = Build::new(&["--package", "pgz", "--release", "--test", "it"]);
    let mut tests = cases(&build.binaries()?)?;
    tests.retain(|case| case.ignored.is_some());
    Ok(tests)
}

#[derive(Debug, Default)]
struct Score {
    runs: usize,
    passed: usize,
    longest: Duration,
}

impl Score {
    fn add(&mut self, passed: bool, took: Duration) {
        self.runs += 1;
        self.passed += usize::from(passed);
        self.longest = self.longest.max(took);
    }

    fn longest(&self) -> String {
        seconds(self.longest)
    }
}
