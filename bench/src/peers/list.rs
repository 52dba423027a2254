//! The list of peers.

use crate::case::{Case, Kind};
use crate::child::{Job, Outcome};
use crate::net;

use super::fork;
use super::pirn;
use super::tail;
use super::talk::{flume, kanal};
use super::{chili, crossbeam, may, rayon, smol, threads, tokio};

/// The place of a peer's cases.
#[derive(Clone, Copy, Debug)]
pub enum Program {
    /// In this program.
    Here(fn(&Job) -> Outcome),
    /// In the Go program under `bench/go`.
    Go,
    /// In the C++ program under `bench/boost`.
    Boost,
    /// A gzip program, for those cases alone.
    Gzip,
    /// A server, for those cases alone.
    Server,
}

/// One column of the comparison.
#[derive(Clone, Copy, Debug)]
pub struct Peer {
    /// The name on the command line and in the tables.
    pub name: &'static str,
    /// The place of its cases.
    pub program: Program,
    /// A note on its use, for the reader of the tables.
    pub note: &'static str,
}

impl Peer {
    /// Returns true if the case is of this peer's kind.
    pub fn fits(&self, case: &Case) -> bool {
        if let Kind::Net(net) = case.kind {
            return net::serves(self.name, net);
        }
        if let Kind::Fork(_) = case.kind {
            return fork::LIBRARIES.contains(&self.name);
        }
        if let Kind::Tail(_) = case.kind {
            return tail::PEERS.contains(&self.name);
        }
        let gzip = case.kind.is_gzip();
        match self.program {
            Program::Gzip => gzip,
            Program::Here(_) if self.name == fork::SCOPE => false,
            Program::Here(_) if tail::ALONE.contains(&self.name) => false,
            Program::Here(_) if self.name == fork::SERIAL => gzip,
            Program::Here(_) => !gzip || self.name == OURS,
            Program::Go | Program::Boost => !gzip,
            Program::Server => false,
        }
    }
}

/// The name of the runtime that the limits are about.
pub const OURS: &str = "pirn";

/// Peers without a scheduler: the cases of servers show them, but no ratio refers to them.
pub const BARE: &[&str] = &["epoll", "threads"];

/// All peers in the order of the tables.
pub fn all() -> &'static [Peer] {
    PEERS
}

const fn here(name: &'static str, run: fn(&Job) -> Outcome, note: &'static str) -> Peer {
    Peer {
        name,
        program: Program::Here(run),
        note,
    }
}

const fn gzip(name: &'static str, note: &'static str) -> Peer {
    Peer {
        name,
        program: Program::Gzip,
        note,
    }
}

const PEERS: &[Peer] = &[
    here(OURS, pirn::run_work_stealing, pirn::NOTE),
    here(
        "pirn-sq",
        pirn::run_single_queue,
        "the same with `Scheduler::SingleQueue`",
    ),
    here(
        fork::SCOPE,
        pirn::run_with_scope,
        "`par::scope` and its `Scope::join`, for fork-join alone; `pirn` is `par::join` there",
    ),
    here(
        tail::FREE,
        tail::only::<tail::Pirn<true, 1>>,
        "with `free_migration`, for tails alone",
    ),
    here(
        tail::EIGHT,
        tail::only::<tail::Pirn<false, 4>>,
        "with four workers for each one of the case, for tails alone",
    ),
    here("threads", threads::run, threads::NOTE),
    here("crossbeam", crossbeam::run, crossbeam::NOTE),
    here("kanal", kanal::run, kanal::NOTE),
    here("flume", flume::run, flume::NOTE),
    here("rayon", rayon::run, rayon::NOTE),
    here("chili", chili::run, chili::NOTE),
    here("tokio", tokio::run_multi_thread, tokio::NOTE),
    here(
        "tokio-ct",
        tokio::run_current_thread,
        "tokio's single-threaded runtime",
    ),
    here(
        tail::ASIDE,
        tail::only::<tail::Tokio<true>>,
        "tokio with `spawn_blocking` for what computes or blocks, for tails alone",
    ),
    here("smol", smol::run, smol::NOTE),
    here("may", may::run, may::NOTE),
    Peer {
        name: "go",
        program: Program::Go,
        note: "goroutines, `sync.WaitGroup` and channels; GOMAXPROCS = workers",
    },
    Peer {
        name: "boost",
        program: Program::Boost,
        note: "Boost.Fiber: round robin on one worker, work stealing on two",
    },
    Peer {
        name: "epoll",
        program: Program::Server,
        note: "one thread and one epoll set, nothing else: the floor of servers",
    },
    gzip(
        "pgz-fibers",
        "pgz's pipeline on fibers, in a child of this program",
    ),
    gzip(
        "pgz-threads",
        "the same stages and deflate on plain threads, in such a child",
    ),
    gzip("pigz", "Debian's pigz"),
    here(
        fork::SERIAL,
        fork::serial::run,
        "one thread: for fork-join plain calls, for gzip the deflate that pgz uses",
    ),
];
