//! The cases of servers.

use super::net_rows::{CALLS, ECHO, HTTP, IDLE};
use super::table::BASE;
use super::{Case, Kind, Net};

pub(super) const NET: &[Case] = &[
    echo("echo-64", "TCP echo, 64 connections", 1, 64, 1),
    echo("echo-1k", "TCP echo, 1,000 connections", 1, 1000, 1),
    echo(
        "echo-64-deep",
        "TCP echo, 64 connections, 16 requests in flight on each",
        1,
        64,
        16,
    ),
    echo("echo-64-2w", "TCP echo, 64 connections", 2, 64, 1),
    echo("echo-1k-2w", "TCP echo, 1,000 connections", 2, 1000, 1),
    calls("echo-64-calls", "system calls of echo, 64 connections", 64),
    calls(
        "echo-1k-calls",
        "system calls of echo, 1,000 connections",
        1000,
    ),
    http("http-64", "HTTP/1.1, 64 connections", 64),
    http("http-1k", "HTTP/1.1, 1,000 connections", 1000),
    Case {
        name: "idle",
        kind: Kind::Net(Net::Idle),
        title: "connections that wait, 100,000 or what the limit on descriptors allows",
        n: 100_000,
        stack: 64 << 10,
        rows: IDLE,
        ..SERVER
    },
];

/// One server for each repetition, which gives one sample.
const SERVER: Case = Case {
    warmups: 1,
    rounds: 1,
    ..BASE
};

/// The milliseconds of one run; arbitrary.
const TIME: u64 = 2000;

const fn echo(
    name: &'static str,
    title: &'static str,
    workers: usize,
    connections: usize,
    depth: usize,
) -> Case {
    Case {
        name,
        kind: Kind::Net(Net::Echo { connections, depth }),
        title,
        workers,
        n: TIME,
        rows: ECHO,
        ..SERVER
    }
}

const fn http(name: &'static str, title: &'static str, connections: usize) -> Case {
    Case {
        name,
        kind: Kind::Net(Net::Http { connections }),
        title,
        n: TIME,
        rows: HTTP,
        ..SERVER
    }
}

const fn calls(name: &'static str, title: &'static str, connections: usize) -> Case {
    Case {
        name,
        kind: Kind::Net(Net::Calls { connections }),
        title,
        n: 5_000,
        warmups: 0,
        rows: CALLS,
        ..SERVER
    }
}
