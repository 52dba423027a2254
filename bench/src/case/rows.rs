//! The rows of all cases: series, units, limits, and the regions of earlier figures.

use super::{Bound, Row, Stat, Unit};

pub(super) const YIELD: &[Row] = &[Row {
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

pub(super) const SPAWN_JOIN: &[Row] = &[Row {
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

pub(super) const SPAWN_JOIN_YIELD: &[Row] = &[Row {
    series: "op",
    title: "one spawn, yield and join",
    unit: Unit::Ns,
    bounds: &[Bound::Peer("tokio", 0.35)],
    region: &[],
}];

pub(super) const SPAWN_MANY: &[Row] = &[
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

pub(super) const SKYNET: &[Row] = &[Row {
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

pub(super) const PARKED_WIDE: &[Row] = &[Row {
    series: "bytes",
    title: "resident memory and page tables of one parked fiber, 256 KiB stacks",
    unit: Unit::Bytes,
    bounds: &[Bound::Fixed(Stat::Median, PAGE + 1024.0)],
    region: &[("go", 2_800.0), ("may", 8_700.0), ("boost", 9_500.0)],
}];

pub(super) const PARKED_SMALL: &[Row] = &[Row {
    series: "bytes",
    title: "resident memory and page tables of one parked fiber, 64 KiB stacks",
    unit: Unit::Bytes,
    bounds: &[Bound::Fixed(Stat::Median, PAGE + 512.0)],
    region: &[],
}];

pub(super) const BUSY_CHILD: &[Row] = &[Row {
    series: "latency",
    title: "from spawn to start, capped at 10 ms",
    unit: Unit::Ns,
    bounds: &[Bound::Fixed(Stat::P99, 1e6)],
    region: &[("tokio", 1e7)],
}];

pub(super) const STEAL: &[Row] = &[Row {
    series: "latency",
    title: "from push to the end of the theft",
    unit: Unit::Ns,
    bounds: &[Bound::Fixed(Stat::Median, 1000.0)],
    region: &[],
}];

pub(super) const HAND_OVER: &[Row] = &[Row {
    series: "latency",
    title: "from push to start on another worker",
    unit: Unit::Ns,
    bounds: &[Bound::Fixed(Stat::Median, 2000.0)],
    region: &[],
}];

pub(super) const WAKE: &[Row] = &[Row {
    series: "latency",
    title: "from spawn to start on a sleeping worker",
    unit: Unit::Ns,
    bounds: &[Bound::Floor("futex wake", 1.2)],
    region: &[],
}];

pub(super) const THROUGHPUT: &[Row] = &[Row {
    series: "rate",
    title: "fibers spawned and run",
    unit: Unit::MopsPerS,
    bounds: &[Bound::Fixed(Stat::Median, 10.0)],
    region: &[],
}];

pub(super) const PGZ: &[Row] = &[
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

pub(super) const GUNZIP_PLAIN: &[Row] = &[Row {
    series: "rate",
    title: "output inflated",
    unit: Unit::MbPerS,
    bounds: &[Bound::Peer("pigz", 1.0)],
    region: &[],
}];

pub(super) const GUNZIP_INDEXED: &[Row] = &[Row {
    series: "rate",
    title: "output inflated",
    unit: Unit::MbPerS,
    bounds: &[Bound::Peer("serial", 1.8)],
    region: &[],
}];
