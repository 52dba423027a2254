//! One line of results: a series of numbers that a case produces, its unit and its limits.

use super::Bound;

/// What a series counts.
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
    /// How many times as fast.
    Times,
    /// How many times as long as in the ideal.
    Ideal,
    /// A number of things.
    Count,
}

impl Unit {
    /// The unit as printed.
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

    /// Whether a larger number is the better one.
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
    /// What the numbers count.
    pub unit: Unit,
    /// What pirn must keep.
    pub bounds: &'static [Bound],
    /// What each peer did on another machine of this kind: far away from these, the case
    /// probably measures something else.
    pub region: &'static [(&'static str, f64)],
}
