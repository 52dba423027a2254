//! The list of cases: sizes, processors, rows, limits and the regions of earlier figures.

use super::{Bound, Row, Stat, Unit};

/// What the child is to do; the meaning of `n` differs for each and stands here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `k` fibers on one worker give way to each other, `n` times altogether.
    Yield(u64),
    /// `n` times: spawn one empty fiber and join it.
    SpawnJoin,
    /// As `SpawnJoin`, and the fiber gives way once.
    SpawnJoinYield,
    /// One fiber spawns `n` with 32 bytes of captures, then waits for all of them.
    SpawnMany,
    /// A tree of fibers, ten children each, `n` leaves; every parent joins and sums.
    Skynet,
    /// `n` fibers, all started and parked at once.
    Parked,
    /// `n` times: spawn, then compute without giving way until the child has started.
    BusyChild,
    /// `n` times: push an item into a bare queue, for a thread that does nothing but steal.
    Steal,
    /// `n` times: spawn on one worker for a second one that ran a fiber a moment ago.
    HandOver,
    /// `n` times: hand an item to a worker that sleeps, from a plain thread.
    Wake,
    /// `n` empty fibers, spawned by one fiber for each worker in batches, all run.
    Throughput,
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

/// One case: what to run, how often, and what comes out.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The name on the command line.
    pub name: &'static str,
    /// What the child does.
    pub kind: Kind,
    /// What a reader sees.
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
    /// Whether this is for gzip programs alone.
    pub fn is_gzip(self) -> bool {
        matches!(self, Kind::Pgz { .. } | Kind::Gunzip { .. })
    }
}

/// The case of that name.
pub fn find(name: &str) -> Option<&'static Case> {
    TABLE.iter().find(|case| case.name == name)
}

/// All cases, in the order of the report.
pub fn table() -> &'static [Case] {
    TABLE
}

const BASE: Case = Case {
    name: "",
    kind: Kind::SpawnJoin,
    title: "",
    workers: 1,
    n: 100_000,
    warmups: 1,
    rounds: 5,
    stack: 0,
    rows: &[],
};

const YIELD: &[Row] = &[Row {
    series: "op",
    title: "one yield",
    unit: Unit::Ns,
    bounds: &[Bound::Floor("switch pair", 3.0)],
    region: &[
        ("may", 38.0),
        ("boost", 89.0),
        ("go", 102.0),
        ("tokio", 233.0),
    ],
}];

const SPAWN_JOIN: &[Row] = &[Row {
    series: "op",
    title: "one spawn and join",
    unit: Unit::Ns,
    bounds: &[Bound::Peer("tokio", 0.35), Bound::Peer("rayon", 1.25)],
    region: &[
        ("rayon", 83.0),
        ("tokio", 276.0),
        ("go", 388.0),
        ("may", 944.0),
    ],
}];

const SPAWN_JOIN_YIELD: &[Row] = &[Row {
    series: "op",
    title: "one spawn, yield and join",
    unit: Unit::Ns,
    bounds: &[Bound::Peer("tokio", 0.35)],
    region: &[],
}];

const SPAWN_MANY: &[Row] = &[
    Row {
        series: "cold",
        title: "one fiber, first round of the process",
        unit: Unit::Ns,
        bounds: &[Bound::Peer("tokio", 0.35)],
        region: &[],
    },
    Row {
        series: "warm",
        title: "one fiber, later rounds",
        unit: Unit::Ns,
        bounds: &[Bound::Peer("rayon", 1.3)],
        region: &[
            ("rayon", 74.0),
            ("smol", 288.0),
            ("tokio", 872.0),
            ("go", 1354.0),
        ],
    },
    Row {
        series: "peak",
        title: "peak memory of the process",
        unit: Unit::MiB,
        bounds: &[Bound::Fixed(Stat::Median, 256.0)],
        region: &[("rayon", 59.0), ("tokio", 550.0)],
    },
];

const SKYNET: &[Row] = &[Row {
    series: "total",
    title: "the whole tree",
    unit: Unit::Ms,
    bounds: &[Bound::Best(&["rayon", "chili"], 0.5)],
    region: &[
        ("rayon", 56.0),
        ("go", 1224.0),
        ("tokio", 1332.0),
        ("may", 36_900.0),
    ],
}];

