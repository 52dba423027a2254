//! Runs chosen tests: each in its own process, several in parallel, each with a timeout.
//!
//! A test that needs the machine to itself (`Case::is_alone`) runs after the others, alone. One
//! that sleeps (`Case::is_asleep`) runs beside the others from the start, as one more. A test
//! counts as passed only if its process succeeded *and* reported exactly one test.

use std::fs::{self, File};
use std::io::{Read as _, Seek as _};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::cases::Case;
use crate::parallel::{parallel, processors};
use crate::processor;
use crate::repo;
use crate::skips;
use crate::tally::{Tally, seconds};

/// The settings of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run {
    /// A test that takes longer has failed, and is killed.
    pub(crate) timeout: Duration,
    /// Number of tests in parallel; 0 means one for each core, and one more: most tests wait for a part of
    /// their time.
    pub(crate) jobs: usize,
    /// Prints each test, not only failed and slow ones, with its processor time.
    pub(crate) verbose: bool,
    /// Prints nothing: the caller expects failures.
    pub(crate) quiet: bool,
}

impl Default for Run {
    fn default() -> Run {
        Run {
            timeout: Duration::from_secs(300),
            jobs: 0,
            verbose: false,
            quiet: false,
        }
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

/// The data that a thread needs to run one case; cheap to send.
#[derive(Debug)]
struct Job {
    id: String,
    command: Command,
}

/// Runs the cases; prints the failed ones; returns the outcomes in the order of `cases`.
///
/// # Errors
/// When a process cannot be started or watched.
pub(crate) fn run(cases: &[Case], how: Run) -> Result<(Tally, Vec<Ending>), String> {
    let jobs = if how.jobs == 0 {
        processors() + 1
    } else {
        how.jobs
    };
    let (alone, others): (Vec<_>, Vec<_>) = cases
        .iter()
        .enumerate()
        .partition(|(_, case)| case.is_alone());
    let (asleep, mut together): (Vec<_>, Vec<_>) =
        others.into_iter().partition(|(_, case)| case.is_asleep());
    together.sort_by_key(|(_, case)| !case.compiles());
    let (asleep, together) = (work(&asleep), work(&together));
    let mut endings = thread::scope(|s| {
        let sleepers = s.spawn(|| side_by_side(&asleep, how, asleep.len()));
        let mut endings = side_by_side(&together, how, jobs)?;
        endings.extend(sleepers.join().expect("watching a test does not panic")?);
        Ok::<_, String>(endings)
    })?;
    endings.extend(side_by_side(&work(&alone), how, 1)?);
    endings.sort_by_key(|(at, _)| *at);
    let endings: Vec<_> = endings.into_iter().map(|(_, ending)| ending).collect();
    let mut tally = Tally::default();
    for ending in &endings {
        tally += match &ending.missing {
            Some(missing) => skips::skip(&ending.id, missing),
            None => Tally::check(ending.passed),
        };
    }
    Ok((tally, endings))
}

/// A case by its number, for the thread that takes it.
type Work = (usize, Mutex<Job>);

/// Names and commands may go to another thread, cases may not.
fn work(cases: &[(usize, &Case)]) -> Vec<Work> {
    let job = |case: &Case| Job {
        id: case.id(),
        command: case.command(),
    };
    let numbered = cases.iter().map(|(at, case)| (*at, Mutex::new(job(case))));
    numbered.collect()
}

fn side_by_side(
    work: &[Work],
    how: Run,
    jobs: usize,
) -> Result<Vec<(usize, Ending)>, String> {
    let endings = parallel(work, jobs, |(at, job)| {
        let mut job = job.lock().expect("each is taken once");
        one(&mut job, how).map(|ending| (*at, ending))
    });
    endings.into_iter().collect()
}

fn one(job: &mut Job, how: Run) -> Result<Ending, String> {
    let mut log = scratch(&job.id)?;
    let (out, err) = (copy(&log)?, copy(&log)?);
    job.command.stdin(Stdio::null()).stdout(out).stderr(err);
    let start = Instant::now();
    let mut child = job
        .command
        .spawn()
        .map_err(|e| format!("{}: {e}", job.id))?;
    let mut pause = Duration::from_micros(500);
    let mut worked = Duration::ZERO;
    let status = loop {
        if how.verbose {
            // It is not notified of ended processes.
            worked = processor::of(child.id()).unwrap_or(worked).max(worked);
        }
        if let Some(status) = child.try_wait().map_err(|e| format!("{}: {e}", job.id))? {
            break Some(status);
        }
        if start.elapsed() > how.timeout {
            child.kill().map_err(|e| format!("{}: {e}", job.id))?;
            child.wait().map_err(|e| format!("{}: {e}", job.id))?;
            break None;
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    };
    let took = start.elapsed();
    let mut bytes = Vec::new();
    log.rewind()
        .and_then(|()| log.read_to_end(&mut bytes))
        .map_err(|e| e.to_string())?;
    let output = String::from_utf8_lossy(&bytes).into_owned();
    let said = output.contains("test result: ok. 1 passed");
    let ended_well = said && status.is_some_and(|s| s.success());
    let missing = skips::missing_in(&output).filter(|_| ended_well);
    let passed = ended_well && missing.is_none();
    let verdict = match status {
        None => format!("TIMEOUT after {}", seconds(how.timeout)),
        Some(_) if passed => "ok".to_owned(),
        Some(_) if missing.is_some() => "skipped".to_owned(),
        Some(status) => format!("FAILED ({status})"),
    };
    let slow = took > Duration::from_secs(20);
    if !how.quiet && (how.verbose || slow || !passed) {
        let worked = if how.verbose {
            format!(" {:>7}", seconds(worked))
        } else {
            String::new()
        };
        println!("    {:<7}{worked} {} {verdict}", seconds(took), job.id);
    }
    if !ended_well && !how.quiet {
        print!("{}", indent(&output));
    }
    Ok(Ending {
        id: job.id.clone(),
        passed,
        missing,
        took,
        output,
    })
}

/// Opens a file for both streams of a test; unlinked, so that nothing stays behind.
fn scratch(id: &str) -> Result<File, String> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let dir = repo::target(Some("logs"));
    fs::create_dir_all(&dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let path = dir.join(format!("{}-{count}", std::process::id()));
    let file = File::options()
        .create_new(true)
        .read(true)
        .append(true)
        .open(&path)
        .map_err(|e| format!("{}: {e}", path.display()))?;
    fs::remove_file(&path).map_err(|e| format!("{id}: {e}"))?;
    Ok(file)
}

fn copy(file: &File) -> Result<File, String> {
    file.try_clone().map_err(|e| e.to_string())
}

fn indent(text: &str) -> String {
    text.lines()
        .map(|line| format!("      | {line}\n"))
        .collect()
}
