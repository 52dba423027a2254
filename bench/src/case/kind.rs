//! Cases: the kind of work, its sizes, its rows.

use super::{Fork, Net, Row, Tail, Talk};

/// The work of the child; the meaning of `n` differs for each and is given here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `k` fibers on one worker yield to each other, `n` times altogether.
    Yield(u64),
    /// `n` times: spawn one empty fiber and join it.
    SpawnJoin,
    /// As `SpawnJoin`, and the fiber yields once.
    SpawnJoinYield,
    /// One fiber spawns `n` with 32 bytes of captures, then waits for all of them.
    SpawnMany,
    /// A tree of fibers, ten children each, `n` leaves; every parent joins and sums.
    Skynet,
    /// `n` fibers, all started and parked at once.
    Parked,
    /// `n` times: spawn, then compute without yielding until the child has started.
    BusyChild,
    /// `n` times: push an item to a bare queue, for a thread that only steals.
    Steal,
    /// `n` times: spawn on one worker for a second one that has just run a fiber.
    HandOver,
    /// `n` times: pass an item to a sleeping worker, from a plain thread.
    Wake,
    /// `n` empty fibers, spawned by one fiber for each worker in batches, all run.
    Throughput,
    /// Fibers that wait for one another or for the clock.
    Talk(Talk),
    /// Work that is divided by joins of two closures.
    Fork(Fork),
    /// Tasks that settle before the work comes, or wait beside tasks that hold a worker.
    Tail(Tail),
    /// A server and a load on it, each in a process of its own.
    Net(Net),
    /// One corpus through a gzip program at this level, through pipes or files.
    Pgz {
        /// The compression level.
        level: u8,
        /// Standard input and output instead of files.
        pipe: bool,
    },
    /// The compressed corpus through a gunzip program, file to file.
    Gunzip {
        /// Made by `pgz -i`, which can be inflated in parallel.
        indexed: bool,
    },
}

/// One case: the work, its repetitions, and its rows.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The name on the command line.
    pub name: &'static str,
    /// The work of the child.
    pub kind: Kind,
    /// The title.
    pub title: &'static str,
    /// Workers, and processors that the child may use.
    pub workers: usize,
    /// The size of one round; see [`Kind`].
    pub n: u64,
    /// Rounds that are run before the first sample.
    pub warmups: u64,
    /// Rounds that give a sample.
    pub rounds: u64,
    /// Bytes of stack for each fiber, 0 for the default.
    pub stack: usize,
    /// The rows of the report.
    pub rows: &'static [Row],
}

impl Kind {
    /// Returns true if this is for gzip programs alone.
    pub fn is_gzip(self) -> bool {
        matches!(self, Kind::Pgz { .. } | Kind::Gunzip { .. })
    }
}
