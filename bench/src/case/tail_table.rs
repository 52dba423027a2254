//! The list of cases of tails: programs in which tasks settle before the work comes, servers,
//! and waits beside tasks that hold a worker.

use super::table::BASE;
use super::tail_rows::{BLOCKERS, FRESH, LATE, MESSAGE, MIXED, OPEN, PROGRAM, WORK};
use super::{Case, Hog, Kind, Net, Order, Row, Tail};

pub(super) const TAIL: &[Case] = &[
    pool("tail-pool-4", "4 fibers wait for 500 jobs of 2 ms", 4),
    pool("tail-pool-16", "16 fibers wait for 500 jobs of 2 ms", 16),
    pool("tail-pool-64", "64 fibers wait for 500 jobs of 2 ms", 64),
    server(
        "tail-server-64",
        "64 connections, opened while the server is idle, then 16 requests of 2 ms on each",
        Net::Work {
            connections: 64,
            micros: 2_000,
        },
        1_024,
        WORK,
    ),
    server(
        "tail-server-1k",
        "1,000 connections, opened while the server is idle, then one request of 1 ms on each",
        Net::Work {
            connections: 1_000,
            micros: 1_000,
        },
        1_000,
        WORK,
    ),
    tail(
        "tail-sleepers",
        "200 fibers sleep 5 ms, then compute 10 ms each",
        (Tail::Sleepers, 200),
        PROGRAM,
    ),
    tail(
        "tail-blockers",
        "20 fibers sleep 5 ms, then block their threads for 300 ms",
        (Tail::Blockers, 20),
        BLOCKERS,
    ),
    tail(
        "tail-ring",
        "eight actors in a ring compute 1 ms for each of 800 messages",
        (Tail::Ring, 800),
        PROGRAM,
    ),
    tail(
        "tail-stages",
        "three stages compute 1 ms for each of 300 items",
        (Tail::Stages, 300),
        PROGRAM,
    ),
    late(
        "tail-late-computes-1-first",
        1,
        Hog::Computes,
        Order::HogsFirst,
    ),
    late(
        "tail-late-computes-2-first",
        2,
        Hog::Computes,
        Order::HogsFirst,
    ),
    late(
        "tail-late-computes-4-first",
        4,
        Hog::Computes,
        Order::HogsFirst,
    ),
    late(
        "tail-late-computes-64-first",
        64,
        Hog::Computes,
        Order::HogsFirst,
    ),
    late(
        "tail-late-computes-1-last",
        1,
        Hog::Computes,
        Order::HogsLast,
    ),
    late(
        "tail-late-computes-2-last",
        2,
        Hog::Computes,
        Order::HogsLast,
    ),
    late(
        "tail-late-computes-4-last",
        4,
        Hog::Computes,
        Order::HogsLast,
    ),
    late(
        "tail-late-computes-64-last",
        64,
        Hog::Computes,
        Order::HogsLast,
    ),
    late("tail-late-blocks-1-first", 1, Hog::Blocks, Order::HogsFirst),
    late("tail-late-blocks-2-first", 2, Hog::Blocks, Order::HogsFirst),
    late("tail-late-blocks-4-first", 4, Hog::Blocks, Order::HogsFirst),
    late(
        "tail-late-blocks-64-first",
        64,
        Hog::Blocks,
        Order::HogsFirst,
    ),
    late("tail-late-blocks-1-last", 1, Hog::Blocks, Order::HogsLast),
    late("tail-late-blocks-2-last", 2, Hog::Blocks, Order::HogsLast),
    late("tail-late-blocks-4-last", 4, Hog::Blocks, Order::HogsLast),
    late("tail-late-blocks-64-last", 64, Hog::Blocks, Order::HogsLast),
    late("tail-late-locks-1-first", 1, Hog::Locks, Order::HogsFirst),
    late("tail-late-locks-2-first", 2, Hog::Locks, Order::HogsFirst),
    late("tail-late-locks-4-first", 4, Hog::Locks, Order::HogsFirst),
    late("tail-late-locks-64-first", 64, Hog::Locks, Order::HogsFirst),
    late("tail-late-locks-1-last", 1, Hog::Locks, Order::HogsLast),
    late("tail-late-locks-2-last", 2, Hog::Locks, Order::HogsLast),
    late("tail-late-locks-4-last", 4, Hog::Locks, Order::HogsLast),
    late("tail-late-locks-64-last", 64, Hog::Locks, Order::HogsLast),
    tail(
        "tail-fresh",
        "a fresh fiber beside as many computing fibers as workers",
        (Tail::Fresh, 20),
        FRESH,
    ),
    tail(
        "tail-message-0",
        "a message from a plain thread to a fiber of an idle runtime",
        (Tail::Message(0), 1000),
        MESSAGE,
    ),
    tail(
        "tail-message-1",
        "a message from a plain thread to a fiber beside one that computes 100 µs at a time",
        (Tail::Message(1), 1000),
        MESSAGE,
    ),
    tail(
        "tail-message-2",
        "a message from a plain thread to a fiber beside two that compute 100 µs at a time",
        (Tail::Message(2), 1000),
        MESSAGE,
    ),
    open(
        "tail-echo",
        "TCP echo in an open loop, 64 connections",
        1,
        false,
    ),
    open(
        "tail-http",
        "HTTP/1.1 in an open loop, 64 connections",
        1,
        true,
    ),
    open(
        "tail-echo-2w",
        "TCP echo in an open loop, 64 connections, the load on the same processors",
        2,
        false,
    ),
    open(
        "tail-http-2w",
        "HTTP/1.1 in an open loop, 64 connections, the load on the same processors",
        2,
        true,
    ),
    server(
        "tail-mixed",
        "10,000 connections, 1 % of which cost 20 ms for each request, 5,000 requests a second",
        Net::Mixed {
            connections: 10_000,
        },
        20_000,
        MIXED,
    ),
];

