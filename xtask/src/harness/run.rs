//! Runs chosen tests: each in its own process, several in parallel, each with a timeout.
//!
//! A test that needs the machine to itself (`Case::is_alone`) runs after the others, alone. One
//! that sleeps (`Case::is_asleep`) runs beside the others from the start, as one more. A test
//! counts as passed only if its process succeeded *and* reported exactly one test.

use std::thread;
use std::time::Duration;

use super::cases::Case;
use crate::command::{Streams, watch};
use crate::options::Options;
use crate::parallel::{parallel, processors};
use crate::tally::{Tally, seconds};
use crate::{hung, outcomes};

/// The settings of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run {
    /// A test that takes longer has failed, and is killed.
    pub(crate) timeout: Duration,
    /// Number of tests in parallel; 0 means one for each core, and one more: most tests wait for a
    /// part of their time.
    pub(crate) jobs: usize,
    /// Prints each test, not only failed and slow ones, with its processor time.
    pub(crate) verbose: bool,
    /// Prints nothing: the caller expects failures.
    pub(crate) quiet: bool,
    /// Leaves `RUST_BACKTRACE` as it is. Otherwise it is 0: hundreds of tests panic on purpose, and
    /// each backtrace takes a third of a second.
    pub(crate) backtraces: bool,
}

impl Default for Run {
    fn default() -> Run {
        Run {
            timeout: Duration::from_secs(300),
            jobs: 0,
            verbose: false,
            quiet: false,
            backtraces: false,
        }
    }
}

impl Run {
    /// Returns the same with the settings that the options name.
    ///
    /// # Errors
    /// When a value cannot be read.
    pub(crate) fn with(self, options: &Options) -> Result<Run, String> {
        let timeout = options.value("timeout")?.map(Duration::from_secs);
        Ok(Run {
            timeout: timeout.unwrap_or(self.timeout),
            jobs: options.value("jobs")?.unwrap_or(self.jobs),
            verbose: self.verbose || options.has("verbose"),
            quiet: self.quiet,
            backtraces: !options.words.is_empty(),
        })
    }

    /// Returns the same with so many tests at once, unless the command line says how many.
    pub(crate) fn at_once(mut self, jobs: usize) -> Run {
        if self.jobs == 0 {
            self.jobs = jobs;
        }
        self
    }
}

/// The outcome of one test.
#[derive(Debug)]
pub(crate) struct Ending {
    pub(crate) id: String,
    pub(crate) passed: bool,
    /// The missing requirement of its measurement, if it reports one: then it has neither passed
    /// nor failed.
    pub(crate) missing: Option<String>,
    /// Ended by a signal, or killed at its time limit.
    pub(crate) died: bool,
    pub(crate) took: Duration,
    /// Its whole output, both streams.
    pub(crate) output: String,
}

impl Ending {
    /// Returns true if it has measured, or should have, and has not passed.
    pub(crate) fn has_failed(&self) -> bool {
        !self.passed && self.missing.is_none()
    }
}

/// Runs the cases; prints the failed ones; returns the outcomes in the order of `cases`.
///
/// # Errors
/// When a process cannot be started or watched.
pub(crate) fn run(cases: &[Case], how: Run) -> Result<(Tally, Vec<Ending>), String> {
    let jobs = match how.jobs {
        0 => processors() + 1,
        jobs => jobs,
    };
    let numbered = cases.iter().enumerate();
    let (alone, others): (Vec<_>, Vec<_>) =
        numbered.partition(|(_, case)| case.is_alone());
    let (asleep, mut together): (Vec<_>, Vec<_>) =
        others.into_iter().partition(|(_, case)| case.is_asleep());
    together.sort_by_key(|(_, case)| !case.compiles());
    let run_all = |cases: &[(usize, &Case)], jobs| {
        parallel(cases, jobs, |(at, case)| (*at, one(case, how)))
    };
    let mut endings = thread::scope(|s| {
        let asleep = s.spawn(|| run_all(&asleep, asleep.len()));
        let mut endings = run_all(&together, jobs);
        endings.extend(asleep.join().expect("watching a test does not panic"));
        endings
    });
    endings.extend(run_all(&alone, 1));
    endings.sort_by_key(|(at, _)| *at);
    let endings = endings.into_iter().map(|(_, ending)| ending);
    let endings: Vec<_> = endings.collect::<Result<_, String>>()?;
    let mut tally = Tally::default();
    for ending in &endings {
        outcomes::record_stalls(&ending.id, &ending.output);
        tally += match &ending.missing {
            Some(missing) => outcomes::skip(&ending.id, missing),
            None => Tally::check(ending.passed),
        };
    }
    Ok((tally, endings))
}

fn one(case: &Case, how: Run) -> Result<Ending, String> {
    let id = case.id();
    let watched = watch(
        &mut case.command(how.backtraces),
        how.timeout,
        Streams::Both,
        if how.quiet {
            hung::undescribed
        } else {
            hung::stacks
        },
    );
    let watched = watched.map_err(|e| format!("{id}: {e}"))?;
    let (took, worked) = (seconds(watched.took), seconds(watched.worked));
    let ended_well =
        watched.succeeded() && watched.output.contains("test result: ok. 1 passed");
    let missing = outcomes::missing_in(&watched.output).filter(|_| ended_well);
    let passed = ended_well && missing.is_none();
    let verdict = match watched.status {
        None => format!("TIMEOUT after {}", seconds(how.timeout)),
        Some(_) if passed => "ok".to_owned(),
        Some(_) if missing.is_some() => "skipped".to_owned(),
        Some(status) => format!("FAILED ({status})"),
    };
    let is_slow = watched.took > Duration::from_secs(20);
    if !how.quiet && how.verbose {
        println!("    {took:<7} {worked:>7} {id} {verdict}");
    } else if !how.quiet && (is_slow || !passed) {
        println!("    {took:<7} {id} {verdict}");
    }
    if !how.quiet && !ended_well {
        for line in watched.output.lines() {
            println!("      | {line}");
        }
        outcomes::record_failure(&id, &verdict, &watched.output);
    }
    Ok(Ending {
        id,
        passed,
        missing,
        died: watched.status.is_none_or(|status| status.code().is_none()),
        took: watched.took,
        output: watched.output,
    })
}
