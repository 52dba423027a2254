//! The list of cases in which fibers wait for one another or for the clock.

use super::table::BASE;
use super::talk_rows::{
    CHANNEL, CHANNEL_THREADS, CHANNEL_TWO, CROWD, CROWD_TWO, PING_PONG, PING_PONG_APART,
    PING_PONG_THREADS, PING_PONG_TWO, SELECT_EIGHT, SELECT_TWO, SLEEPERS, TIMER,
};
use super::{Case, Kind, Place, Row, Shape, Talk};

pub(super) const TALK: &[Case] = &[
    ping_pong(
        "ping-pong",
        "rendezvous ping-pong, one worker",
        (1, Place::Anywhere),
        PING_PONG,
    ),
    ping_pong(
        "ping-pong-2w",
        "rendezvous ping-pong, two workers, unforced",
        (2, Place::Anywhere),
        PING_PONG_TWO,
    ),
    ping_pong(
        "ping-pong-apart",
        "rendezvous ping-pong, begun on two workers at once",
        (2, Place::Apart),
        PING_PONG_APART,
    ),
    channel(
        "chan-spsc",
        "buffered channel, one to one, one worker",
        (1, 1, 1),
        CHANNEL,
    ),
    channel(
        "chan-mpsc",
        "buffered channel, four to one, one worker",
        (1, 4, 1),
        CHANNEL,
    ),
    channel(
        "chan-mpmc",
        "buffered channel, four to four, one worker",
        (1, 4, 4),
        CHANNEL,
    ),
    channel(
        "chan-spsc-2w",
        "buffered channel, one to one, two workers",
        (2, 1, 1),
        CHANNEL_TWO,
    ),
    channel(
        "chan-mpsc-2w",
        "buffered channel, four to one, two workers",
        (2, 4, 1),
        CHANNEL_TWO,
    ),
    channel(
        "chan-mpmc-2w",
        "buffered channel, four to four, two workers",
        (2, 4, 4),
        CHANNEL_TWO,
    ),
    threads(
        "threads-spsc-1",
        "plain threads, one to one, capacity 1",
        (1, 1, Some(1)),
    ),
    threads(
        "threads-spsc-100",
        "plain threads, one to one, capacity 100",
        (1, 1, Some(100)),
    ),
    threads(
        "threads-spsc-1000",
        "plain threads, one to one, capacity 1,000",
        (1, 1, Some(1000)),
    ),
    threads(
        "threads-mpsc-1000",
        "plain threads, four to one, capacity 1,000",
        (4, 1, Some(1000)),
    ),
    threads(
        "threads-mpmc-1",
        "plain threads, four to four, capacity 1",
        (4, 4, Some(1)),
    ),
    threads(
        "threads-mpmc-1000",
        "plain threads, four to four, capacity 1,000",
        (4, 4, Some(1000)),
    ),
    threads(
        "threads-unbounded",
        "plain threads, one to one, unbounded",
        (1, 1, None),
    ),
    threads(
        "threads-rendezvous",
        "plain threads, one to one, rendezvous",
        (1, 1, Some(0)),
    ),
    Case {
        name: "threads-ping-pong",
        kind: Kind::Talk(Talk::PingPong(Place::Threads)),
        title: "plain threads, rendezvous ping-pong",
        workers: 2,
        n: 20_000,
        rows: PING_PONG_THREADS,
        ..BASE
    },
    Case {
        name: "select-2",
        kind: Kind::Talk(Talk::Select(2)),
        title: "select over two channels that have values",
        n: 20_000,
        rows: SELECT_TWO,
        ..BASE
    },
    Case {
        name: "select-8",
        kind: Kind::Talk(Talk::Select(8)),
        title: "select over eight channels that have values",
        n: 20_000,
        rows: SELECT_EIGHT,
        ..BASE
    },
    crowd(
        "crowd-mutex",
        "1,000 fibers on one mutex, one worker",
        1,
        CROWD,
    ),
    crowd(
        "crowd-mutex-2w",
        "1,000 fibers on one mutex, two workers",
        2,
        CROWD_TWO,
    ),
    Case {
        name: "timer",
        kind: Kind::Talk(Talk::Timer),
        title: "a timer armed and disarmed",
        rows: TIMER,
        ..BASE
    },
    Case {
        name: "sleepers-1m",
        kind: Kind::Talk(Talk::Sleepers),
        title: "1,000,000 sleepers, deadlines spread over ten seconds",
        workers: 2,
        n: 1_000_000,
        warmups: 0,
        rounds: 1,
        stack: 64 << 10,
        rows: SLEEPERS,
    },
];

/// The buffer of the cases on fibers. A power of two, which Boost.Fiber requires.
const BUFFER: usize = 128;

const fn ping_pong(
    name: &'static str,
    title: &'static str,
    (workers, place): (usize, Place),
    rows: &'static [Row],
) -> Case {
    Case {
        name,
        kind: Kind::Talk(Talk::PingPong(place)),
        title,
        workers,
        rows,
        ..BASE
    }
}

const fn channel(
    name: &'static str,
    title: &'static str,
    (workers, senders, receivers): (usize, u64, u64),
    rows: &'static [Row],
) -> Case {
    let shape = Shape {
        senders,
        receivers,
        capacity: Some(BUFFER),
        threads: false,
    };
    Case {
        name,
        kind: Kind::Talk(Talk::Messages(shape)),
        title,
        workers,
        n: 400_000,
        rows,
        ..BASE
    }
}

const fn threads(
    name: &'static str,
    title: &'static str,
    (senders, receivers, capacity): (u64, u64, Option<usize>),
) -> Case {
    let shape = Shape {
        senders,
        receivers,
        capacity,
        threads: true,
    };
    Case {
        name,
        kind: Kind::Talk(Talk::Messages(shape)),
        title,
        workers: 2,
        n: match capacity {
            Some(0 | 1) => 40_000,
            _ => 400_000,
        },
        rows: CHANNEL_THREADS,
        ..BASE
    }
}

const fn crowd(
    name: &'static str,
    title: &'static str,
    workers: usize,
    rows: &'static [Row],
) -> Case {
    Case {
        name,
        kind: Kind::Talk(Talk::Crowd(1000)),
        title,
        workers,
        n: 1_000_000,
        rows,
        ..BASE
    }
}
