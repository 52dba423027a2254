//! The rows of tails: multiples of the ideal time, and distributions of delays.

use super::{Bound, Row, Stat, Unit};

/// The peers with which pirn is compared.
const RIVALS: &[&str] = &["go", "tokio", "tokio-sb", "may", "threads"];

const fn row(
    series: &'static str,
    title: &'static str,
    unit: Unit,
    bounds: &'static [Bound],
) -> Row {
    Row {
        series,
        title,
        unit,
        bounds,
        region: &[],
    }
}

const fn whole(series: &'static str, title: &'static str) -> Row {
    row(series, title, Unit::Ideal, &[Bound::BestOf(RIVALS, 1.1)])
}

pub(super) const PROGRAM: &[Row] = &[whole(
    "ideal",
    "the whole time, as a multiple of the work divided by the workers",
)];

pub(super) const BLOCKERS: &[Row] = &[
    whole("first", "the first burst, as a multiple of 305 ms"),
    whole("second", "the second burst, as a multiple of 305 ms"),
];

/// Times of requests in one run; each repetition gives one sample.
const fn times(four: [&'static str; 4], titles: [&'static str; 4]) -> [Row; 4] {
    let [p50, p99, p999, max] = four;
    [
        row(p50, titles[0], Unit::Us, &[]),
        row(p99, titles[1], Unit::Us, &[Bound::BestOf(RIVALS, 1.1)]),
        row(p999, titles[2], Unit::Us, &[]),
        row(max, titles[3], Unit::Us, &[]),
    ]
}

const ANSWER: [&str; 4] = [
    "from asking to the answer, p50 of a run",
    "the same, p99 of a run",
    "the same, p99.9 of a run",
    "the same, the longest of a run",
];

pub(super) const WORK: &[Row] = &{
    let [p50, p99, p999, max] = times(["p50", "p99", "p999", "max"], ANSWER);
    [PROGRAM[0], p50, p99, p999, max]
};

pub(super) const OPEN: &[Row] = &{
    let [a, b, c, d] = times(
        ["p50-30", "p99-30", "p999-30", "max-30"],
        [
            "at 30 % of that rate, from when it should be asked to the answer, p50 of a run",
            "at 30 %, p99 of a run",
            "at 30 %, p99.9 of a run",
            "at 30 %, the longest of a run",
        ],
    );
    let [e, f, g, h] = times(
        ["p50-60", "p99-60", "p999-60", "max-60"],
        [
            "at 60 %, p50 of a run",
            "at 60 %, p99 of a run",
            "at 60 %, p99.9 of a run",
            "at 60 %, the longest of a run",
        ],
    );
    let [i, j, k, l] = times(
        ["p50-90", "p99-90", "p999-90", "max-90"],
        [
            "at 90 %, p50 of a run",
            "at 90 %, p99 of a run",
            "at 90 %, p99.9 of a run",
            "at 90 %, the longest of a run",
        ],
    );
    let rate = row(
        "rate",
        "the highest rate, in a closed loop",
        Unit::PerS,
        &[],
    );
    let lag = row(
        "lag-p99-90",
        "at 90 %, by how much the load asked too late, p99 of a run",
        Unit::Us,
        &[],
    );
    [rate, a, b, c, d, e, f, g, h, i, j, k, l, lag]
};

pub(super) const MIXED: &[Row] = &{
    let [a, b, c, d] = times(
        ["cheap-p50", "cheap-p99", "cheap-p999", "cheap-max"],
        [
            "cheap requests, from when they should be asked to the answer, p50 of a run",
            "cheap requests, p99 of a run",
            "cheap requests, p99.9 of a run",
            "cheap requests, the longest of a run",
        ],
    );
    let [e, f, g, h] = times(
        ["p50", "p99", "p999", "max"],
        [
            "all requests, p50 of a run",
            "all requests, p99 of a run",
            "all requests, p99.9 of a run",
            "all requests, the longest of a run",
        ],
    );
    [a, b, c, d, e, f, g, h]
};

pub(super) const LATE: &[Row] = &[row(
    "late",
    "by how much a sleep of 1 ms was too long; the last one is cut off at the end",
    Unit::Us,
    &[Bound::Fixed(Stat::P99, 5_000.0)],
)];

pub(super) const FRESH: &[Row] = &[
    row(
        "first",
        "from spawn to start, the first fiber of a process",
        Unit::Us,
        &[],
    ),
    row(
        "later",
        "from spawn to start, all later ones",
        Unit::Us,
        &[Bound::Fixed(Stat::P99, 5_000.0)],
    ),
];

pub(super) const MESSAGE: &[Row] = &[row(
    "delay",
    "from the send on a plain thread to the receiving fiber",
    Unit::Us,
    &[],
)];