const PAGE: f64 = 4096.0;

const PARKED_WIDE: &[Row] = &[Row {
    series: "bytes",
    title: "resident memory and page tables of one parked fiber, 256 KiB stacks",
    unit: Unit::Bytes,
    bounds: &[Bound::Fixed(Stat::Median, PAGE + 1024.0)],
    region: &[("go", 2_800.0), ("may", 8_700.0), ("boost", 9_500.0)],
}];

const PARKED_SMALL: &[Row] = &[Row {
    series: "bytes",
    title: "resident memory and page tables of one parked fiber, 64 KiB stacks",
    unit: Unit::Bytes,
    bounds: &[Bound::Fixed(Stat::Median, PAGE + 512.0)],
    region: &[],
}];

const BUSY_CHILD: &[Row] = &[Row {
    series: "latency",
    title: "from spawn to start, capped at 10 ms",
    unit: Unit::Ns,
    bounds: &[Bound::Fixed(Stat::P99, 1e6)],
    region: &[("tokio", 1e7)],
}];

const STEAL: &[Row] = &[Row {
    series: "latency",
    title: "from push to the end of the theft",
    unit: Unit::Ns,
    bounds: &[Bound::Fixed(Stat::Median, 1000.0)],
    region: &[],
}];

const HAND_OVER: &[Row] = &[Row {
    series: "latency",
    title: "from push to start on another worker",
    unit: Unit::Ns,
    bounds: &[Bound::Fixed(Stat::Median, 2000.0)],
    region: &[],
}];

const WAKE: &[Row] = &[Row {
    series: "latency",
    title: "from spawn to start on a sleeping worker",
    unit: Unit::Ns,
    bounds: &[Bound::Floor("futex wake", 1.2)],
    region: &[],
}];

const THROUGHPUT: &[Row] = &[Row {
    series: "rate",
    title: "fibers spawned and run",
    unit: Unit::MopsPerS,
    bounds: &[Bound::Fixed(Stat::Median, 10.0)],
    region: &[],
}];

const PGZ: &[Row] = &[
    Row {
        series: "rate",
        title: "input compressed",
        unit: Unit::MbPerS,
        bounds: &[Bound::Peer("pgz-threads", 0.98), Bound::Peer("pigz", 1.5)],
        region: &[],
    },
    Row {
        series: "size",
        title: "output",
        unit: Unit::Percent,
        bounds: &[Bound::Peer("pigz", 1.01)],
        region: &[],
    },
];

const GUNZIP_PLAIN: &[Row] = &[Row {
    series: "rate",
    title: "output inflated",
    unit: Unit::MbPerS,
    bounds: &[Bound::Peer("pigz", 1.0)],
    region: &[],
}];

const GUNZIP_INDEXED: &[Row] = &[Row {
    series: "rate",
    title: "output inflated",
    unit: Unit::MbPerS,
    bounds: &[Bound::Peer("serial", 1.8)],
    region: &[],
}];

const fn gunzip(
    name: &'static str,
    title: &'static str,
    indexed: bool,
    rows: &'static [Row],
) -> Case {
    let kind = Kind::Gunzip { indexed };
    Case {
        name,
        kind,
        title,
        workers: 2,
        n: 0,
        rounds: 1,
        rows,
        ..BASE
    }
}

const fn pgz(name: &'static str, title: &'static str, level: u8, pipe: bool) -> Case {
    let kind = Kind::Pgz { level, pipe };
    Case {
        name,
        kind,
        title,
        workers: 2,
        n: 0,
        rounds: 1,
        rows: PGZ,
        ..BASE
    }
}

