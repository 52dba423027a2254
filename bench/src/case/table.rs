//! The list of cases: sizes, processors, rows.

use super::fork_table::FORK;
use super::net_table::NET;
use super::rows::{
    BUSY_CHILD, GUNZIP_INDEXED, GUNZIP_PLAIN, HAND_OVER, PARKED_SMALL, PARKED_WIDE, PGZ,
    SKYNET, SPAWN_JOIN, SPAWN_JOIN_YIELD, SPAWN_MANY, STEAL, THROUGHPUT, WAKE, YIELD,
};
use super::tail_table::TAIL;
use super::talk_table::TALK;
use super::{Case, Kind, Row};

/// Returns the case of that name.
pub fn find(name: &str) -> Option<&'static Case> {
    TABLE.iter().find(|case| case.name == name)
}

/// All cases, in the order of the report.
pub fn table() -> &'static [Case] {
    TABLE
}

const TABLE: &[Case] = &{
    let lists = [LABOR, FORK, TALK, NET, TAIL];
    let mut all = [BASE; LABOR.len() + FORK.len() + TALK.len() + NET.len() + TAIL.len()];
    let (mut list, mut first) = (0, 0);
    while list < lists.len() {
        let mut at = 0;
        while at < lists[list].len() {
            all[first + at] = lists[list][at];
            at += 1;
        }
        first += at;
        list += 1;
    }
    all
};

const LABOR: &[Case] = &[
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
        title: "a child, while its parent computes",
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

pub(super) const BASE: Case = Case {
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
