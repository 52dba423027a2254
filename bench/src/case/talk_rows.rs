//! The rows of the cases in which fibers wait for one another or for the clock.

use super::{Bound, Row, Stat, Unit};

const TRIP: Row = Row {
    series: "op",
    title: "one round trip",
    unit: Unit::Ns,
    bounds: &[],
    region: &[],
};

pub(super) const PING_PONG: &[Row] = &[Row {
    bounds: &[Bound::Peer("go", 0.3)],
    region: &[
        ("boost", 269.0),
        ("tokio", 272.0),
        ("go", 350.0),
        ("may", 402.0),
    ],
    ..TRIP
}];

pub(super) const PING_PONG_TWO: &[Row] = &[Row {
    bounds: &[Bound::Best(&[], 1.0)],
    region: &[("boost", 335.0), ("go", 355.0), ("tokio", 464.0)],
    ..TRIP
}];

pub(super) const PING_PONG_APART: &[Row] = &[Row {
    bounds: &[Bound::Fixed(Stat::Median, 1500.0)],
    ..TRIP
}];

pub(super) const PING_PONG_THREADS: &[Row] = &[Row {
    bounds: &[Bound::Peer("crossbeam", 1.1)],
    ..TRIP
}];

const MESSAGE: Row = Row {
    series: "op",
    title: "one message",
    unit: Unit::Ns,
    bounds: &[],
    region: &[],
};

pub(super) const CHANNEL: &[Row] = &[Row {
    bounds: &[
        Bound::BestOf(&["go", "crossbeam", "tokio", "kanal", "flume"], 0.7),
        Bound::Peer("boost", 1.1),
    ],
    region: &[
        ("boost", 22.0),
        ("go", 45.0),
        ("crossbeam", 70.0),
        ("tokio", 110.0),
    ],
    ..MESSAGE
}];

pub(super) const CHANNEL_TWO: &[Row] = &[MESSAGE];

pub(super) const CHANNEL_THREADS: &[Row] = &[Row {
    bounds: &[Bound::Peer("crossbeam", 1.1)],
    ..MESSAGE
}];

const CHOICE: Row = Row {
    series: "op",
    title: "one select that receives",
    unit: Unit::Ns,
    bounds: &[Bound::Best(&[], 0.5)],
    region: &[],
};

pub(super) const SELECT_TWO: &[Row] = &[Row {
    region: &[("go", 68.0), ("tokio", 82.0)],
    ..CHOICE
}];

pub(super) const SELECT_EIGHT: &[Row] = &[Row {
    region: &[("go", 278.0), ("tokio", 88.0)],
    ..CHOICE
}];

const LOCK: Row = Row {
    series: "op",
    title: "one lock and unlock",
    unit: Unit::Ns,
    bounds: &[],
    region: &[],
};

pub(super) const CROWD: &[Row] = &[Row {
    bounds: &[Bound::Best(&["threads"], 1.3)],
    region: &[("go", 17.0), ("boost", 26.0), ("tokio", 134.0)],
    ..LOCK
}];

pub(super) const CROWD_TWO: &[Row] = &[LOCK];

pub(super) const TIMER: &[Row] = &[
    Row {
        series: "op",
        title: "arm and disarm",
        unit: Unit::Ns,
        bounds: &[Bound::Fixed(Stat::Median, 60.0)],
        region: &[("tokio", 143.0), ("smol", 134.0), ("go", 251.0)],
    },
    Row {
        series: "wait",
        title: "a wait that another fiber ends, without a deadline",
        unit: Unit::Ns,
        bounds: &[],
        region: &[],
    },
    Row {
        series: "timed",
        title: "the same wait with a deadline",
        unit: Unit::Ns,
        bounds: &[],
        region: &[],
    },
];

pub(super) const SLEEPERS: &[Row] = &[
    Row {
        series: "late-p99",
        title: "from the deadline to the fiber's next step, p99 of all fibers",
        unit: Unit::Ns,
        bounds: &[Bound::Fixed(Stat::Median, 2e6)],
        region: &[],
    },
    Row {
        series: "late-p50",
        title: "the same, the middle of all fibers",
        unit: Unit::Ns,
        bounds: &[],
        region: &[],
    },
    Row {
        series: "cpu",
        title: "processor time of the process, user and system, from its start to its end",
        unit: Unit::Ms,
        bounds: &[Bound::Peer("tokio", 0.5)],
        region: &[],
    },
    Row {
        series: "cpu-wakes",
        title: "of it after all had begun to sleep",
        unit: Unit::Ms,
        bounds: &[],
        region: &[],
    },
];
