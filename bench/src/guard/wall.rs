//! Wall time against this machine's usual one: a report, never a failure. The last medians of every
//! operation are below the target directory and never in the repository.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::base::{Machine, Processors, Status, Summary, launch, target_directory};

use super::Operation;

/// A larger slowdown than this is reported.
const TOLERANCE: f64 = 0.20;

/// Number of measurements of each operation, in turn with the others.
const REPETITIONS: usize = 5;

/// One operation, timed and judged.
#[derive(Debug)]
pub struct WallLine {
    /// The operation.
    pub name: &'static str,
    /// Nanoseconds now.
    pub now: Summary,
    /// Nanoseconds usually, if known.
    pub usual: Option<f64>,
}

impl WallLine {
    /// Returns true if it is slower than usual.
    pub fn slower(&self) -> bool {
        self.usual
            .is_some_and(|usual| self.now.median > usual * (1.0 + TOLERANCE))
    }
}

/// Times the operations, compares each with its usual time, and adds those that are not slower to
/// the history.
///
/// # Errors
/// A child failed or the history could not be written; in words.
pub fn wall(operations: &[&'static Operation]) -> Result<Vec<WallLine>, String> {
    let mut history = History::read();
    let lines = measure(operations, &history, Duration::ZERO)?;
    for line in lines.iter().filter(|line| !line.slower()) {
        history.add(line.name, line.now.median);
    }
    history.write()?;
    Ok(lines)
}

/// The same with a sleep in every round, without the history: a working guard reports every one as
/// slower.
///
/// # Errors
/// As for [`wall`].
pub fn inject(operations: &[&'static Operation]) -> Result<Vec<WallLine>, String> {
    measure(operations, &History::read(), Duration::from_millis(5))
}

fn measure(
    operations: &[&'static Operation],
    history: &History,
    injected: Duration,
) -> Result<Vec<WallLine>, String> {
    let mut samples = vec![Vec::new(); operations.len()];
    for _ in 0..REPETITIONS {
        for (operation, samples) in operations.iter().zip(&mut samples) {
            samples.extend(child(operation, injected)?);
        }
    }
    let lines = operations.iter().zip(samples).map(|(operation, samples)| {
        let now = Summary::of(&samples).ok_or("a child gave no samples")?;
        Ok(WallLine {
            name: operation.name,
            now,
            usual: history.usual(operation.name),
        })
    });
    lines.collect()
}

/// The samples of one child on one processor.
fn child(operation: &Operation, injected: Duration) -> Result<Vec<f64>, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    let micros = injected.as_micros().to_string();
    command.args(["child", operation.name, "wall", &micros]);
    let answer = launch(command, Processors::Last(1), Duration::from_secs(60));
    match answer.status {
        Status::Done => Ok(answer.samples.into_iter().map(|(_, nanos)| nanos).collect()),
        Status::Skipped(reason) | Status::Failed(reason) => {
            Err(format!("{}: {reason}", operation.name))
        }
    }
}

/// Number of runs that are kept.
const DEPTH: usize = 10;

/// Medians by machine and operation, the oldest first.
#[derive(Debug, Default, Serialize, Deserialize)]
struct History {
    machines: BTreeMap<String, BTreeMap<String, VecDeque<f64>>>,
    #[serde(skip)]
    here: String,
}

impl History {
    /// Reads the file; returns an empty history if there is none or it cannot be read.
    fn read() -> History {
        let text = fs::read_to_string(path()).unwrap_or_default();
        let mut history: History = serde_json::from_str(&text).unwrap_or_default();
        let machine = Machine::here();
        history.here = format!("{} × {}", machine.processors, machine.processor);
        history
    }

    /// Writes the file.
    ///
    /// # Errors
    /// Those of writing.
    fn write(&self) -> Result<(), String> {
        let text =
            serde_json::to_string_pretty(self).map_err(|error| error.to_string())?;
        fs::write(path(), text).map_err(|error| error.to_string())
    }

    /// Returns the median of the history.
    fn usual(&self, operation: &str) -> Option<f64> {
        let known: Vec<f64> = self
            .machines
            .get(&self.here)?
            .get(operation)?
            .iter()
            .copied()
            .collect();
        Summary::of(&known).map(|summary| summary.median)
    }

    /// Adds one, and removes the oldest.
    fn add(&mut self, operation: &str, nanos: f64) {
        let machine = self.machines.entry(self.here.clone()).or_default();
        let known = machine.entry(operation.to_owned()).or_default();
        known.push_back(nanos);
        if known.len() > DEPTH {
            known.pop_front();
        }
    }
}

fn path() -> PathBuf {
    target_directory().join("guard-wall.json")
}
