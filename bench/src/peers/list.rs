//! The list of peers.

use crate::case::{Case, Kind};
use crate::child::{Job, Outcome};
use crate::net;

use super::channel::{self, Flume, Kanal};
use super::{chili, crossbeam, fork, may, pirn, rayon, smol, threads, tokio};

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
        let gzip = case.job.kind.is_gzip();
        match (case.job.kind, self.program) {
            (Kind::Net(net), _) => net::serves(self.name, net),
            (Kind::Fork(_), _) => FORK_PEERS.contains(&self.name),
            (Kind::Tail(_), _) => TAIL_PEERS.contains(&self.name),
            (_, Program::Gzip) => gzip,
            (_, Program::Server) => false,
            (_, Program::Here(_)) => match self.name {
                SCOPE | FREE | EIGHT | ASIDE => false,
                SERIAL => gzip,
                OURS => true,
                _ => !gzip,
            },
            (_, Program::Go | Program::Boost) => !gzip,
        }
    }
}

/// The name of the runtime that the limits are about.
pub const OURS: &str = "pirn";

/// pirn with fork-join in the form that passes a scope.
const SCOPE: &str = "pirn-scope";

/// pirn with fibers that may migrate.
pub(crate) const FREE: &str = "pirn-free";

/// pirn with four times as many workers as processors.
pub(crate) const EIGHT: &str = "pirn-8";

/// pirn with the sockets of `std`, which park fibers by `pirn-hooks`.
pub const STD: &str = "pirn-std";

/// tokio with `spawn_blocking` for code that computes or blocks.
pub(crate) const ASIDE: &str = "tokio-sb";

/// Plain calls on one thread.
const SERIAL: &str = "serial";

/// The libraries that can join two closures on their workers, and plain calls.
const FORK_PEERS: &[&str] = &[OURS, SCOPE, "rayon", "chili", SERIAL];

/// All peers of the programs of tails.
const TAIL_PEERS: &[&str] = &[OURS, FREE, EIGHT, "threads", "tokio", ASIDE, "may", "go"];

/// Peers without a scheduler: the cases of servers show them, but no ratio refers to them.
pub const BARE: &[&str] = &["epoll", "threads"];

/// Returns all peers in the order of the tables.
pub fn all() -> &'static [Peer] {
    PEERS
}

const fn peer(name: &'static str, program: Program, note: &'static str) -> Peer {
    Peer {
        name,
        program,
        note,
    }
}

const fn here(name: &'static str, run: fn(&Job) -> Outcome, note: &'static str) -> Peer {
    peer(name, Program::Here(run), note)
}

const PEERS: &[Peer] = &[
    here(OURS, pirn::run::<{ pirn::PLAIN }>, pirn::NOTE),
    here(
        "pirn-sq",
        pirn::run::<{ pirn::SINGLE_QUEUE }>,
        "the same with `Scheduler::SingleQueue`",
    ),
    here(
        SCOPE,
        pirn::run_with_scope,
        "`par::scope` and its `Scope::join`, for fork-join alone; `pirn` is `par::join` there",
    ),
    here(
        FREE,
        pirn::run::<{ pirn::FREE }>,
        "with `free_migration`, for tails alone",
    ),
    here(
        EIGHT,
        pirn::run::<{ pirn::EIGHT }>,
        "with four workers for each one of the case, for tails alone",
    ),
    here("threads", threads::run, threads::NOTE),
    here("crossbeam", crossbeam::run, crossbeam::NOTE),
    here("kanal", channel::run::<Kanal>, channel::NOTE),
    here("flume", channel::run::<Flume>, channel::NOTE),
    here("rayon", rayon::run, rayon::NOTE),
    here("chili", chili::run, chili::NOTE),
    here("tokio", tokio::run::<{ tokio::MULTI_THREAD }>, tokio::NOTE),
    here(
        "tokio-ct",
        tokio::run::<{ tokio::CURRENT_THREAD }>,
        "tokio's single-threaded runtime",
    ),
    here(
        ASIDE,
        tokio::run::<{ tokio::ASIDE }>,
        "tokio with `spawn_blocking` for what computes or blocks, for tails alone",
    ),
    here("smol", smol::run, smol::NOTE),
    here("may", may::run, may::NOTE),
    peer(
        "go",
        Program::Go,
        "goroutines, `sync.WaitGroup` and channels; GOMAXPROCS = workers",
    ),
    peer(
        "boost",
        Program::Boost,
        "Boost.Fiber: round robin on one worker, work stealing on two",
    ),
    peer(
        STD,
        Program::Server,
        "fibers with the sockets of `std`, in a program that links `pirn-hooks`, for echo alone",
    ),
    peer(
        "epoll",
        Program::Server,
        "one thread and one epoll set, nothing else: the floor of servers",
    ),
    peer(
        "pgz-fibers",
        Program::Gzip,
        "pgz's pipeline on fibers, in a child of this program",
    ),
    peer(
        "pgz-threads",
        Program::Gzip,
        "the same stages and deflate on plain threads, in such a child",
    ),
    peer("pigz", Program::Gzip, "Debian's pigz"),
    here(
        SERIAL,
        fork::run_serial,
        "one thread: for fork-join plain calls, for gzip the library that pgz uses",
    ),
];