const TABLE: &[Case] = &[
    Case {
        name: "yield-2",
        kind: Kind::Yield(2),
        title: "two fibers yield to each other",
        n: 200_000,
        rows: YIELD,
        ..BASE
    },
    Case {
        name: "yield-100",
        kind: Kind::Yield(100),
        title: "a hundred fibers yield in turn",
        n: 200_000,
        rows: YIELD,
        ..BASE
    },
    Case {
        name: "spawn-join",
        kind: Kind::SpawnJoin,
        title: "spawn one empty fiber, join it",
        rows: SPAWN_JOIN,
        ..BASE
    },
    Case {
        name: "spawn-join-yield",
        kind: Kind::SpawnJoinYield,
        title: "spawn a fiber that yields once, join it",
        rows: SPAWN_JOIN_YIELD,
        ..BASE
    },
    Case {
        name: "spawn-1m",
        kind: Kind::SpawnMany,
        title: "spawn 1,000,000 from one fiber, then wait",
        n: 1_000_000,
        warmups: 0,
        rounds: 3,
        rows: SPAWN_MANY,
        ..BASE
    },
    Case {
        name: "skynet",
        kind: Kind::Skynet,
        title: "skynet, 1,000,000 leaves, one worker",
        n: 1_000_000,
        rounds: 2,
        rows: SKYNET,
        ..BASE
    },
    Case {
        name: "skynet-2w",
        kind: Kind::Skynet,
        title: "skynet, 1,000,000 leaves, two workers",
        workers: 2,
        n: 1_000_000,
        rounds: 2,
        rows: SKYNET,
        ..BASE
    },
    Case {
        name: "parked-100k",
        kind: Kind::Parked,
        title: "100,000 parked fibers",
        workers: 2,
        n: 100_000,
        warmups: 0,
        rounds: 1,
        stack: 256 << 10,
        rows: PARKED_WIDE,
    },
    Case {
        name: "parked-100k-64k",
        kind: Kind::Parked,
        title: "100,000 parked fibers on small stacks",
        workers: 2,
        n: 100_000,
        warmups: 0,
        rounds: 1,
        stack: 64 << 10,
        rows: PARKED_SMALL,
    },
    Case {
        name: "parked-1m",
        kind: Kind::Parked,
        title: "1,000,000 parked fibers",
        workers: 2,
        n: 1_000_000,
        warmups: 0,
        rounds: 1,
        stack: 256 << 10,
        rows: PARKED_WIDE,
    },
    Case {
        name: "parked-1m-64k",
        kind: Kind::Parked,
        title: "1,000,000 parked fibers on small stacks",
        workers: 2,
        n: 1_000_000,
        warmups: 0,
        rounds: 1,
        stack: 64 << 10,
        rows: PARKED_SMALL,
    },
    Case {
        name: "busy-child",
        kind: Kind::BusyChild,
        title: "a child whose parent computes on",
        workers: 2,
        n: 200,
        warmups: 10,
        rounds: 1,
        rows: BUSY_CHILD,
        ..BASE
    },
    Case {
        name: "steal",
        kind: Kind::Steal,
        title: "an item in a worker's queue, a thread that only steals",
        workers: 2,
        n: 5_000,
        warmups: 500,
        rounds: 1,
        rows: STEAL,
        ..BASE
    },
    Case {
        name: "hand-over",
        kind: Kind::HandOver,
        title: "a fiber for a worker that has just run another one",
        workers: 2,
        n: 5_000,
        warmups: 500,
        rounds: 1,
        rows: HAND_OVER,
        ..BASE
    },
    Case {
        name: "wake",
        kind: Kind::Wake,
        title: "an item for a sleeping worker, from a plain thread",
        workers: 2,
        n: 500,
        warmups: 20,
        rounds: 1,
        rows: WAKE,
        ..BASE
    },
    Case {
        name: "throughput",
        kind: Kind::Throughput,
        title: "spawn and run empty fibers, all processors",
        workers: 2,
        n: 2_000_000,
        rows: THROUGHPUT,
        ..BASE
    },
    pgz("pgz-1-file", "gzip -1, file to file", 1, false),
    pgz("pgz-1-pipe", "gzip -1, through pipes", 1, true),
    pgz("pgz-6-file", "gzip -6, file to file", 6, false),
    pgz("pgz-6-pipe", "gzip -6, through pipes", 6, true),
    gunzip("gunzip", "gunzip of an ordinary file", false, GUNZIP_PLAIN),
    gunzip(
        "gunzip-i",
        "gunzip of a file made by pgz -i",
        true,
        GUNZIP_INDEXED,
    ),
];