/// A child runs its work once, on two workers.
const ONCE: Case = Case {
    workers: 2,
    warmups: 0,
    rounds: 1,
    ..BASE
};

const fn tail(
    name: &'static str,
    title: &'static str,
    (work, n): (Tail, u64),
    rows: &'static [Row],
) -> Case {
    Case {
        name,
        kind: Kind::Tail(work),
        title,
        n,
        rows,
        ..ONCE
    }
}

const fn pool(name: &'static str, title: &'static str, fibers: u64) -> Case {
    tail(name, title, (Tail::Pool(fibers), 500), PROGRAM)
}

/// The number of hogs and when they are spawned are in the name.
const fn late(name: &'static str, hogs: u64, hog: Hog, order: Order) -> Case {
    let title = match hog {
        Hog::Computes => "a sleeper beside fibers that compute 500 ms at a time",
        Hog::Blocks => {
            "a sleeper beside fibers that block in the kernel 500 ms at a time"
        }
        Hog::Locks => "a sleeper beside fibers that compute under one lock of std",
    };
    tail(name, title, (Tail::Late { hogs, hog, order }, 1000), LATE)
}

const fn open(
    name: &'static str,
    title: &'static str,
    workers: usize,
    http: bool,
) -> Case {
    let net = Net::Open {
        connections: 64,
        http,
    };
    Case {
        workers,
        ..server(name, title, net, OPEN_TIME, OPEN)
    }
}

/// Milliseconds of each loop; arbitrary.
const OPEN_TIME: u64 = 1_500;

const fn server(
    name: &'static str,
    title: &'static str,
    net: Net,
    n: u64,
    rows: &'static [Row],
) -> Case {
    Case {
        name,
        kind: Kind::Net(net),
        title,
        n,
        warmups: 1,
        rows,
        ..ONCE
    }
}
