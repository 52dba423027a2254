//! One line of results: a series of numbers that a case produces, its unit and its limits.

use super::Bound;

/// The unit of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds for one operation.
    Ns,
    /// Microseconds from a beginning to its end.
    Us,
    /// Milliseconds for the whole work.
    Ms,
    /// Bytes for one fiber.
    Bytes,
    /// Mebibytes for the whole process.
    MiB,
    /// Millions of operations in a second.
    MopsPerS,
    /// Megabytes of input in a second.
    MbPerS,
    /// Percent of the input.
    Percent,
    /// Requests in a second.
    PerS,
    /// System calls of a request.
    Calls,
    /// A speed-up.
    Times,
    /// A multiple of the ideal time.
    Ideal,
    /// A number of items.
    Count,
}

impl Unit {
    /// Returns the unit as printed.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Ns => "ns",
            Unit::Us => "µs",
            Unit::Ms => "ms",
            Unit::Bytes => "B",
            Unit::MiB => "MiB",
            Unit::MopsPerS => "M/s",
            Unit::MbPerS => "MB/s",
            Unit::Percent => "%",
            Unit::PerS => "/s",
            Unit::Calls => "calls",
            Unit::Times => "×",
            Unit::Ideal => "× ideal",
            Unit::Count => "",
        }
    }

    /// Returns true if a larger number is better.
    pub fn more_is_better(self) -> bool {
        matches!(
            self,
            Unit::MopsPerS | Unit::MbPerS | Unit::PerS | Unit::Times | Unit::Count
        )
    }
}

/// One row of the report.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The name that a child prints before each sample of this row.
    pub series: &'static str,
    /// What a reader sees.
    pub title: &'static str,
    /// The unit.
    pub unit: Unit,
    /// The limits of pirn.
    pub bounds: &'static [Bound],
    /// The figures of peers on another machine of this kind. If a run is far away from these, the
    /// case probably measures something else.
    pub region: &'static [(&'static str, f64)],
}
