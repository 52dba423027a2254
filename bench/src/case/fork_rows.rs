//! The rows of fork-join. `pirn` is the free `join`, `pirn-scope` the one that passes a scope.

use super::{Bound, Row, Stat, Unit};

/// All peers with the same work; plain calls one after the other are the best for some.
const RIVALS: &[&str] = &["rayon", "chili", "serial"];

const LIBRARIES: &[&str] = &["rayon", "chili"];

/// 0.97 of the best speed, as a time.
const SLOWER: f64 = 1.03;

const NO_SLOWER: &[Bound] = &[
    Bound::BestOf(RIVALS, SLOWER),
    Bound::For("pirn-scope", &Bound::BestOf(RIVALS, SLOWER)),
];

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

pub(super) const FIB: &[Row] = &[Row {
    region: &[("serial", 2.6), ("chili", 3.8), ("rayon", 12.7)],
    ..row(
        "op",
        "one join",
        Unit::Ns,
        &[
            Bound::Peer("chili", 1.25),
            Bound::Peer("rayon", 0.4),
            Bound::For("pirn-scope", &Bound::Peer("chili", 1.0)),
            Bound::For("pirn-scope", &Bound::Peer("rayon", 0.4)),
        ],
    )
}];

/// Rows in which plain calls are no peer but the floor: work divided on one worker without a
/// cut-off, and processor time.
const NO_SLOWER_THAN_LIBRARIES: &[Bound] = &[
    Bound::BestOf(LIBRARIES, SLOWER),
    Bound::For("pirn-scope", &Bound::BestOf(LIBRARIES, SLOWER)),
];

const TOTAL: Row = row("total", "the whole work", Unit::Ms, NO_SLOWER);

const SPEED_UP: Row = row(
    "speed-up",
    "as fast as one worker of the same library, in turn with it",
    Unit::Times,
    &[],
);

pub(super) const FIB_TWO: &[Row] =
    &[row("op", "one join", Unit::Ns, NO_SLOWER), SPEED_UP];

pub(super) const TREE: &[Row] = &[row(
    "total",
    "the whole work",
    Unit::Ms,
    NO_SLOWER_THAN_LIBRARIES,
)];

pub(super) const TREE_TWO: &[Row] = &[TOTAL, SPEED_UP];

pub(super) const COARSE: &[Row] = &[TOTAL];

pub(super) const COARSE_TWO: &[Row] = &[
    TOTAL,
    Row {
        bounds: &[
            Bound::Fixed(Stat::Median, 1.8),
            Bound::For("pirn-scope", &Bound::Fixed(Stat::Median, 1.8)),
        ],
        ..SPEED_UP
    },
];

/// These depend on more than the processors: the data comes from memory.
pub(super) const SUM_TWO: &[Row] = &[TOTAL, SPEED_UP];

pub(super) const FRAMES: &[Row] = &[
    row(
        "frame",
        "one frame, right after another",
        Unit::Us,
        NO_SLOWER,
    ),
    row(
        "frame-cpu",
        "processor time of all threads for one frame",
        Unit::Us,
        NO_SLOWER_THAN_LIBRARIES,
    ),
    row(
        "apart",
        "one frame, after its main thread has computed alone for 300 µs",
        Unit::Us,
        NO_SLOWER,
    ),
    row(
        "apart-cpu",
        "processor time of all threads for such a frame, those 300 µs left out",
        Unit::Us,
        NO_SLOWER_THAN_LIBRARIES,
    ),
];

pub(super) const LATE: &[Row] = &[row(
    "late",
    "by how much a sleep of one millisecond was too long; with libraries that know no sleep, a plain thread's",
    Unit::Ms,
    &[
        Bound::Fixed(Stat::P99, 5.0),
        Bound::For("pirn-scope", &Bound::Fixed(Stat::P99, 5.0)),
    ],
)];
