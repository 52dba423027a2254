//! The parts of an answer.

use std::collections::BTreeMap;
use std::io::BufRead;

use serde::Deserialize;

use super::failure::Failure;
use super::text::Text;

/// A complete answer.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    /// The runtime as a whole; not in the answer about one fiber.
    pub runtime: Option<Runtime>,
    /// Its workers, by number.
    pub workers: Vec<Worker>,
    /// Numbers of fibers by state and reason.
    pub tallies: Vec<Tally>,
    /// Decisions about the number of threads.
    pub scale: Vec<Scale>,
    /// The spawn lines, with their history.
    pub spawn_lines: Vec<SpawnLine>,
    /// Fibers, maybe not all.
    pub fibers: Vec<Fiber>,
}

/// The runtime as a whole.
#[derive(Debug, Clone, Deserialize)]
#[expect(missing_docs, reason = "docs/inspect-format.md")]
pub struct Runtime {
    pub version: u64,
    pub name: Text,
    pub pid: u32,
    pub uptime_ns: u64,
    pub workers: u64,
    pub injected: u64,
    pub waiting_for_stack: u64,
    pub stack_size: Option<u64>,
    pub stack_touched: Option<u64>,
    pub stack_size_suggested: Option<u64>,
    pub pressure: u64,
    #[serde(default)]
    pub aged_wakes: u64,
    #[serde(default)]
    pub slow_fibers: u64,
    #[serde(default)]
    pub stalled_ns: u64,
    #[serde(default)]
    pub stall_delays_ms: Vec<(Option<u64>, u64)>,
    #[serde(default)]
    pub counters: Counters,
}

/// Counters by their names.
pub type Counters = BTreeMap<Text, u64>;

/// One worker.
#[derive(Debug, Clone, Deserialize)]
#[expect(missing_docs, reason = "docs/inspect-format.md")]
pub struct Worker {
    pub worker: u64,
    pub state: Text,
    pub member: bool,
    pub answered: bool,
    pub started: u64,
    pub ready: u64,
    pub fresh: u64,
    pub age_ns: Option<u64>,
    #[serde(default)]
    pub left_out: u64,
    pub left_out_why: Option<Text>,
    pub running: Option<Text>,
    pub running_spawned_at: Option<Text>,
    #[serde(default)]
    pub counters: Counters,
}

/// The number of fibers with one state and reason.
#[derive(Debug, Clone, Deserialize)]
#[expect(missing_docs, reason = "docs/inspect-format.md")]
pub struct Tally {
    pub state: FiberState,
    pub reason: Option<Text>,
    pub fibers: u64,
}

/// The number of times that a decision was made.
#[derive(Debug, Clone, Deserialize)]
#[expect(missing_docs, reason = "docs/inspect-format.md")]
pub struct Scale {
    pub reason: Text,
    pub times: u64,
}

/// A line of code that spawns fibers.
#[derive(Debug, Clone, Deserialize)]
#[expect(missing_docs, reason = "docs/inspect-format.md")]
pub struct SpawnLine {
    pub spawned_at: Text,
    pub class: Text,
    pub live: u64,
    pub placed: u64,
    pub held: u64,
}

/// One fiber.
#[derive(Debug, Clone, Deserialize)]
#[expect(missing_docs, reason = "docs/inspect-format.md")]
pub struct Fiber {
    pub id: Text,
    pub name: Option<Text>,
    pub state: FiberState,
    pub reason: Option<Text>,
    pub object: Option<Text>,
    pub waited_ns: u64,
    #[serde(default)]
    pub limited: bool,
    pub spawned_at: Text,
    pub waits_at: Option<Text>,
    pub worker: u64,
    pub stack_used: Option<u64>,
    pub stack_size: Option<u64>,
    pub stack_touched: Option<u64>,
    #[serde(default)]
    pub frames: Vec<Text>,
}

/// The state of a fiber.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "docs/inspect-format.md")]
pub enum FiberState {
    Running,
    Ready,
    Parked,
}

impl FiberState {
    /// Returns its name in the format.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            FiberState::Running => "running",
            FiberState::Ready => "ready",
            FiberState::Parked => "parked",
        }
    }
}

/// One line.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Line {
    Runtime(Runtime),
    Worker(Worker),
    Tally(Tally),
    Scale(Scale),
    SpawnLine(SpawnLine),
    Fiber(Fiber),
    Error {
        why: Text,
        message: Text,
    },
    End,
    /// A kind that this version does not know.
    #[serde(other)]
    Other,
}

/// Reads an answer to its end.
///
/// # Errors
/// If it is truncated, is not in the format, or is an error.
pub fn read(from: &mut dyn BufRead) -> Result<Snapshot, Failure> {
    let mut snapshot = Snapshot::default();
    let mut line = Vec::new();
    loop {
        line.clear();
        from.read_until(b'\n', &mut line).map_err(Failure::System)?;
        if !line.ends_with(b"\n") {
            return Err(Failure::CutOff);
        }
        let parsed = serde_json::from_slice(&line);
        match parsed.map_err(|error| Failure::Nonsense(error.to_string()))? {
            Line::Runtime(runtime) if runtime.version != 1 => {
                return Err(Failure::Version(runtime.version));
            }
            Line::Runtime(runtime) => snapshot.runtime = Some(runtime),
            Line::Worker(worker) => snapshot.workers.push(worker),
            Line::Tally(tally) => snapshot.tallies.push(tally),
            Line::Scale(scale) => snapshot.scale.push(scale),
            Line::SpawnLine(line) => snapshot.spawn_lines.push(line),
            Line::Fiber(fiber) => snapshot.fibers.push(fiber),
            Line::Error { why, message } if &*why == "refused" => {
                return Err(Failure::Refused(message));
            }
            Line::Error { message, .. } => return Err(Failure::NoAnswer(message)),
            Line::End => return Ok(snapshot),
            Line::Other => {}
        }
    }
}

impl Worker {
    /// Returns true if it has not answered, because it runs one fiber all the time. Only that fiber
    /// is known.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        !self.answered && &*self.state != "gone"
    }
}

impl Snapshot {
    /// Returns the number of started fibers that the answer does not describe.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        sum(self.workers.iter().map(|worker| worker.left_out))
    }

    /// Returns the number of all started fibers.
    #[must_use]
    pub fn counted(&self) -> u64 {
        sum(self.tallies.iter().map(|tally| tally.fibers))
    }
}

/// Adds numbers of an answer, which may be any: a sum that is too large is the largest one.
pub(crate) fn sum(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(0, u64::saturating_add)
}
