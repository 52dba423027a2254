//! The questions to the workers of a pool, and their answers.

use std::time::Duration;

use crate::fiber::FiberPtr;
use crate::fiber::state_names::State;
use crate::report::cycle::Link;
use crate::report::fiber_info::FiberInfo;
use crate::report::summary::Tally;
use crate::wait::Reason;

/// A question to the workers.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Question {
    /// Everything known of every fiber.
    #[default]
    Everything,
    /// The same of a few fibers of the workers that are wanted.
    Piece,
    /// Everything of the fiber with this number, if it is one of a few fibers of the workers that
    /// are wanted.
    Fiber(u64),
    /// Which fiber waits for which, of a few fibers of the workers that are wanted.
    Links,
}

/// A worker's answer, or what was entered for it.
#[derive(Debug)]
pub(crate) struct WorkerInfo {
    pub(crate) worker: usize,
    /// The worker has answered itself.
    pub(crate) answered: bool,
    /// If it has not: how long it has not run another fiber, as far as known.
    pub(crate) silent: Option<Duration>,
    /// The fibers that have started there and not ended; without an answer, the one that it runs.
    pub(crate) fibers: Vec<FiberInfo>,
    /// Without an answer: the counts of fibers that are not in `fibers`, by state.
    pub(crate) others: Tally,
    /// Fibers of a piece that are only counted.
    pub(super) counted: Vec<Counted>,
    /// The number of fibers of a piece that were visited.
    pub(super) visited: usize,
    pub(super) links: Vec<Link>,
    /// Started fibers that could run.
    pub(crate) ready: usize,
    /// Fibers in its ring, which have not started.
    pub(crate) fresh: usize,
}

/// The result of a snapshot request.
#[derive(Debug)]
pub(crate) struct Snapshot {
    /// In the order of their numbers; empty for those without a thread.
    pub(crate) workers: Vec<WorkerInfo>,
}

impl Snapshot {
    /// Returns all fibers.
    pub(crate) fn fibers(self) -> Vec<FiberInfo> {
        let workers = self.workers.into_iter();
        workers.flat_map(|worker| worker.fibers).collect()
    }
}

/// The fibers wanted of a worker in one round.
#[derive(Debug, Clone, Copy)]
pub(super) struct Want {
    /// Fibers that have not been visited.
    pub(super) left: usize,
    /// Fibers that may be described; the others are counted.
    pub(super) describe: usize,
    /// The number of fibers with a backtrace, of those that are described.
    pub(super) frames: usize,
}

/// A fiber that is counted and not described.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counted {
    pub(super) id: u64,
    pub(super) doing: (State, Option<Reason>),
}

impl Counted {
    pub(super) fn new(fiber: FiberPtr, doing: (State, Option<Reason>)) -> Counted {
        let id = fiber.header().id();
        Counted { id, doing }
    }
}
