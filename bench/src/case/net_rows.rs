//! The rows of servers.

use super::{Bound, Row, Unit};

/// The peers with which pirn is compared: those with a scheduler.
const RIVALS: &[&str] = &["go", "tokio", "tokio-ct", "may"];

const fn no_worse(series: &'static str, title: &'static str, unit: Unit) -> Row {
    Row {
        series,
        title,
        unit,
        bounds: &[Bound::BestOf(RIVALS, 1.0)],
        region: &[],
    }
}

const fn told(series: &'static str, title: &'static str, unit: Unit) -> Row {
    Row {
        series,
        title,
        unit,
        bounds: &[],
        region: &[],
    }
}

const RATE: Row = no_worse("rate", "requests answered", Unit::PerS);
const P50: Row = told("p50", "from asking to the answer, p50 of a run", Unit::Us);
const P99: Row = no_worse("p99", "the same, p99 of a run", Unit::Us);
const P999: Row = told("p999", "the same, p99.9 of a run", Unit::Us);

const LOAD: Row = told(
    "load",
    "of the time, the load computed: near 100 % it is the limit",
    Unit::Percent,
);

pub(super) const ECHO: &[Row] = &[
    RATE,
    P50,
    P99,
    P999,
    LOAD,
    Row {
        region: &[("epoll", 3_200.0), ("tokio", 2_800.0), ("go", 3_900.0)],
        ..no_worse("cpu", "the server's processor time of a request", Unit::Ns)
    },
];

pub(super) const HTTP: &[Row] = &[
    RATE,
    P50,
    P99,
    P999,
    LOAD,
    no_worse("cpu", "the server's processor time of a request", Unit::Ns),
];

pub(super) const CALLS: &[Row] = &[
    no_worse(
        "calls",
        "system calls of a request, under strace",
        Unit::Calls,
    ),
    told("reads", "of these, reading and receiving", Unit::Calls),
    told("writes", "of these, writing and sending", Unit::Calls),
    told("waits", "of these, waiting for readiness", Unit::Calls),
    told(
        "controls",
        "of these, telling epoll what to wait for",
        Unit::Calls,
    ),
    told("futexes", "of these, futex", Unit::Calls),
    told("others", "of these, all others", Unit::Calls),
];

pub(super) const IDLE: &[Row] = &[
    told(
        "bytes",
        "resident memory and page tables of one connection, 64 KiB stacks",
        Unit::Bytes,
    ),
    told(
        "connections",
        "connections that were open at once",
        Unit::Count,
    ),
];
